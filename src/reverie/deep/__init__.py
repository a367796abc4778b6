"""What it means: Candidates and what is known -> Matters, Themes, Relations, Decisions.

In: what was noticed, each with who said it and when, and every statement on every surface the agent reads.
Out: one Decision per matter with a reason a person can read, and the wording it would get.
It never writes, never scores, never reads a clock, and never lets the newest win for being new: a statement takes
another's place only if it is about the same thing, was said later than the other is old, and was said plainly.
"""
