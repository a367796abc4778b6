"""Schemathesis: whatever can be made from our OpenAPI, and whatever goes against it, is answered as OpenAPI says.

The same requests each time. Once with ids and headers made up, once with ids of what is there, to get behind the 404s.
A minute's worth in CI; `make test` looks at a third of it, `make soak` at ten times as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from reverie.app import open_home
from tests.serving import Served, serving
from tests.sizes import sized
from tests.story.test_api_tenants import NEEDS, possessions

CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
WITH_PARTS = sorted(route for route, needed in NEEDS.items() if needed)
SAID_BY_US = ("authorization", "reverie-user", "anthropic-workspace-id")
EXAMPLES = sized(2, 10, 100)

# The server's threads share this process's `random` (retry delays), and Hypothesis takes that for a strategy's doing.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with open_home(tmp_path_factory.mktemp("home"), settings={"owner": "ann"}) as home, serving(home) as server:
        yield server


@pytest.fixture(scope="module")
def described(served: Served) -> Any:
    return schemathesis.openapi.from_dict(served.call("GET", "/openapi.json").json)


@pytest.mark.parametrize(("method", "path"), WITH_PARTS)
def test_made_up_ids(served: Served, described: Any, method: str, path: str) -> None:
    asked(served, described[path][method], {})


@pytest.mark.parametrize(("method", "path"), [route for route in WITH_PARTS if not route[1].endswith("/stream")])
def test_ids_of_what_is_there(served: Served, described: Any, method: str, path: str) -> None:
    asked(served, described[path][method], possessions(served, served.key))


def asked(served: Served, operation: Any, ids: dict[str, str]) -> None:
    @settings(max_examples=EXAMPLES, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(
        made=operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    )
    def one(made: Any) -> None:
        for name in [name for name in made.headers if ids and name.lower() in SAID_BY_US]:
            del made.headers[name]
        made.path_parameters.update({name: ids[name] for name in made.path_parameters if name in ids})
        answer = made.call(base_url=served.url, headers={"x-api-key": served.key}, timeout=30)
        made.validate_response(answer, checks=CHECKS)

    one()
