"""Nights, their leases and what they spent, in rows."""
