"""What is allowed: Proposals, the Policy, Verdicts; landing, the one path by which memory and skills are written.

In: an intended change and its grounds. Out: a Change that landed, a Proposal that waits, or why not.
It never invents a change, and nothing is approved by silence.
"""
