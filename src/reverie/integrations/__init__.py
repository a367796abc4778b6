"""Reverie inside other programs. What comes in: the program's own events and commands. What goes out: calls of
`reverie`. It never writes memory itself."""
