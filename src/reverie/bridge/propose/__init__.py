"""From differences in behaviour to proposals.

In: the differences of `compare`, and what people said. Out: suggestions in the queue of `changes` (`amendments`), each
with a place (`route`, `learned_routes`, `new_skill`), the people behind it (`backing`) and words (`draft`, `curate`).
Nothing lands from here.
"""
