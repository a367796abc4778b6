"""The estimate of tokens against what a real tokenizer counts (o200k_base, counted once and written down here)."""

from __future__ import annotations

import json

import pytest

from reverie.llm.question import estimate_tokens

SAMPLES = {
    "English": (
        53,
        "Please remember that we deploy on Tuesdays now, not on Fridays any more. The staging "
        "database moved to port 5433 last week, and nobody but the release manager restarts it. I "
        "would like short answers, with the command first and the explanation after it.",
    ),
    "German": (
        125,
        "Ich möchte, dass die Rechnungen ab sofort immer in Euro ausgestellt werden, und zwar am "
        "ersten Werktag des Monats. Bitte denk daran, dass unsere Besprechung künftig dienstags um "
        "zehn Uhr stattfindet, nicht mehr montags. Die Datenbank läuft seit der Umstellung auf "
        "PostgreSQL 16, und die nächtlichen Sicherungen liegen im Verzeichnis /var/backups. Wir "
        "haben uns entschieden, die Abhängigkeiten künftig mit uv zu verwalten, weil die "
        "Installation dadurch deutlich schneller geworden ist. Können Sie mir bitte erklären, warum"
        " der Schnittstellentest gestern Abend fehlgeschlagen ist? ",
    ),
    "French": (
        66,
        "Je préfère que les réponses soient courtes et en français. À partir de maintenant, les "
        "factures sont envoyées le premier jour ouvrable du mois. Notre réunion hebdomadaire a lieu"
        " le mardi à dix heures, et non plus le lundi. Nous avons décidé d'utiliser PostgreSQL pour"
        " la base de données de production. ",
    ),
    "Chinese": (
        54,
        "请记住，从现在开始我们每个月的第一个工作日开具发票。会议改到星期二上午十点，不再是星期一。我们决定使用PostgreSQL作为生产数据库，备份保存在/var/backups目录下。",
    ),
    "Japanese": (
        52,
        "これからは請求書を毎月最初の営業日に発行してください。会議は火曜日の午前十時に変更になりました。本番のデータベースにはPostgreSQLを使うことに決めました。",
    ),
    "a log": (
        145,
        "2026-05-12T09:14:33.120Z INFO  [worker-3] request_id=8f14e45f-ceea-467f-a6b2-91f2c1f7a9d1 "
        "GET /api/v1/orders/48213?expand=items 200 143ms\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/app/main.py", line 214, in handle\n'
        '    raise ValueError(f"bad value: {value!r}")\n'
        "ValueError: bad value: '0x7f3a'\n"
        "$ git push origin main --force-with-lease\n"
        "npm ERR! code ELIFECYCLE errno 1\n",
    ),
    "JSON": (
        200,
        json.dumps(
            [
                {
                    "op": "replace",
                    "document": "MEMORY.md",
                    "replaces": ["e3"],
                    "text": "Deploys happen on Tuesdays.",
                    "evidence": [{"session": "s1", "turn": 4, "words": "we deploy on Tuesdays now"}],
                    "certainty": "sure",
                }
            ]
            * 3
        ),
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_estimate_is_within_a_fifth(name: str) -> None:
    counted, text = SAMPLES[name]
    assert counted * 0.8 <= estimate_tokens(text) <= counted * 1.2


def test_nothing_is_nothing_and_twice_as_much_is_twice_as_much() -> None:
    _, text = SAMPLES["English"]
    assert estimate_tokens("") == 0
    assert estimate_tokens(text * 10) == pytest.approx(10 * estimate_tokens(text), rel=0.02)
