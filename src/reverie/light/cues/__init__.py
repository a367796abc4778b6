"""Which words bear which mark, one file per language: data, not code.

`marks` maps each mark to alternatives, one per line, of a regular expression that is matched against the
lower-cased own words of one sentence. `{name}` stands for a fragment of the same file.
"""
