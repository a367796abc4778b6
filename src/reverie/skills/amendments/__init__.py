"""How a skill changes: what is intended, and what it makes of the text."""
