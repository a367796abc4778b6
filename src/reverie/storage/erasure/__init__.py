"""Somebody's words taken out of every row and file."""
