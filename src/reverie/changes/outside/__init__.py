"""What others wrote to the same files: recorded, and never lost."""
