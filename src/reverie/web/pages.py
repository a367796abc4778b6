"""How a page is made: templates that escape everything, and the few words that all of them share.

Whatever a template prints is text: it is escaped, and every character in it that cannot be seen, or that rearranges
others, is spelt out. The only HTML that does not stand in a template is the diary's, made by a Markdown reader that
knows neither HTML nor links nor pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from reverie import __version__
from reverie.changes.inbox.headline import shortened
from reverie.core.clock import rfc3339
from reverie.core.errors import BadInput
from reverie.core.strings import plural
from reverie.safety.report import visible

LONGEST_TURN = 3_000
_NO_LINKS = ("link", "image", "autolink", "html_block", "html_inline", "entity")


class Pages:
    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone
        self._diary = MarkdownIt("commonmark", {"html": False}).disable(list(_NO_LINKS))
        made = Environment(
            loader=PackageLoader("reverie.web"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_seen,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.globals |= {"version": __version__, "link": _linked, "one_day": timedelta(days=1)}
        made.filters |= {
            "day": self.day,
            "when": self.when,
            "capitalize_first": lambda text: text[:1].upper() + text[1:],
            "counted": plural,
            "diary": self.diary,
            "marked": marked,
            "as_it_is": as_it_is,
            "excerpt": excerpt,
            "sentence": sentence,
            "shortened": shortened,
            "text": lambda content: content.decode("utf-8", "backslashreplace"),
        }
        self._made = made

    def page(self, request: Request, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
        root = root_of(request)
        path = request.url.path.removeprefix(root)
        shared = {"csrf": request.state.csrf, "path": path, "go": "", "root": root, "person": request.state.person}
        shared["whole"] = request.state.home.is_whole
        return HTMLResponse(self._made.get_template(template).render(shared | values), status)

    def message(self, status: int, title: str, said: str, *, root: str = "", go: str = "") -> HTMLResponse:
        """A page for whoever was not let in: it leads nowhere."""
        values = {"title": title, "said": said, "go": go, "csrf": "", "path": "", "root": root, "person": ""}
        return HTMLResponse(self._made.get_template("message.html").render(values), status)

    def login(self, root: str, csrf: str, said: str = "") -> HTMLResponse:
        values = {"said": said, "token": csrf, "csrf": "", "path": "", "root": root, "person": "", "go": ""}
        return HTMLResponse(self._made.get_template("login.html").render(values), 403 if said else 200)

    def day(self, at: datetime | None) -> str:
        return f"{at.astimezone(self._zone):%-d %B %Y}" if at else "no date"

    def moment(self, at: datetime) -> str:
        return f"{at.astimezone(self._zone):%-d %b %Y, %H:%M}"

    def when(self, at: datetime | None) -> Markup:
        if at is None:
            return Markup("no date")
        return Markup('<time datetime="{}">{}</time>').format(rfc3339(at), self.moment(at))

    def end_of(self, day: str) -> datetime | None:
        """The end of a day as people here count days; None for no day. A time is that time."""
        return self._read(day, time.max) if day else None

    def beginning_of(self, day: str) -> datetime:
        return self._read(day, time.min)

    def _read(self, day: str, at: time) -> datetime:
        try:
            read = datetime.fromisoformat(day)
        except ValueError as error:
            raise BadInput(f"{day!r} is not a date.", expected="a date such as 2026-05-12") from error
        if len(day) == len("2026-05-12"):
            read = datetime.combine(read.date(), at)
        return (read if read.tzinfo else read.replace(tzinfo=self._zone)).astimezone(UTC)

    def diary(self, text: str) -> Markup:
        tokens = self._diary.parse(visible(text))
        for token in tokens:
            if token.type in ("heading_open", "heading_close"):  # it stands below a heading of the page
                token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        return Markup(self._diary.renderer.render(tokens, self._diary.options, {}))


def _seen(value: object) -> object:
    return visible(value) if type(value) is str else value


def as_it_is(text: str) -> Markup:
    """For a field that a person edits: escaped, and no character of it replaced."""
    return escape(text)


def marked(text: str, quotes: Sequence[str]) -> Markup:
    """The text with the quotations in it marked."""
    for place, quote in enumerate(quotes):
        before, found, after = text.partition(quote) if quote else (text, "", "")
        if found:
            rest = quotes[place + 1 :]
            return Markup("{}<mark>{}</mark>{}").format(marked(before, rest), visible(found), marked(after, rest))
    return escape(visible(text))


def excerpt(text: str, quote: str = "", most: int = LONGEST_TURN) -> str:
    """As much of a long turn as can be read, around the quotation."""
    if len(text) <= most:
        return text
    start = max(0, text.find(quote) - most // 3) if quote else 0
    end = max(start + most, start + most // 3 + len(quote))
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def sentence(text: str) -> str:
    """As the rest of a sentence that has begun, with its stop."""
    flat = text.strip()
    return flat if flat.endswith((".", "!", "?")) or not flat else f"{flat}."


def root_of(request: Request) -> str:
    """Where the pages are mounted: "" by themselves, "/web" in a server."""
    return str(request.scope.get("root_path", ""))


@pass_context
def _linked(context: Context, path: str, /, **query: object) -> str:
    return link(f"{context['root']}{path}", **query)


def link(path: str, /, **query: object) -> str:
    """An address of ours; what is None or empty is left out."""
    said = urlencode({name: value for name, value in query.items() if value not in (None, "")})
    return f"{path}?{said}" if said else path
