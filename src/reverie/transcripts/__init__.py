"""What happened: Session, Turn, Evidence, and the readers that bring them in.

In: the transcripts agents leave behind, in the shapes their harnesses write. Out: Sessions of numbered Turns,
each with its Origin. It never changes a source, never guesses a time or a speaker, and never stores anything
itself: records and index are ports.
"""
