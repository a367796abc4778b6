"""A memory store as the target of a night, asked for over the API: the same steps, and nobody to ask.

In: a store, sessions and instructions. Out: a new store, or the same one rewritten, and an account of every change.
What a person would have to decide is withheld and listed; it never lands. The input is never modified, unless that is
what was asked for.
"""
