"""What can go wrong, one class per situation a caller can act on.

    ReverieError                     exit 1, HTTP 500
    ├── BadInput                     exit 2, HTTP 400   the caller can fix it
    │   ├── NotATranscript                              no reader knows the file
    │   ├── NotVerbatim                                 a quotation that is not in the text
    │   └── BadSetting                                  a flag, variable or line of reverie.toml
    │       └── SwitchedOff                             dreaming, here or over one target
    ├── NotFound                     exit 2, HTTP 404
    ├── NotPermitted                 exit 2, HTTP 403   the file system said no
    ├── StillLocked                  exit 1, HTTP 503   someone else holds the lock and did not let go
    ├── NotReached                   exit 1, HTTP 502   another server gave no answer that can be used
    ├── EngineBusy                   exit 1, HTTP 503   this process dreams durably for another Home
    ├── HalfRestored                 exit 1, HTTP 503   a restore into this home was interrupted
    ├── NoSpace                      exit 1, HTTP 507   a disk, quota or limit is full; nothing was changed
    ├── DiskFailed                   exit 1, HTTP 500   the file system failed; nothing was changed
    │   └── NotSynced                                   changed, but a power cut may take it back
    ├── SchemaTooNew                 exit 3, HTTP 500   the database was written by a newer Reverie
    └── DatabaseUnusable             exit 3, HTTP 500   locked, damaged or out of reach

Every message says what was found, what was expected and what to do next.
"""

from __future__ import annotations

from typing import TypeVar

Found = TypeVar("Found")


class ReverieError(Exception):
    """Something Reverie can explain. `found`, `expected` and `next_step` make the message."""

    exit_code = 1
    http_status = 500

    def __init__(self, found: str, *, expected: str = "", next_step: str = "") -> None:
        super().__init__(found)
        self.found = found
        self.expected = expected
        self.next_step = next_step

    def __str__(self) -> str:
        parts = [self.found]
        if self.expected:
            parts.append(f"Expected {self.expected}.")
        if self.next_step:
            parts.append(self.next_step)
        return " ".join(parts)


class BadInput(ReverieError):
    exit_code = 2
    http_status = 400


class NotATranscript(BadInput):
    """No reader recognises this file or value."""


class NotVerbatim(BadInput):
    """A quotation that does not stand in the text it is said to come from."""


class BadSetting(BadInput):
    """A flag, an environment variable or a line of reverie.toml that cannot be used."""


class SwitchedOff(BadSetting):
    """The settings say that there is to be no dreaming, at all or over this target."""


class NotFound(ReverieError):
    exit_code = 2
    http_status = 404


class NotPermitted(ReverieError):
    exit_code = 2
    http_status = 403


class StillLocked(ReverieError):
    http_status = 503


def required(found: Found | None, missing: NotFound) -> Found:
    """What was looked for, or the error that says that there is none."""
    if found is None:
        raise missing
    return found


class NotReached(ReverieError):
    http_status = 502


class EngineBusy(ReverieError):
    http_status = 503


class HalfRestored(ReverieError):
    http_status = 503


class NoSpace(ReverieError):
    http_status = 507


class DiskFailed(ReverieError):
    """The file system failed, and nothing was changed."""


class NotSynced(DiskFailed):
    """A file was put in its place, but its folder could not be synced: whether it stays is not known."""


class SchemaTooNew(ReverieError):
    exit_code = 3


class DatabaseUnusable(ReverieError):
    exit_code = 3
