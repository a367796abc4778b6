"""The agents people run, one folder or module each: their transcripts, their memory files, their noise.

In: files and databases as each agent leaves them. Out: what was said and what stands in memory, by the ports of
`transcripts` and `memory`. It never decides what is worth keeping. Found by entry points; only `app` imports it.
"""
