"""Runs in the environment of a provider's client and imports nothing of ours: one request on each line, one answer on
each."""

import json
import sys
from collections.abc import Callable
from typing import Any

Answer = Callable[[dict[str, Any]], Any]


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
