"""One night: what is new is brought in, read, thought over, weighed, and put to review; then told in a diary.

In: the rooms of a Home. Out: a Dream. It alone knows the order of the phases, and it never writes memory itself: what
changes memory goes through review, what it remembers of the night through its records.
"""
