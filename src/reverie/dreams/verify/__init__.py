"""Verification: what code asks of every item a curator returns, before anything of it may land.

In: an item and the Brief it answers. Out: findings, each with a Reason. It never changes an item and never writes.
"""
