"""Runs in the environment of Hindsight's client; see `answer_lines`."""

import hashlib
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))  # behind the client itself, whose name one of ours has
from answer_lines import Answer, answer_lines


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


if __name__ == "__main__":
    answer_lines(open_hindsight)
