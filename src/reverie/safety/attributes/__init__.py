"""How people speak of what is private, one file per language: data, not code.

`words` are named fragments of regular expressions; `{name}` puts one into a pattern of the same file, a space is any
white space, and `~2` is up to two words that do not begin another thought. `kinds` maps a kind of attribute to
patterns, one per line. `not` names what makes a sentence be about a subject instead of a person. `remember` is how one
asks for something to be kept, `recall` how one only speaks of remembering. `near` is a looser net, where a language has
one: words that need only stand in one sentence with `someone`, and with nothing of `subject`.
"""
