"""Changes, proposals and the ledger in rows."""
