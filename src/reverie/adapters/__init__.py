"""The cellar: database, index, vectors, files. Each module is named for its technology and implements a room's port.

In: calls on those ports. Out: what the technology said. It never decides anything a room could decide.
Only `home.py` imports from here.
"""
