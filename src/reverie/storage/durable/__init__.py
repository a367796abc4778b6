"""Durable nights by DBOS."""
