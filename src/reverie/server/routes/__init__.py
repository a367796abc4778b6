"""One module for each group of resources of the wire."""
