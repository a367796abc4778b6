"""A question in, ranked turns out.

In: questions, and the scores an index and an embedder give. Out: turns, with the parts their score is made of. It never
writes, and never returns a turn that the index did not find within the caller's `Where`.
"""
