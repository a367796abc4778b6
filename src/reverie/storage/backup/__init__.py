"""The whole home in one file, and back."""
