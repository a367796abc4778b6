"""Git, by its command line."""
