"""What waits for a person, told so that it can be decided by reading."""
