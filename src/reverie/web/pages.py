"""How a page is made: templates that escape everything, and the few words that all of them share.

Whatever a template prints is text: it is escaped, and every character in it that cannot be seen, or that rearranges
others, is spelt out. The only HTML that does not stand in a template is the diary's, made by a Markdown reader that
knows neither HTML nor links nor pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from reverie import __version__
from reverie.changes.headline import shortened
from reverie.core.clock import rfc3339
from reverie.core.errors import BadInput
from reverie.core.ids import plural
from reverie.dreams.dream import Dream
from reverie.safety.scan import visible

LONGEST_TURN = 3_000
_linked = pass_context(lambda context, path, /, **query: link(f"{context['root']}{path}", **query))
_NO_LINKS = ("link", "image", "autolink", "html_block", "html_inline", "entity")
WIDTH, HEIGHT, EDGE = 640, 150, 6


class Pages:
    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone
        self._diary = MarkdownIt("commonmark", {"html": False}).disable(list(_NO_LINKS))
        made = Environment(
            loader=PackageLoader("reverie.web"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=lambda value: visible(value) if type(value) is str else value,
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
            "as_it_is": escape,  # for a field that a person edits: no character of it is replaced
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
        return self.outside("message.html", status, root, title=title, said=said, go=go)

    def outside(self, template: str, status: int, root: str, **values: str) -> HTMLResponse:
        shared = {"csrf": "", "path": "", "root": root, "person": "", "go": ""}
        return HTMLResponse(self._made.get_template(template).render(shared | values), status)

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


def marked(text: str, quotes: Sequence[str]) -> Markup:
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


def link(path: str, /, **query: object) -> str:
    """An address of ours; what is None or empty is left out."""
    said = urlencode({name: value for name, value in query.items() if value not in (None, "")})
    return f"{path}?{said}" if said else path


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    said: str


@dataclass(frozen=True, slots=True)
class Plot:
    """`line` is the points of a line, `limit` the height of a line across; `said` is the whole in words, for who cannot
    see it."""

    title: str
    said: str
    top: str
    begins: datetime | None = None
    ends: datetime | None = None
    line: str = ""
    bars: tuple[Bar, ...] = ()
    limit: float | None = None
    width: int = WIDTH
    height: int = HEIGHT


def stepped(title: str, points: Sequence[tuple[datetime, float]], *, limit: float | None, unit: str) -> Plot | None:
    """A value that holds until it changes. `points` are in the order of time."""
    if len(points) < 2:
        return None
    first, last = points[0][0], points[-1][0]
    span = (last - first).total_seconds()
    most = max([value for _, value in points] + ([limit] if limit else [])) or 1.0

    def up(value: float) -> float:
        return round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * value / most, 1)

    path, before = list[str](), points[0][1]
    for place, (at, value) in enumerate(points):
        share = (at - first).total_seconds() / span if span else place / (len(points) - 1)
        x = round(EDGE + (WIDTH - 2 * EDGE) * share, 1)
        path += [f"{x},{up(before)}", f"{x},{up(value)}"]
        before = value
    within = f" of {limit:,.0f}" if limit else ""
    said = f"{points[0][1]:,.0f} {unit} at first, {points[-1][1]:,.0f}{within} at last, {len(points)} changes."
    top = f"{max(value for _, value in points):,.0f} {unit}"
    return Plot(title, said, top, first, last, " ".join(path), (), up(limit) if limit else None)


def barred(
    title: str, dreams: Sequence[Dream], value: Callable[[Dream], float], *, top: str = "{:,.0f}"
) -> Plot | None:
    """One bar for each night, oldest first, with what it says."""
    points = [(one, float(value(one))) for one in reversed(dreams)]
    most = max((high for _, high in points), default=0.0)
    if len(points) < 2 or not most:
        return None
    room = (WIDTH - 2 * EDGE) / max(len(points), 12)
    bars = []
    for place, (one, height) in enumerate(points):
        high = round((HEIGHT - 2 * EDGE) * height / most, 1)
        x, y = round(EDGE + place * room, 1), round(HEIGHT - EDGE - high, 1)
        bars.append(Bar(x, y, round(room * 0.8, 1), high, f"{one.started_at:%Y-%m-%d} over {one.target}"))
    whole = f"{len(points)} nights, {top.format(sum(high for _, high in points))} in all."
    begins, ends = points[0][0].started_at, points[-1][0].started_at
    return Plot(title, whole, top.format(most), begins, ends, "", tuple(bars))
