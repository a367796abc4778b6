"""How texts relate: words, likeness, and what one statement does to another.

In: texts. Out: tokens, vectors, similarities, relations. It never writes and never asks a model service.
"""
