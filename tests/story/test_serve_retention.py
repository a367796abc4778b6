"""`reverie serve` erases what is older than `retention` allows: nobody has to run a night on that machine."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.app import Home, open_home
from reverie.core.scope import Scope
from tests.serving import serving

WORKSPACES = ("local", "acme")


def session(name: str, days: int) -> dict[str, Any]:
    at = datetime.now(UTC) - timedelta(days=days)
    said = [{"role": "user", "content": f"Something said {days} days ago."}]
    return {"id": f"plain:{name}", "user": "ann", "started_at": at.isoformat(), "messages": said}


def held(home: Home) -> set[tuple[str, str]]:
    return {(name, one.head.id) for name in WORKSPACES for one in home.tenants.sessions_in(name).find()}


def test_a_server_erases_what_each_workspace_no_longer_keeps(tmp_path: Path, database: str) -> None:
    folder = tmp_path / "home"
    settings = {"database": database, "retention": "365d acme=30d"}
    with open_home(folder, settings=settings) as home:
        for workspace in WORKSPACES:
            for days in (1, 90, 800):
                home.tenants.sessions_in(workspace).add(session(f"{workspace}-{days}", days))
        (folder / "reverie.toml").write_text("".join(f'{name} = "{value}"\n' for name, value in settings.items()))
        serve = [sys.executable, "-m", "reverie", "serve", "--home", str(folder), "--port", "0", "--dreams", "0"]
        server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None and "http://" in server.stdout.readline()
            until = time.monotonic() + 60
            while (len(held(home)) > 3 or home.erasures.open()) and time.monotonic() < until:
                time.sleep(0.2)
        finally:
            server.terminate()
            server.communicate(timeout=60)
        assert held(home) == {("local", "plain:local-1"), ("local", "plain:local-90"), ("acme", "plain:acme-1")}
        assert {one.kind for one in home.erasures.past(Scope("acme", None, "test"))} == {"session"}
        assert home.erase.expire() == [] == home.erasures.open()


def test_a_session_recorded_over_the_api_goes_by_when_it_was_last_heard_of(home_on: Home) -> None:
    with serving(home_on, dreams=False) as server:
        agent = server.call("POST", "/v1/agents", {"name": "Helper", "model": "any"}).json["id"]
        place = server.call("POST", "/v1/environments", {"name": "Here"}).json["id"]
        made = {"agent": agent, "environment_id": place}
        names = {server.call("POST", "/v1/sessions", made).json["id"] for _ in range(2)}
        spoken = min(names)
        words = {"type": "user.message", "content": [{"type": "text", "text": "Hello there."}]}
        assert server.call("POST", f"/v1/sessions/{spoken}/events", {"events": [words]}).status == 200
        records, scope = home_on.erasures, Scope("local", None, "test")
        assert records.expired(scope, home_on.clock.now() - timedelta(hours=1)) == []
        later = records.expired(scope, home_on.clock.now() + timedelta(hours=1))
        assert {one.id for one in later} == names, "one in which nothing was said as yet goes as well"
