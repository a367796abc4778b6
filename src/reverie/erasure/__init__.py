"""Erasure: a text, a session, a person, a project or a workspace goes, from everywhere Reverie keeps anything.

In comes what is to go; out goes a list of every place that has it, and then a report that none has it any more. The
plan is a row before the first byte is touched, and every step can be done again: who is killed goes on from there. What
stays is a keyed hash that keeps it from being imported again, and a row in the ledger that says that something went.

It never touches what is not Reverie's: transcripts of a harness and copies it does not know of are listed or named, not
written, unless that is asked for.
"""
