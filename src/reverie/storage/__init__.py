"""Rows, the search index, backups and the durable queue: what is kept, and in what.

In: calls on the ports of the packages below. Out: what the database or the index said. It never decides anything that
they could decide. Only `app` imports from here.
"""
