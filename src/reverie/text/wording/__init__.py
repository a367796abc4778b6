"""The words, numbers and amounts of a text, so that two wordings of one thing can be told from two things."""
