"""What is worth it: Decisions -> scored Suggestions.

In: what Deep decided and how full the shelf is. Out: for each decision thirteen values in 0..1, each with the sentence
that explains it, a total in 0..1, whether it clears the gate of its kind, and the few that fit into one night.
It never writes and never takes a score from anyone: every number is computed from evidence.
"""
