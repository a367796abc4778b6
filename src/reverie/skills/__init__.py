"""What can be done: Skills, the Amendments that would change them, and which of them a task calls for.

In: the bytes of a skill's files and an intended change, or a task. Out: the bytes the files would become or why not,
or the skills that match and the reason. It never writes a file, never runs what a skill holds, never decides whether
a change is allowed, and never touches a byte it was not asked to.
"""
