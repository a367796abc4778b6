"""Runs in the environment of a provider's client and imports nothing of ours: an answer to the request on each line.

The first line has the settings. The argument is the client: `mem0` or `hindsight`.
"""

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

Answer = Callable[[dict[str, Any]], Any]


def open_mem0(settings: dict[str, Any]) -> Answer:
    from mem0 import Memory

    memory, user = Memory.from_config(settings["config"]), settings["user_id"]

    def answer(request: dict[str, Any]) -> Any:
        if "add" in request:
            return memory.add(request["add"], user_id=user, infer=False)["results"][0]["id"]
        found = memory.search(request["search"], filters={"user_id": user}, top_k=request["limit"])
        return [(one["id"], one["memory"]) for one in found["results"]]

    return answer


def open_hindsight(settings: dict[str, Any]) -> Answer:
    from hindsight_client import Hindsight

    client = Hindsight(base_url=settings["base_url"], api_key=settings.get("api_key"), timeout=60.0)
    bank = settings.get("bank_id") or settings["user_id"]

    def answer(request: dict[str, Any]) -> Any:
        if "add" in request:
            name = hashlib.sha256(request["add"].encode()).hexdigest()[:16]
            client.retain(bank, request["add"], document_id=name)
            return name
        return [(one.id, one.text) for one in client.recall(bank, request["search"]).results[: request["limit"]]]

    return answer


def answer_lines(opened: Callable[[dict[str, Any]], Answer]) -> None:
    settings = json.loads(sys.stdin.readline())
    answers, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no answer
    answer, problem = None, ""
    try:
        answer = opened(settings)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the answer to every request
        problem = f"{type(error).__name__}: {error}"
    for line in sys.stdin:
        try:
            told = {"answer": answer(json.loads(line))} if answer else {"error": problem}
        except Exception as error:  # noqa: BLE001
            told = {"error": f"{type(error).__name__}: {error}"}
        answers.write(f"{json.dumps(told)}\n")
        answers.flush()


if __name__ == "__main__":
    answer_lines({"mem0": open_mem0, "hindsight": open_hindsight}[sys.argv[1]])
