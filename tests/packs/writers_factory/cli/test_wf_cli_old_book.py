"""A book of the version before opens, verifies and goes on, with what its writer accepted."""

import asyncio
import json
from pathlib import Path
from typing import Any

from wf_cli_book import Book

from callboard.cli import exits
from callboard.packs.writers_factory.model import PACK
from callboard.store.connection import Connection
from callboard.studio.database import open_database
from callboard.studio.project import Project

# As the version before stored them: digests for names, and one shape for each of five places.
OLD: dict[str, dict[str, Any]] = {
    "health_judgement": {
        "check": "C2_theme_resonance",
        "content_hash": "0" * 64,
        "model": "script:staff.json",
        "answer": {"score": 7.0, "quote": "She thought of the truth"},
    },
    "scene_verdict": {"verdict": {"issues": []}, "model": "script:staff.json"},
    "rules_verdict": {"verdict": {"breaches": []}, "model": "script:staff.json"},
    "rule_verdict": {"verdict": "compatible", "existing_quote": "", "proposed_quote": ""},
    "template_judgements": {
        "held": [
            {
                "check": "flaw",
                "digest": "1" * 64,
                "model": "script:staff.json",
                "passed": False,
                "reason": "Too mild.",
                "quote": "",
                "accepted": True,
            }
        ]
    },
}


def make_old(root: Path) -> None:
    """Give a book the judgements and the number of the version before."""

    def work(connection: Connection) -> None:
        for kind, body in OLD.items():
            name = "protagonist" if kind == "template_judgements" else "f" * 64
            connection.execute(
                "INSERT OR REPLACE INTO records VALUES (:pack, :kind, :name, :body, 1, 1)",
                {"pack": PACK, "kind": kind, "name": name, "body": json.dumps(body)},
            )
        connection.execute("DELETE FROM records WHERE kind = 'answer'")
        connection.execute("UPDATE meta SET value = '3' WHERE key = 'schema_version'")

    database = open_database(Project(root))
    try:
        asyncio.run(database.write(work))
    finally:
        database.close()


def kept(root: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the bodies of a book's records by their kinds."""

    def read(connection: Connection) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for row in connection.execute("SELECT kind, body FROM records"):
            found.setdefault(str(row["kind"]), []).append(json.loads(row["body"]))
        return found

    database = open_database(Project(root))
    try:
        return database.read(read)
    finally:
        database.close()


def test_a_book_of_the_version_before_opens_verifies_and_goes_on(drafted: Book) -> None:
    make_old(drafted.root)
    assert drafted.call("receipts", "verify").code == exits.OK
    found = drafted("analyze", "ch1-sc1", "--json").result
    assert found["judged_by"] == "script:staff.json"
    assert drafted.call("receipts", "verify").code == exits.OK
    records = kept(drafted.root)
    assert not OLD.keys() - {"template_judgements"} & records.keys()
    (accepted,) = [
        each
        for body in records["template_judgements"]
        for each in body["held"]
        if each["reason"] == "Too mild."
    ]
    assert accepted["accepted"]
    (answer,) = [each for each in records["answer"] if each["prompt"] == "revision/judge_scene"]
    assert answer["answer"]["continuity"]["score"] == 8
