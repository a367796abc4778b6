"""What an agent would do otherwise, given one copy of a memory store (`snapshot`) instead of another.

In: two copies. Out: differences in behaviour (`diff`). Each copy is taken apart into `statements`, which are put beside
each other (`align`) and weighed (`rewording`). Asks no model and writes nothing.
"""
