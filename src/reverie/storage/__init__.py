"""Rows, the search index, backups and the durable queue: what is kept, and in what."""
