"""Which of two memories works better: each session or person gets one of them, and what comes of it is counted.

In come units (a session, a person) and their outcomes; out go an arm for each unit, the same every time, and a verdict
that may be looked at as often as one likes. It never says that one is better before the stated error rate allows it.
"""
