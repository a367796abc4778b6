"""Broader memories beside the files agents read: one module for each, behind the port of `reverie.memory.providers`."""
