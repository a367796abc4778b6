"""Changes to memory stores: written by a caller, by a dream, or all at once."""
