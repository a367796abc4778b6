"""One module for each resource of the wire."""
