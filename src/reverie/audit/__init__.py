"""What an agent believes and obeys, looked at: how much of it is junk, doubled, contradictory, stale, unsafe.

In: what stands in targets and in skill folders, and what this machine knows (which paths exist, what day it is).
Out: findings, each with its place, the words, one sentence why and what could be done; a grade per home; a page.
It never writes: no file, no row, no lock. It accuses only where it is sure; what it does not say is not praise.
"""
