"""Drives a real Chromium; runs in the environment that has Playwright: `browser_peer.py SCENARIO URL CHROMIUM ...`"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

SCENARIO, URL, CHROMIUM, *MORE = sys.argv[1:]
BASE = URL.partition("/?")[0].removesuffix("/web/")
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}


@contextmanager
def browser(**how: object) -> Iterator[BrowserContext]:
    """A browser in which every complaint of a page, and every request to elsewhere, is a failure."""
    complaints: list[str] = []
    with sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        context = chromium.new_context(**how)  # type: ignore[arg-type]
        context.set_default_timeout(15_000)

        def watch(page: Page) -> None:
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
            page.on("request", lambda request: None if request.url.startswith(BASE) else complaints.append(request.url))

        context.on("page", watch)
        yield context
        chromium.close()
    expected = [one for one in complaints if "status of 409" in one]
    assert complaints == expected, complaints


def entered(context: BrowserContext) -> Page:
    page = context.new_page()
    page.goto(URL)
    page.wait_for_url(f"{BASE}/")
    return page


def left(page: Page) -> int:
    """How many proposals the inbox shows, by its heading and by its cards."""
    heading = page.locator("h1").inner_text()
    number = 0 if heading.startswith("Nothing") else int(heading.split()[0])
    assert page.locator("li.card").count() == number, heading
    return number


def addresses(page: Page) -> list[str]:
    """A page of every kind."""
    page.goto(f"{BASE}/nights")
    night = page.locator("td a").first.get_attribute("href")
    page.goto(f"{BASE}/")
    proposals = [one.get_attribute("href") for one in page.locator("li.card h3 a").all()]
    page.goto(f"{BASE}/sessions")
    session = page.locator("td.text a").first.get_attribute("href")
    page.goto(f"{BASE}/memory")
    document = page.locator("main li a").first.get_attribute("href")
    skill = page.locator("main li a[href*='skill?']").first
    skills = [skill.get_attribute("href")] if skill.count() else []
    page.goto(f"{BASE}{document}")
    change = page.locator("aside li a", has_text="Replaced").first.get_attribute("href")
    plain = ["/", "/nights", "/memory", "/rules", "/rules?q=the", "/search?q=staging+database", "/sessions", "/status"]
    plain += ["/audit", "/costs", "/?snoozed=yes"]
    found = [*plain, night, *proposals[:2], session, document, change, *skills]
    return [one for one in found if one]


def by_keyboard() -> None:
    with browser(viewport=DESK) as context:
        page = entered(context)
        total = left(page)
        first, second = (page.locator("li.card").nth(at).get_attribute("data-item") for at in (0, 1))
        expect(page.locator("li.card.current")).to_have_attribute("data-item", first or "")
        page.keyboard.press("j")
        assert page.locator("li.card.current").get_attribute("data-item") == second
        page.keyboard.press("k")
        page.keyboard.press("?")
        assert page.locator("dialog").is_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("r")  # refuse, with a reason
        page.keyboard.type("just a joke")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("done="))
        assert left(page) == total - 1 and "just a joke" in page.locator(".notice").inner_text()
        expect(page.locator("li.card.current")).to_have_count(1)
        page.keyboard.press("u")
        expect(page.locator("li.card")).to_have_count(total)
        expect(page.locator("li.card.current")).to_have_count(1)
        page.keyboard.press("e")  # edit it
        page.wait_for_url(re.compile("/proposals/.*#edit"))
        expect(page.locator("textarea")).to_be_focused()
        page.keyboard.press("Control+A")
        page.keyboard.type("Money is always Decimal.")
        page.wait_for_selector("#checked .checks")
        assert "Did the person say it themselves?" in (page.locator("#checked").text_content() or "")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("edited=yes"))
        kept = page.locator("textarea").input_value()
        assert kept == "Money is always Decimal.", kept
        page.keyboard.press("a")
        page.wait_for_url(re.compile("done="))
        for number in range(total - 1, 0, -1):
            assert left(page) == number
            expect(page.locator("li.card.current")).to_have_count(1)  # the keys work from now on
            page.keyboard.press("a" if number % 2 else "r")
            if number % 2 == 0:
                page.keyboard.press("Enter")
            expect(page.locator("li.card")).to_have_count(number - 1)
        assert "Nothing waits for you" in page.locator("h1").inner_text()


def without_javascript() -> None:
    with browser(viewport=DESK, java_script_enabled=False) as context:
        page = entered(context)
        total = left(page)
        page.locator("li.card").first.get_by_role("button", name="Approve").click()
        assert left(page) == total - 1 and "Approved by sam" in page.locator(".notice").inner_text()
        page.locator(".notice").get_by_role("button", name="Undo").click()
        assert left(page) == total and "was reverted in chg_" in page.locator(".notice").inner_text()
        card = page.locator("li.card").first
        card.locator("summary").click()
        card.get_by_label("Why?").fill("only for the demo")
        card.get_by_role("button", name="Refuse").click()
        assert left(page) == total - 1 and "only for the demo" in page.locator(".notice").inner_text()
        page.locator("li.card").first.get_by_role("link", name="Edit").click()
        page.locator("textarea").fill("Said by a person, in other words")
        page.get_by_role("button", name="Save the text").click()
        assert "It still has to be approved" in page.locator(".notice").inner_text()
        assert (
            "A person changed it since the night." in page.locator("section", has=page.locator("#checks")).inner_text()
        )
        page.get_by_role("button", name="Approve").click()
        places = page.get_by_label("Document or skill")
        places.select_option(str(places.locator("option").last.get_attribute("value")))
        page.get_by_role("button", name="Show").click()
        assert 0 < left(page) < total - 2 and "where=hermes" in page.url
        page.get_by_role("link", name="Show everything that waits").click()
        while number := left(page):
            page.locator("li.card").first.get_by_role("button", name="Approve").click()
            assert left(page) == number - 1


def on_a_phone() -> None:
    with browser(viewport=PHONE, has_touch=True, is_mobile=True) as context:
        page = entered(context)
        for address in addresses(page):
            page.goto(f"{BASE}{address}")
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= PHONE["width"], f"{address} is {width} wide"
            small = page.evaluate(
                "[...document.querySelectorAll('button, .button, .refuse > summary')].filter(e => e.offsetHeight"
                " && e.getBoundingClientRect().height < 32).map(e => e.textContent)"
            )
            assert small == [], f"{address}: too small to tap: {small}"
        page.goto(f"{BASE}/")
        while number := left(page):
            page.locator("li.card").first.get_by_role("button", name="Approve").tap()
            expect(page.locator("li.card")).to_have_count(number - 1)


def in_two_tabs() -> None:
    with browser(viewport=DESK) as context:
        one = entered(context)
        other = context.new_page()
        other.goto(f"{BASE}/")
        total = left(one)
        assert left(other) == total
        one.locator("li.card").first.get_by_role("button", name="Approve").click()
        one.wait_for_url(re.compile("done="))
        card = other.locator("li.card").first
        card.locator("summary").click()
        card.get_by_role("button", name="Refuse").click()
        other.wait_for_url(re.compile("refuse"))
        said = other.locator(".notice").inner_text()
        assert "It was decided before you answered" in said and "Approved by sam" in said, said
        one.reload()
        assert left(one) == total - 1


def hermes_meanwhile() -> None:
    """Hermes writes the entry that a person is about to change: the person is told, and Hermes' words stay."""
    address, file, old, theirs = MORE[0], Path(MORE[1]), MORE[2], MORE[3]
    with browser(viewport=DESK) as context:
        page = entered(context)
        page.goto(f"{BASE}{address}")
        whole = file.read_text("utf-8").replace(old, theirs)
        page.locator("textarea").fill("In words of my own")
        page.wait_for_selector("#checked .fine")
        file.write_text(whole, "utf-8")
        page.get_by_role("button", name="Save the text").click()
        page.wait_for_selector(".notice.warn")
        said = page.locator(".notice.warn").inner_text()
        assert "Not done" in said and file.read_text("utf-8") == whole, said
        assert page.locator("textarea").input_value() == "In words of my own", "what was typed is still there"
        page.get_by_role("button", name="Approve").click()
        page.wait_for_url(re.compile("approve"))
        assert "Nothing was changed" in page.locator("main").inner_text() and file.read_text("utf-8") == whole


def two_people() -> None:
    """Two people of a team, each in a browser of their own, with a key of their own."""
    with browser(viewport=DESK) as ann:
        assert ann.browser is not None
        ben, pages = ann.browser.new_context(viewport=DESK), list[Page]()
        for context, key in ((ann, MORE[0]), (ben, MORE[1])):
            page = context.new_page()
            page.goto(URL)
            page.get_by_label("Your key").fill(key)
            page.get_by_role("button", name="Log in").click()
            page.wait_for_url(URL)
            pages.append(page)
        one, other = pages
        total = left(one)
        assert left(other) == total > 1
        one.locator("li.card").first.get_by_role("button", name="Approve").click()
        one.wait_for_url(re.compile("done="))
        assert "Approved by ann" in one.locator(".notice").inner_text()
        card = other.locator("li.card").first
        card.locator("summary").click()
        card.get_by_role("button", name="Refuse").click()
        other.wait_for_url(re.compile("refuse"))
        assert "Approved by ann" in other.locator(".notice").inner_text()
        other.get_by_role("link", name="Inbox").first.click()
        other.locator("li.card").first.get_by_role("button", name="Approve").click()
        other.wait_for_url(re.compile("done="))
        assert left(other) == total - 2 and "Approved by ben" in other.locator(".notice").inner_text()
        other.get_by_role("button", name="Log out").click()
        other.wait_for_url(re.compile("/login"))


def hostile() -> None:
    """Whatever the transcripts say: it is text. Nothing runs, nothing is loaded, nothing is laid over the page; and a
    screen reader finds nothing serious in its way."""
    axe, attacks = Path(MORE[0]).read_text("utf-8"), MORE[1:]
    with browser(viewport=DESK) as context:
        page = entered(context)
        kinds = addresses(page)
        seen = 0
        for address in [*kinds, *attacks]:
            check_harmless(page, address)
            seen += page.locator("main").inner_text().count("pwned")
            if address in kinds:
                check_access(page, axe, address)
        assert seen > 20, "the words are shown"
        page.emulate_media(color_scheme="dark")
        for address in kinds:
            page.goto(f"{BASE}{address}")
            check_access(page, axe, f"{address} in the dark")


def made_up() -> None:
    """The same of pages whose words were put together by chance."""
    with browser(viewport=DESK) as context:
        page = entered(context)
        for address in ["/", "/memory/document?path=hermes/USER.md", "/sessions", *MORE]:
            check_harmless(page, address)


def check_harmless(page: Page, address: str) -> None:
    page.goto(f"{BASE}{address}")
    assert page.evaluate("window.pwned") is None, address
    made = page.evaluate(f"document.querySelectorAll({OURS_NEVER!r}).length")
    assert made == 0, f"{address}: {made} elements that we did not write"
    away = page.evaluate("[...document.querySelectorAll('a[href], form[action]')].map(e => e.href || e.action)")
    assert [to for to in away if not to.startswith(f"{BASE}/")] == [], address
    assert page.locator("body > header, body > main, body > footer").count() == 3, f"{address}: the page is broken open"


NOT_OURS = (
    "script",
    "iframe",
    "img",
    "svg:not(.plot)",
    "object",
    "embed",
    "base",
    "link",
    "style",
    "[style]",
    "[id=pwned]",
)
HANDLERS = ("[onerror]", "[onclick]", "[onfocus]", "[onload]", "[onmouseover]", "[href^=javascript]")
OURS_NEVER = ", ".join(f"main {one}" for one in (*NOT_OURS, *HANDLERS, "form[action^=http]"))


def check_access(page: Page, axe: str, where: str) -> None:
    page.evaluate(axe)
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert serious == [], f"{where}: {[(one['id'], one['nodes'][0]['html'][:150]) for one in serious]}"


def screenshots() -> None:
    """A picture of each page into a folder; with `looks` beside it each page at both widths, light and dark."""
    folder, looks = Path(MORE[0]), MORE[1:] == ["looks"]
    with browser(viewport={"width": 1000, "height": 680}) as context:
        page = entered(context)
        found = addresses(page)
        pages = {one.strip("/").partition("?")[0] or "inbox": one for one in found[:11] if one.count("?") == 0}
        pages |= {"search": found[5], "night": found[11], "proposal": found[12], "session": found[14]}
        pages |= {"document": found[15], "change": found[16]} | ({"skill": found[17]} if len(found) > 17 else {})
        for name, address in pages.items():
            page.goto(f"{BASE}{address}")
            page.screenshot(path=folder / f"{name}.png")
        state = context.storage_state()
    with browser(viewport=PHONE, color_scheme="dark", storage_state=state) as context:
        page = context.new_page()
        page.goto(f"{BASE}/")
        page.screenshot(path=folder / "phone.png")
    for width in (360, 1600) if looks else ():
        for scheme in ("light", "dark"):
            with browser(viewport={"width": width, "height": 900}, color_scheme=scheme, storage_state=state) as context:
                page = context.new_page()
                for name, address in pages.items():
                    page.goto(f"{BASE}{address}")
                    page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


SCENARIOS = {
    "by_keyboard": by_keyboard,
    "without_javascript": without_javascript,
    "on_a_phone": on_a_phone,
    "in_two_tabs": in_two_tabs,
    "hermes_meanwhile": hermes_meanwhile,
    "two_people": two_people,
    "hostile": hostile,
    "made_up": made_up,
    "screenshots": screenshots,
}
SCENARIOS[SCENARIO]()
