"""A text as a model would read it: decoded, folded, with what is hidden made visible."""
