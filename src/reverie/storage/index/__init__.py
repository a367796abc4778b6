"""Words and vectors of every turn."""
