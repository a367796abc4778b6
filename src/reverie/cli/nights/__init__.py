"""Commands around a night: what it reads, the night itself, and what it did."""
