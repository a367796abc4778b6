"""Memory stores in rows."""
