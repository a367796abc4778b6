"""What was when: Changes with their bytes before and after, the ledger that chains them, blame, and as-of.

In: Changes as `review` lands or notices them. Out: what a document said at any time, who let it in and on what
evidence. It never writes a file and never decides whether a change is allowed.
"""
