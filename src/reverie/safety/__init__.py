"""What may not pass.

In: any text, from anyone. Out: the same text without the secrets in it, and how many of which kind there were.
Never: raises on a text, reads a file, asks a network whether a key works, or keeps what it found.
"""

from reverie.safety.redact import Redacted, redact

__all__ = ["Redacted", "redact"]
