"""What is known: Targets, their documents, the Entries in them, and the Operations that would change them.

In: the bytes of a memory document and an intended change. Out: the bytes it would become, or why not.
It never writes a file, never decides whether a change is allowed, and never touches a byte it was not asked to.
"""
