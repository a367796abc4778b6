"""Settings of other programs, changed in place.

In: the text of a JSON, TOML or YAML file, and what to put into it or take out of it. Out: the text with that change and
every other byte as it was. Never touches the disk.
"""
