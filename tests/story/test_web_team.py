"""The pages as `reverie serve` mounts them: people log in with keys, see what is theirs, sign what they decide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reverie.app import Home
from reverie.changes.proposal import Proposal, Suggestion
from reverie.changes.queue import Waiting
from reverie.core.scope import Permission, Scope
from reverie.memory.operation import Add
from reverie.memory.store import Author
from reverie.server.app import api_application as api
from reverie.server.caller import House
from reverie.web.app import HEADERS, ROUTERS, KeyDoor, mount_beside, web_application
from tests.conftest import HomeMaker

HERE = "http://127.0.0.1:8787"
SECRET = "The owner's cat is called Mirabelle"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, homes: HomeMaker) -> Home:
    folder = tmp_path / "hermes" / "memories"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(SECRET)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    home = homes()
    home.sessions.add(said("s-owner", "ann", SECRET))
    return home


@pytest.fixture
def server(home: Home) -> Iterator[TestClient]:
    yield TestClient(mount_beside(api(House(home)), web_application(home, KeyDoor(home))), base_url=HERE)


def said(name: str, user: str, words: str) -> dict[str, object]:
    return {"id": name, "user": user, "title": words, "messages": [{"role": "user", "content": words}]}


def new_key(home: Home, name: str, *scopes: str, workspace: str = "local", user: str = "") -> str:
    return home.tenants.keys(workspace).create(name, frozenset(map(Permission, scopes)), user).secret


def token_in(page: str) -> str:
    return re.findall(r'name="csrf" value="(\w+)"', page)[0]


def log_in(server: TestClient, key: str, status: int = 200) -> TestClient:
    """A browser of its own."""
    browser = TestClient(server.app, base_url=HERE)
    token = token_in(browser.get("/web/login").text)
    answer = browser.post("/web/login", data={"csrf": token, "key": key})
    assert answer.status_code == status, answer.text
    return browser


def proposed(home: Home) -> Proposal:
    made = home.review.propose(Suggestion("hermes", "MEMORY.md", (Add("MEMORY.md", "Tea is at four."),)), land=False)
    assert isinstance(made, Waiting)
    return made.proposal


def test_two_people_decide_and_each_verdict_carries_a_name(home: Home, server: TestClient, tmp_path: Path) -> None:
    ann = log_in(server, new_key(home, "ann", "review"))
    ben = log_in(server, new_key(home, "ben", "review"))
    proposal = proposed(home)
    page = ben.get("/web/").text
    assert "1 proposal to decide" in page and f'href="/web/proposals/{proposal.id}"' in page
    fields = {"csrf": token_in(page), "hash": proposal.hash, "because": "heard it"}
    done = ben.post(f"/web/proposals/{proposal.id}/approve", data=fields)
    assert "Approved by ben" in done.text and str(done.url).startswith(f"{HERE}/web/?done=")
    assert "Tea is at four." in (tmp_path / "hermes" / "memories" / "MEMORY.md").read_text()
    late = ann.post(f"/web/proposals/{proposal.id}/refuse", data={"csrf": token_in(ann.get("/web/").text)})
    assert late.status_code == 409 and "Approved by ben" in late.text
    verdict = home.review.get(proposal.id).verdict
    assert verdict is not None and (verdict.by, verdict.because) == ("ben", "heard it")
    (change,) = home.history.changes(ours=True)
    assert change.grounds.approved_by == "ben"


def test_nobody_sees_another_tenant(home: Home, server: TestClient) -> None:
    proposal, owners = proposed(home), home.history.changes()[0].id
    home.sessions.add(said("s-ben", "ben", "Ben likes rowing"))
    home.tenants.sessions_in("acme").add(said("s-acme", "cy", "Acme sells varnish"), user="cy")
    others = {
        new_key(home, "k1", "review", user="ben"): "rowing",
        new_key(home, "k2", "review", workspace="acme"): "varnish",
        new_key(home, "k3", "review", workspace="acme", user="cy"): "varnish",
        new_key(home, "k4", "review", workspace="acme", user="di"): "",
    }
    addresses = [
        *("/", "/?every=yes", "/nights", "/memory", "/rules", "/rules.csv", "/rules.json", "/sessions", "/status"),
        *("/status?check=yes", "/audit", "/costs", "/search?q=cat+Mirabelle+rowing+varnish", "/session?id=s-owner"),
        *("/memory/document?path=hermes/MEMORY.md", f"/proposals/{proposal.id}", f"/changes/{owners}"),
    ]
    for key, own in others.items():
        browser = log_in(server, key)
        seen = ""
        for address in addresses:
            seen += browser.get(f"/web{address}").text.replace("cat Mirabelle rowing varnish", "")
        assert "Mirabelle" not in seen and "Tea is at four" not in seen and str(home.config.home) not in seen, own
        assert {word for word in ("rowing", "varnish") if word in seen} == ({own} if own else set())
        token = token_in(browser.get("/web/").text)
        for verb in ("approve", "refuse", "undo", "edit", "snooze", "move"):
            fields = {"csrf": token, "hash": proposal.hash, "until": "2026-06-01"}
            assert browser.post(f"/web/proposals/{proposal.id}/{verb}", data=fields).status_code == 404
    assert home.review.get(proposal.id) == proposal


def test_a_tenant_looks_at_their_stores_and_takes_a_change_back_in_their_name(home: Home, server: TestClient) -> None:
    scope = Scope("acme", "cy", "cy")
    writes = home.tenants.writes(scope, Author("api", "apikey_1"), "cy")
    store = writes.stores.create("Varnish").id
    memory = writes.create(store, "/shop.md", "- We ship on Mondays.\n")
    writes.update(store, memory.id, content="- We ship on Fridays.\n")
    browser = log_in(server, new_key(home, "cy", "review", workspace="acme", user="cy"))
    page = browser.get("/web/memory").text
    assert "Varnish" in page and f"/web/memory/document?path={store}%2Fshop.md" in page and "/web/audit" not in page
    assert "/web/audit" in log_in(server, new_key(home, "ann", "review")).get("/web/memory").text
    other = log_in(server, new_key(home, "di", "review", workspace="acme", user="di"))
    assert "Varnish" not in other.get("/web/memory").text
    change = home.history_of(scope).changes(f"{store}/shop.md")[0]
    fields = {"csrf": token_in(page), "because": "a slip"}
    assert other.post(f"/web/changes/{change.id}/undo", data=fields).status_code in (403, 404)
    done = browser.post(f"/web/changes/{change.id}/undo", data=fields)
    assert done.status_code == 200 and "a slip" in done.text
    assert writes.stores.memory(store, memory.id).content == b"- We ship on Mondays.\n"
    assert home.history_of(scope).changes(f"{store}/shop.md")[0].grounds.approved_by == "cy"


def test_the_owner_looks_at_a_store_that_is_nobodys_and_takes_a_change_back(home: Home, server: TestClient) -> None:
    scope = Scope("local", "", "agent")
    writes = home.tenants.writes(scope, Author("api", "apikey_1"))
    store = writes.stores.create("Kites").id
    memory = writes.create(store, "/shop.md", "- We ship on Mondays.\n")
    writes.update(store, memory.id, content="- We ship on Fridays.\n")
    browser = log_in(server, new_key(home, "ann", "review"))
    assert "We ship on Fridays." in browser.get(f"/web/memory/document?path={store}/shop.md").text
    change = home.history_of(scope).changes(f"{store}/shop.md")[0].id
    page = browser.get(f"/web/changes/{change}").text
    done = browser.post(f"/web/changes/{change}/undo", data={"csrf": token_in(page)})
    assert done.status_code == 200 and writes.stores.memory(store, memory.id).content == b"- We ship on Mondays.\n"


def test_a_key_is_never_in_an_address_or_a_page_and_becomes_a_strict_cookie(home: Home, server: TestClient) -> None:
    key = new_key(home, "ann", "review")
    browser = TestClient(server.app, base_url=HERE)
    asked = browser.get("/web/", follow_redirects=False)
    assert asked.status_code == 303 and asked.headers["location"] == "/web/login"
    form = browser.get("/web/login")
    answer = browser.post("/web/login", data={"csrf": token_in(form.text), "key": key}, follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert answer.headers["location"] == "/web/" and key not in cookie
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/web" in cookie
    pages = [browser.get(f"/web{one}").text for one in ("/", "/status", "/login")]
    assert not any(key in page for page in pages)
    assert browser.get(f"/web/?key={key}").text.count(key) == 0
    for name, value in HEADERS.items():
        assert browser.get("/web/").headers[name] == value


def test_who_has_no_key_or_only_looks_changes_nothing(home: Home, server: TestClient) -> None:
    proposal = proposed(home)
    stranger = TestClient(server.app, base_url=HERE)
    token = token_in(stranger.get("/web/login").text)
    assert stranger.post("/web/login", data={"csrf": token, "key": "rvk_guessed"}).status_code == 403
    assert stranger.post("/web/login", data={"csrf": "0" * 64, "key": new_key(home, "a", "review")}).status_code == 403
    assert stranger.post(f"/web/proposals/{proposal.id}/approve", data={"csrf": token}).status_code == 403
    log_in(server, new_key(home, "writer", "dream"), 403)
    reader = log_in(server, new_key(home, "reader", "read"))
    page = reader.get("/web/").text
    fields = {"csrf": token_in(page), "hash": proposal.hash}
    assert "may look, and not decide" in reader.post(f"/web/proposals/{proposal.id}/approve", data=fields).text
    assert home.review.get(proposal.id) == proposal


def test_no_write_is_done_without_the_token_of_our_forms_or_from_another_site(home: Home, server: TestClient) -> None:
    proposal = proposed(home)
    browser = log_in(server, new_key(home, "ann", "review"))
    token = token_in(browser.get("/web/").text)
    writes = [route.path for router in ROUTERS for route in router.routes if "POST" in route.methods]  # type: ignore
    for path in [*writes, "/logout"]:
        address = "/web" + re.sub(r"\{[^}]+\}", proposal.id, path)
        assert browser.post(address, data={"hash": proposal.hash}).status_code == 403, path
        for origin in ("http://evil.example", "null", "https://127.0.0.1:9"):
            fields = {"csrf": token, "hash": proposal.hash}
            assert browser.post(address, data=fields, headers={"origin": origin}).status_code == 403, path
    for host in ("evil.example", "evil.example:8787", ""):
        assert browser.get("/web/", headers={"host": host}).status_code == 403, host
    assert home.review.get(proposal.id) == proposal


def test_a_revoked_key_and_a_log_out_end_it_at_once(home: Home, server: TestClient) -> None:
    first, second = (log_in(server, new_key(home, name, "review")) for name in ("ann", "ben"))
    (ann,) = [one for one in home.keys.all() if one.name == "ann"]
    home.keys.revoke(ann.id)
    assert first.get("/web/", follow_redirects=False).status_code == 303
    kept = dict(second.cookies)
    assert "Log in" in second.post("/web/logout", data={"csrf": token_in(second.get("/web/").text)}).text
    stolen = TestClient(server.app, base_url=HERE, cookies=kept)
    assert stolen.get("/web/", follow_redirects=False).status_code == 303


def test_behind_a_proxy_every_address_begins_with_its_prefix(home: Home) -> None:
    app = mount_beside(api(House(home), root_path="/tools"), web_application(home, KeyDoor(home)), "/tools")
    for seen in ("/tools/web", "/web"):  # a proxy leaves the prefix, or takes it away
        browser = TestClient(app, base_url=HERE)
        page = browser.get(f"{seen}/login").text
        found = re.findall(r'(?:href|src|action)="([^"#]+)"', page)
        assert found and all(one.startswith("/tools/web/") for one in found), found
    assert TestClient(app, base_url=HERE).get("/tools/v1/models").status_code in (401, 404)
