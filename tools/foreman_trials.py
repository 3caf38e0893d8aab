"""Scores how the Foreman reads messages where code leads the turn, over a file of trials.

A trial is a line of JSON: `question`, `field`, `message`, `expect` (`answer`, `ask` or
`not_answer`) and, for an answer, `value`. `--wrong` lists what came out otherwise.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from callboard.library.story.text import content_stems
from callboard.packs.writers_factory.foreman.hearing import MessageKind, read_message

# What trials call a field, where the Story Bible calls it otherwise.
FIELDS = {"protagonist_name": "name", "theme": "theme_statement", "world_rule": "fundamental_rules"}
TRAITS = {"goal": "fatal_flaw", "cast_function": "fatal_flaw", "cast_member": "fatal_flaw"}
# The value of a trial is a stranger's short wording: roots of words are compared, and half will do.
SHARE = 0.5
ROOT_LETTERS = 5


def main() -> int:
    """Read a file of trials and print the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--wrong", action="store_true", help="list what came out otherwise")
    given = parser.parse_args()
    trials = [json.loads(line) for line in given.file.read_text("utf-8").splitlines() if line]
    if not trials:
        print(f"{given.file}: no trial", file=sys.stderr)
        return 1
    table: Counter[tuple[str, str]] = Counter()
    for trial in trials:
        outcome, value, kind = outcome_of(trial)
        table[trial["expect"], outcome] += 1
        if given.wrong and outcome not in _GOOD[trial["expect"]]:
            print(
                f"{trial['expect']:10} {outcome:8} {kind:10} {trial['field']}: "
                f"{trial['message']!r} -> {value!r} ({trial.get('value', '')!r})"
            )
    for expect, good in _GOOD.items():
        rows = {outcome: n for (wanted, outcome), n in table.items() if wanted == expect}
        total = sum(rows.values())
        right = sum(rows.get(outcome, 0) for outcome in good)
        told = ", ".join(f"{name} {n}" for name, n in sorted(rows.items()))
        print(f"{expect}: {right} of {total} well ({told})")
    return 0


_GOOD = {
    "answer": ("filed", "asked"),
    "ask": ("asked", "filed"),
    "not_answer": ("left", "asked"),
}


def outcome_of(trial: dict[str, Any]) -> tuple[str, str, str]:
    """Return what became of a message: filed, misfiled, asked or left alone."""
    name = str(trial["field"])
    field = FIELDS.get(name) or TRAITS.get(name) or name
    read = read_message(trial["message"], field)
    if read.kind is MessageKind.MAYBE:
        return "asked", read.value, read.kind.value
    if read.kind in (MessageKind.PREFERENCE, MessageKind.CORRECTION):
        return "misfiled", trial["message"], read.kind.value
    if read.kind is not MessageKind.ANSWER:
        return "left", "", read.kind.value
    wanted, told = (roots(str(each)) for each in (trial.get("value") or "", read.value))
    share = len(wanted & told) / len(wanted) if wanted else 1.0
    return ("filed" if share >= SHARE else "misfiled"), read.value, read.kind.value


def roots(text: str) -> frozenset[str]:
    """Return how the words of a text begin."""
    return frozenset(word[:ROOT_LETTERS] for word in content_stems(text.replace("-", " ")))


if __name__ == "__main__":
    sys.exit(main())
