"""The alphabet: Origin, Scope, ids, clock, hashes, errors.

In: nothing. Out: the small values every other room is written in.
It never reads a file, the environment or the clock of the machine except through `SystemClock`.
"""
