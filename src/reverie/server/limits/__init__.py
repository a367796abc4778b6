"""How much a caller may send, and how often."""
