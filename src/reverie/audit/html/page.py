"""One page about an audit that needs nothing else: no script, no font, no picture from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files

from reverie.audit.finding import Finding, FindingKind
from reverie.audit.html.picture import bar, legend
from reverie.audit.html.tags import Safe, join_markup, tag
from reverie.audit.report import AuditReport, Filling, HomeReport

_TITLES = {"high": "Look at these first", "medium": "Then these", "low": "Tidying up", "note": "Good to know"}
MOST_SHOWN = 500  # of one severity; the JSON has them all


def audit_page(report: AuditReport) -> str:
    style = (files("reverie.audit") / "page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", "What your agents believe and obey"),
        Safe(f"<style>{style}</style>"),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', tag('main', *_body(report))), lang='en')}\n"


def _body(report: AuditReport) -> Iterator[Safe]:
    statements, skills = sum(home.statements for home in report.homes), sum(home.skills for home in report.homes)
    yield tag("h1", "What your agents believe and obey")
    said = f"{statements:,} statements and {skills:,} skills in {len(report.homes)} homes"
    yield tag("p", f"{said}, looked at on {report.at:%Y-%m-%d %H:%M} UTC. Nothing was changed.", class_="soft")
    counts = report.counts
    if counts:
        tiles = (tag("li", tag("b", f"{counts[kind]:,}"), kind.value) for kind in FindingKind if counts[kind])
        yield tag("ul", *tiles, class_="tiles")
    else:
        yield tag("p", "Nothing was found that is wrong. ", tag("span", _NOTHING, class_="soft"))
    yield tag("h2", "Homes")
    yield from (_home(home) for home in report.homes)
    for severity, title in _TITLES.items():
        found = [one for one in report.findings if one.severity == severity]
        if found:
            yield tag("h2", f"{title} ({len(found):,})")
            yield from (_finding(one) for one in found[:MOST_SHOWN])
            if len(found) > MOST_SHOWN:
                yield tag("p", f"{len(found) - MOST_SHOWN:,} more are in `reverie audit --json`.", class_="soft")
    yield tag(
        "p", "`reverie audit --fix` proposes what can be proposed; nothing lands before you approve it.", class_="soft"
    )


_NOTHING = "Look again after a few weeks of work, or let `reverie dream` keep it so."


def _home(home: HomeReport) -> Safe:
    grade = home.grade
    said = f"{home.statements:,} statements, {home.characters:,} characters, {home.skills:,} skills"
    title = tag("div", tag("h3", home.name), tag("p", said, class_="soft small"))
    letter = tag("span", grade.letter, class_=f"grade grade-{grade.letter}", title=f"{grade.points} of 100")
    why = tag("p", f"{grade.points} of 100: {'; '.join(grade.because)}.", class_="soft small")
    return tag(
        "section",
        tag("div", letter, title, class_="head"),
        why,
        *(_document(one) for one in home.fillings),
        class_="home",
    )


def _document(filling: Filling) -> Safe:
    limit = f" of {filling.budget:,}" if filling.budget else ""
    name = f"{filling.spot.target}/{filling.spot.document}: {filling.characters:,}{limit} characters"
    return tag("div", tag("span", name, class_="small"), bar(filling), legend(filling), class_="document")


def _finding(finding: Finding) -> Safe:
    proposed = "Can be proposed with --fix." if finding.suggestion else "A person has to do it."
    inside = [
        tag("blockquote", finding.words) if finding.words else None,
        tag("p", f"Against {finding.other}:", class_="small soft") if finding.other else None,
        tag("blockquote", finding.other_words) if finding.other_words else None,
        tag("p", tag("span", finding.advice), " ", tag("span", proposed, class_="soft"), class_="small"),
    ]
    place = tag("span", f" {finding.spot}", class_="soft small")
    excerpt = " ".join(finding.words.split())[:160]
    first = tag("span", excerpt, class_="excerpt soft") if excerpt else None
    summary = tag("summary", tag("b", finding.kind.value), finding.why, place, first)
    return tag(
        "details",
        summary,
        tag("div", join_markup(*inside), class_="inside"),
        class_=finding.severity,
        open=finding.severity == "high",
    )
