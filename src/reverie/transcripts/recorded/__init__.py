"""Sessions that are told us over the API as they happen."""
