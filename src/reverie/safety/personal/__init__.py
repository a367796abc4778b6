"""What names a person or is private to them."""
