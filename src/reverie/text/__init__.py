"""How texts relate: words, likeness, search, and what one statement does to another.

In: texts, questions, and the scores an index and an embedder give. Out: tokens, similarities, ranked turns with the
parts their score is made of, relations. It never writes, never asks a model service, and never returns a turn that
the index did not find within the caller's `Where`.
"""
