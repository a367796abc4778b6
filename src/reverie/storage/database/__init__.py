"""SQLAlchemy Core on SQLite (embedded) or Postgres (by URL): one schema, two dialects."""
