"""A question in, ranked turns out."""
