"""Runs in Mem0's own environment; see `answer_lines`."""

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))  # behind the client itself, whose name one of ours has
from answer_lines import Answer, answer_lines


def open_mem0(settings: dict[str, Any]) -> Answer:
    from mem0 import Memory

    memory, user = Memory.from_config(settings["config"]), settings["user_id"]

    def answer(request: dict[str, Any]) -> Any:
        if "add" in request:
            return memory.add(request["add"], user_id=user, infer=False)["results"][0]["id"]
        found = memory.search(request["search"], filters={"user_id": user}, top_k=request["limit"])
        return [(one["id"], one["memory"]) for one in found["results"]]

    return answer


if __name__ == "__main__":
    answer_lines(open_mem0)
