"""Files of strangers, read within limits: JSON of any size, SQLite, names that are not text."""
