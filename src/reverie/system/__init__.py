"""Files, locks, git, schedules: what the operating system gives.

In: calls on the ports of the packages below. Out: files that are complete-old or complete-new, commits, timers. It
never decides anything. Only `app`, `storage` and `harnesses` import from here.
"""
