"""What was noticed: Session -> Candidates.

In: one Session. Out: Candidates, each with a kind, a compact wording, a confidence and verbatim Evidence: what
the person prefers, asks for in general, corrects, decides, states about their world or reports as changed, what
recurs, and what the agent's own calls taught (what failed, what worked).
It never writes, never asks a model, never reads a clock, and never takes a tool's, a document's or a character's
words for the person's: noise, code, logs, quotations, role-play, hypotheticals, stories about others, one-off
tasks and passing states are left where they are.
"""
