"""Made-up lives for the soak: what people tell their agent over two months, and what should be known of it at the end.

`life.py` reads the TOML files here, `living.py` makes sessions of them by a seed, `reckoning.py` says of what stands in
memory afterwards whether it was planted, out of date, somebody else's wish, or nobody's. The sentences were written
without looking at the cues of the built-in reader.
"""
