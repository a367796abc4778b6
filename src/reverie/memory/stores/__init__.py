"""Memory stores: memories at paths, with a version for every change."""
