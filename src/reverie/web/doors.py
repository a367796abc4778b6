"""Who is let in: on one's own machine whoever brings the printed address, on a server people with a key."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from starlette.responses import RedirectResponse, Response

from reverie.app import Home
from reverie.core.scope import ApiKey, Permission
from reverie.web.pages import Pages

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
STAY_SECONDS = 12 * 3600.0  # without a request; then people log in again
MOST_VISITORS = 10_000


class RequestRefused(Exception):
    def __init__(self, status: int, title: str, said: str) -> None:
        super().__init__(said)
        self.status, self.title, self.said = status, title, said


@dataclass(frozen=True, slots=True)
class Visitor:
    """`person` is shown to them, and is empty on their own machine."""

    home: Home
    csrf: str
    person: str = ""
    may_decide: bool = True


@dataclass(frozen=True, slots=True)
class Knock:
    """A request, before it is known whose it is. `cookie` is the value of the cookie `name`; `path` is below `root`."""

    method: str
    path: str
    root: str
    cookie: str
    name: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    encrypted: bool

    def with_cookie(self, answer: Response, value: str) -> Response:
        answer.set_cookie(
            self.name, value, httponly=True, samesite="strict", path=self.root or "/", secure=self.encrypted
        )
        return answer


def csrf_of(cookie: str) -> str:
    return hmac.new(cookie.encode(), b"form", "sha256").hexdigest()


@dataclass(slots=True)
class Entrance:
    """The token of the printed address, good once, and the cookie that whoever brings it gets."""

    home: Home
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    used: bool = False
    called: str = "they are for this machine only, 127.0.0.1 or localhost"
    schemes: tuple[str, ...] = ("http",)
    _lock: Lock = field(default_factory=Lock)

    @property
    def csrf(self) -> str:
        return csrf_of(self.cookie)

    def answers_to(self, name: str) -> bool:
        return name in LOOPBACK

    def visitor(self, cookie: str) -> Visitor | None:
        known = hmac.compare_digest(cookie.encode(), self.cookie.encode())
        return Visitor(self.home, self.csrf) if known else None

    def opened(self, knock: Knock, pages: Pages) -> Response | None:
        """A page that goes on by itself: had the link been on a page of another site, a redirect would lose the
        cookie."""
        if knock.method != "GET":
            return None
        with self._lock:
            token = knock.query.get("token", "")
            good = not self.used and hmac.compare_digest(token.encode(), self.token.encode())
            self.used = self.used or good
        if not good:
            return None
        welcome = pages.message(200, "Opening the inbox", "", root=knock.root, go=f"{knock.root}/")
        return knock.with_cookie(welcome, self.cookie)

    def refused(self, knock: Knock) -> Response:
        said = "This link was used already." if "token" in knock.query else "Your browser is not known here."
        raise RequestRefused(403, "Not let in", f"{said} Run `reverie web` and open the address it prints.")


@dataclass(slots=True)
class KeyDoor:
    """People come in with their keys. A key is sent once, in a form; the browser keeps a cookie that says nothing. Who
    is logged in is known to this process alone, and a key that is revoked ends it at once."""

    home: Home
    names: Iterable[str] = ()
    called: str = "the names of this server are given with --allow-host"
    schemes: tuple[str, ...] = ("http", "https")
    _in: dict[str, tuple[ApiKey, float]] = field(default_factory=dict)  # by cookie: whose, and when it came last
    _lock: Lock = field(default_factory=Lock)

    def answers_to(self, name: str) -> bool:
        """Every number, too: it cannot be rebound."""
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.lower() in {"localhost", *(one.lower() for one in self.names)}
        return True

    def visitor(self, cookie: str) -> Visitor | None:
        now = time.monotonic()
        with self._lock:
            found = self._in.get(cookie)
            if found is None or now - found[1] > STAY_SECONDS:
                self._in.pop(cookie, None)
                return None
            key = found[0]
            self._in[cookie] = key, now
        if not self.home.keys.still(key):
            self._leave(cookie)
            return None
        person = key.user or key.name
        home = self.home.team.of(key.workspace, key.user, person)
        return Visitor(home, csrf_of(cookie), person, key.may(Permission.REVIEW))

    def opened(self, knock: Knock, pages: Pages) -> Response | None:
        match knock.method, knock.path:
            case "GET", "/login":
                known = self.visitor(knock.cookie)
                return RedirectResponse(f"{knock.root}/", 303) if known else self._login_form(knock, pages, "")
            case "POST", "/login":
                return self._log_in(knock, pages)
            case "POST", "/logout" if self._is_ours(knock):
                self._leave(knock.cookie)
                return RedirectResponse(f"{knock.root}/login", 303)
        return None

    def refused(self, knock: Knock) -> Response:
        if knock.method in ("GET", "HEAD"):
            return RedirectResponse(f"{knock.root}/login", 303)
        raise RequestRefused(403, "Not let in", "You are not logged in, or not any more. Log in, and do it again.")

    def _login_form(self, knock: Knock, pages: Pages, said: str) -> Response:
        """The form, bound to this browser: nobody else's page can log it in as someone it is not."""
        fresh = secrets.token_urlsafe(32)
        form = pages.outside("login.html", 403 if said else 200, knock.root, said=said, token=csrf_of(fresh))
        return knock.with_cookie(form, fresh)

    def _log_in(self, knock: Knock, pages: Pages) -> Response:
        if not self._is_ours(knock):
            return self._login_form(knock, pages, "The form was too old. Try again.")
        key = self.home.keys.admitted(knock.form.get("key", "").strip())
        if key is None:
            return self._login_form(knock, pages, "That is no key of this server, or not any more.")
        if not key.may(Permission.READ) and not key.may(Permission.REVIEW):
            return self._login_form(knock, pages, f"The key {key.id} lacks the scope read or review.")
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._in) >= MOST_VISITORS:
                del self._in[min(self._in, key=lambda one: self._in[one][1])]
            self._in[cookie] = key, time.monotonic()
        return knock.with_cookie(RedirectResponse(f"{knock.root}/", 303), cookie)

    def _is_ours(self, knock: Knock) -> bool:
        sent = knock.form.get("csrf", "")
        return bool(knock.cookie) and hmac.compare_digest(sent.encode(), csrf_of(knock.cookie).encode())

    def _leave(self, cookie: str) -> None:
        with self._lock:
            self._in.pop(cookie, None)


Door = Entrance | KeyDoor
