"""A novel at the command line: what its writer types, and a staff that answers from a file."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callboard.cli import exits
from callboard.packs.writers_factory.revision import Category
from callboard.packs.writers_factory.voice import DIMENSIONS

FIELDS = {
    "fatal_flaw": "Ines decides for others out of pride",
    "the_lie": "Nobody can be trusted with the truth",
    "arc_start": "She rules the harbour alone",
    "arc_midpoint": "She wins the vote alone",
    "arc_resolution": "She gives up her pride and lets others decide",
}
VERBS = (
    *("sees", "hears", "fears", "loses", "doubts", "leaves", "loves", "mocks"),
    *("wins", "fails", "buries", "mourns", "faces", "beats", "forgives"),
)
RULES = ("No ship may leave at night", "A debt must be paid in salt", "Only the council votes")
PASSES = ("structure", "voice", "prose", "character", "continuity", "polish")
PHRASE = "Ines put the brass key on the table with surgical precision."
SCENE = (
    "Ines put the brass key on the table. The council looked at the flood marks on the wall.\n\n"
    "She counted the votes twice, and the votes came out wrong, and she wrote them down right.\n\n"
    "Outside the bell of the harbour rang for nobody. She thought of the truth and kept it."
)


def passage() -> str:
    """Return prose of the length a tournament asks for."""
    lines = [
        f"Rain fell on the quay, and Ines counted the boats a {number}. time."
        for number in range(37)
    ]
    return " ".join(lines)


def _grades() -> dict[str, Any]:
    grade = {"score": 8, "quote": "The council looked at the flood marks", "reason": "it holds"}
    return {**{each.value: grade for each in Category}, "issues": []}


def _description() -> dict[str, Any]:
    act = {
        "voice_state": "guarded",
        "sentence_rhythm": "Short.",
        "metaphor_domains": ["salt"],
        "can_admit": "Nothing.",
    }
    return {
        "metaphor_domains": ["salt"],
        "do": [{"advice": "Open on weather", "quote": "Rain fell on the quay"}],
        "avoid": [],
        **{f"act_{name}": act for name in ("1", "2a", "2b", "3")},
    }


def staff_lines(*first: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a staff answers to everything a book needs; the given lines come first."""
    score = {
        name: {"score": int(most * 0.8), "quote": "Rain fell on the quay", "reason": "it holds"}
        for name, most in DIMENSIONS.items()
    }
    scaffold = {
        "characters_present": ["Ines"],
        "pov_character": "Ines",
        "location": "Harbour office",
        "time_of_day": "dusk",
        "weather": "rain",
        "protagonist_constraint": "She may not ask for help.",
        "scene_goal": "Ines wants the vote and wins it by a lie.",
        "conflict": "The council knows the ledger.",
        "outcome": "She wins and is bound by it.",
        "emotional_note": "brittle",
    }
    plain = "Ines put the brass key on the table."
    fix = {"issue": 1, "old_text": PHRASE, "new_text": plain, "reason": "stock"}
    scene = {"tension": 7, "challenge": {"type": "none", "intensity": 1, "quote": ""}}
    answers: dict[str, Any] = {
        "tournament_passage": passage(),
        "judge_passage": score,
        "voice_bundle": _description(),
        "scene_scaffold": scaffold,
        "scene_variant": f'<content_update target="ch1-sc1">\n{SCENE}\n</content_update>',
        "revision/judge_scene": _grades(),
        "revision/fix_issues": {"fixes": [fix]},
        **dict.fromkeys((f"revision/pass_{name}" for name in PASSES), "She waited."),
        "health/scene": scene,
        "memory/extract": {"nodes": [], "edges": []},
        "memory/notebook_answer": {
            "answer": "The lamp turns every ten seconds.",
            "citations": [{"passage": 1, "quote": "turns every ten seconds"}],
        },
    }
    lines = [
        {"prompt_type": kind, "times": "always", "text" if isinstance(told, str) else "json": told}
        for kind, told in answers.items()
    ]
    return [*first, *lines]


@dataclass(frozen=True)
class Ended:
    """How a call of the command line ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def result(self) -> Any:
        """The result of the run a command with `--json` followed."""
        return json.loads(self.out.splitlines()[-1])["run"]["result"]


# Commands that change something whenever they succeed; others do with some options.
CHANGES = frozenset(
    {
        *("new", "chat", "complete", "reopen", "export", "decide", "forget", "consolidate"),
        *("tournament", "winner", "bundle", "lock", "approve", "write", "select", "hybrid"),
        *("accept", "analyze", "waive", "enhance", "edit", "undo", "audit", "voice-report"),
        *("health", "theme", "correct", "cast"),
    }
)


@dataclass(frozen=True)
class Book:
    """A book in a folder, and the command line in it."""

    root: Path
    call: Callable[..., Ended]

    def __call__(self, *words: str, code: int = 0) -> Ended:
        """Call `callboard factory …` and expect an exit code, and a receipt of what it changed."""
        before = self.receipts()
        ended = self.call("factory", *words)
        assert ended.code == code, (words, ended.code, ended.out[-2000:], ended.err[-2000:])
        is_change = words[0] in CHANGES or words[:2] in (("notebook", "add"), ("graph", "export"))
        if code == exits.OK and is_change and not {"--help", "--dry-run"} & set(words):
            assert self.receipts() > before, f"{words} left no receipt"
        return ended

    def receipts(self) -> int:
        """Return how many receipts the project has."""
        path = self.root / ".callboard" / "callboard.db"
        if not path.exists():
            return 0
        with closing(sqlite3.connect(path)) as database:
            return int(database.execute("SELECT count(*) FROM receipts").fetchone()[0])

    def script(self, *first: dict[str, Any]) -> None:
        """Let the staff answer anew, these lines first."""
        (self.root / "staff.json").write_text(json.dumps({"replies": staff_lines(*first)}))

    def lay_foundation(self) -> None:
        """Fill all four templates."""
        fields = [word for name, text in FIELDS.items() for word in ("--set", f"{name}={text}")]
        self("template", "protagonist", *fields)
        beats = [
            word
            for number, verb in enumerate(VERBS, start=1)
            for word in ("--beat", f"{number}=Ines meets turn {number} and {verb} the council.")
        ]
        self("template", "beat_sheet", *beats, "--set", "midpoint_type=false_victory")
        claim = "Truth kept from others costs more than truth told to them"
        self("template", "theme", "--set", "theme=truth", "--set", f"theme_statement={claim}")
        self("template", "world_rules", *(word for rule in RULES for word in ("--rule", rule)))

    def find_voice(self) -> None:
        """Hold a tournament, choose, make the bundle and lock it."""
        self("mode", "VOICE_CALIBRATION")
        self("tournament", "--prompt", "Ines waits at the quay.", "--strategies", "ACTION,BALANCED")
        self("winner", "a", "--notes", "It is dry.")
        self("bundle")
        self("lock")

    def plan(self) -> None:
        """Take an outline of two scenes."""
        self("mode", "DIRECTOR")
        scenes = [
            {"chapter": 1, "scene": number, "title": f"Vote {number}", "beat_number": number}
            for number in (1, 2)
        ]
        target = {"word_target": 50}
        (self.root / "outline.json").write_text(json.dumps([{**s, **target} for s in scenes]))
        self("outline", "--from", "outline.json")

    def insist(self, mode: str) -> None:
        """Go on to a mode whose gate is closed."""
        self("mode", mode, code=exits.CONFLICT)
        self("mode", mode, "--override", "--risk", "none")

    def draft(self) -> None:
        """Bring the first scene so far that it has a text."""
        self.lay_foundation()
        self.find_voice()
        self.plan()
        self("scaffold", "1", "1")
        self("approve", "ch1-sc1")
        self("write", "ch1-sc1", "--strategies", "balanced")
        self("select", "ch1-sc1", "balanced")
