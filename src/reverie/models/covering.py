"""What may leave the machine: a turn's own words, without its secrets, with stand-ins for people's identifiers.

A turn is covered whole before it is cut into sentences: half a secret would not be recognised as one.
"""

from __future__ import annotations

from reverie.safety.personal import Pseudonyms
from reverie.safety.redact import redact
from reverie.sessions.noise import heard
from reverie.sessions.session import Session, Turn

LONGEST_TURN = 12_000  # of a longer one the beginning and the end: the middle is pasted


class Veil:
    """Texts without their secrets, with stand-ins for identifiers; and the way back."""

    def __init__(self) -> None:
        self._pseudonyms = Pseudonyms()

    def hidden(self, text: str) -> str:
        return self._pseudonyms.replaced(redact(text).text)

    def restored(self, text: str) -> str:
        """The text with every stand-in turned back. One that we never gave out stays."""
        return self._pseudonyms.restored(text)


class Cover(Veil):
    """The covered words of a Session, and the way back. One for each Session: stand-ins mean nothing outside it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._covered: dict[int, str] = {}

    @property
    def session(self) -> Session:
        return self._session

    def words(self, number: int) -> str:
        """What may be shown of a turn; nothing of one that is noise."""
        if number not in self._covered:
            self._covered[number] = self._cover(self._session.turn(number))
        return self._covered[number]

    def _cover(self, turn: Turn) -> str:
        if turn.noise is not None:
            return ""
        whole = self.hidden(heard(turn.text))
        if len(whole) <= LONGEST_TURN:
            return whole
        return f"{whole[: LONGEST_TURN // 2]}\n{whole[-LONGEST_TURN // 2 :]}"
