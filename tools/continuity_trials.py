"""Scores the continuity report on trials: planted contradictions, decoys, deaths and people.

A folder of trials holds `contradictions.jsonl`, `decoys.jsonl`, `deaths.txt` and `persons.jsonl`;
beside it stands `books/` with the unchanged books. A case is an edit of one book that plants one
contradiction; it is found when a finding quotes the planted words. Everything else that is reported
is a false alarm: a new finding elsewhere, one on a decoy, one on an unchanged book.
"""

import argparse
import json
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.library.story.facts.claims import Attribute
from callboard.library.story.facts.comparison import Gathering
from callboard.library.story.index import StoryIndex
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.pairs.pairing import Pairs
from callboard.library.story.pairs.passages import Statement
from callboard.library.story.thresholds import bundled_thresholds
from callboard.library.story.tools.consistency.continuity import check_continuity, check_of
from callboard.studio.settings_files import PackSettingsRead
from callboard.tools import ProjectFiles, ToolContext

# Whether "today" and "to-day" are both right is a question of style, not of continuity.
NOT_COUNTED = "Terminology"
_ALL = 10**9
# How many pairs of a book may be judged: the figures recall is given for.
_BUDGETS = (100, 300, 800, _ALL)


@dataclass
class Score:
    """What was found of one kind."""

    cases: int = 0
    found: int = 0
    missed: list[str] = field(default_factory=list[str])


def gathering_of(text: str, folder: Path) -> Gathering:
    """Read one passage as if it were a book in which a name needs to stand once."""
    (folder / "scenes").mkdir()
    (folder / "scenes" / "passage.md").write_text(f"# Scene 1\n\n{text}\n", "utf-8")
    limits = bundled_thresholds()
    names = limits.names.model_copy(update={"min_occurrences": 1, "min_inside_sentence": 0})
    read = PackSettingsRead(limits.model_copy(update={"names": names}))
    index = StoryIndex.from_files(ProjectFiles(folder), limits=read)
    return Gathering(index, len(text) * 2, [index.document(index.scenes[0].path)])


def deaths_in(text: str) -> list[str]:
    """Return who a passage says to be dead."""
    with tempfile.TemporaryDirectory() as folder:
        gathering = gathering_of(text, Path(folder))
        document = gathering.index.document(gathering.index.scenes[0].path)
        claims = gathering.prose_claims(document)
        return [claim.entity for claim in claims if claim.attribute is Attribute.DEATH]


def people_in(text: str) -> dict[str, str]:
    """Return who is meant by each name of a passage."""
    with tempfile.TemporaryDirectory() as folder:
        entities = gathering_of(text, Path(folder)).index.entities
        return {alias: entity.name for entity in entities for alias in entity.aliases}


class Desk:
    """A copy of one book on which one case after the other is tried."""

    def __init__(self, book: Path, folder: Path) -> None:
        """Copy the book; what does not change between two cases is not read again."""
        self._book = book
        self._copy = folder / book.name
        shutil.copytree(book, self._copy)
        self._context = ToolContext(ProjectFiles(self._copy, folder / f".{book.name}"), "trial")

    def findings(self, edits: list[dict[str, Any]]) -> list[StoryFinding]:
        """Return the contradictions reported with the edits of a case, and undo them."""
        self._edit(edits)
        report = check_continuity(self._context)
        self._undo(edits)
        return [
            each
            for each in report.all_findings
            if each.type != NOT_COUNTED and each.severity is not Severity.INFO
        ]

    def pairs(self, edits: list[dict[str, Any]]) -> Pairs:
        """Return every pair of passages a judge could be asked about with the edits of a case."""
        self._edit(edits)
        found = check_of(self._context).pairs(_ALL)
        self._undo(edits)
        return found

    def _edit(self, edits: list[dict[str, Any]]) -> None:
        for edit in edits:
            path = self._copy / edit["file"]
            text = path.read_text("utf-8")
            if "after" in edit:
                text = text.replace(edit["after"], _joined(edit["after"], edit["insert"]), 1)
            else:
                text = text.replace(edit["replace"], edit["with"], 1)
            path.write_text(text, "utf-8")

    def _undo(self, edits: list[dict[str, Any]]) -> None:
        for edit in edits:
            shutil.copy(self._book / edit["file"], self._copy / edit["file"])


def _joined(before: str, inserted: str) -> str:
    return before + inserted if inserted[:1].isspace() else f"{before} {inserted}"


def cases_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the cases of a file, if it is there."""
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


def plain(text: str) -> str:
    """Return a text in which only its words count."""
    return " ".join("".join(c.lower() if c.isalnum() else " " for c in text).split())


def quotes(finding: StoryFinding, case: dict[str, Any]) -> bool:
    """Say whether a finding quotes what a case planted."""
    planted = [plain(edit.get("insert", edit.get("with", ""))) for edit in case["edits"]]
    places = [plain(case["conflict"][side]["quote"]) for side in ("here", "there")]
    for quote in finding.quotes:
        told = plain(quote.text)
        if any(told in text or text in told for text in places if text):
            return True
        if any(text and told in text for text in planted):
            return True
    return False


def rank_of(pairs: Pairs, case: dict[str, Any]) -> int | None:
    """Return at which place a pair shows both sides of a planted contradiction, from 0 on."""
    here, there = (plain(case["conflict"][side]["quote"]) for side in ("here", "there"))
    shown: dict[int, str] = {}

    def has(passage: Statement, words: str) -> bool:
        if id(passage) not in shown:
            shown[id(passage)] = plain(passage.shown)
        return words in shown[id(passage)] or plain(passage.quote.text) in words

    for rank, pair in enumerate(pairs.chosen):
        sides = ((pair.first, pair.second), (pair.second, pair.first))
        if any(has(one, here) and has(other, there) for one, other in sides):
            return rank
    return None


class Trials:
    """The trials of one folder."""

    def __init__(self, folder: Path, show: bool) -> None:
        """Take the folder; `books` stands beside it."""
        self.folder = folder
        self.books = folder.parent / "books"
        self.show = show
        self.known: dict[str, set[tuple[str, ...]]] = {}
        self._folder = tempfile.TemporaryDirectory()
        self._desks: dict[str, Desk] = {}
        self.kinds: dict[str, Score] = defaultdict(Score)
        self.right = 0
        self.wrong: Counter[str] = Counter()

    def run(self) -> None:
        """Run everything and print the tables."""
        for book in sorted(path.name for path in self.books.iterdir() if path.is_dir()):
            self._desk(book)
        for case in cases_in(self.folder / "contradictions.jsonl"):
            self._contradiction(case)
        for case in cases_in(self.folder / "decoys.jsonl"):
            for finding in self._new(case):
                self._alarm("on decoys", case["id"], finding)
        self._print()
        self._deaths()
        self._people()

    def run_pairs(self) -> None:
        """Print how many planted contradictions are among the pairs, by how many may be judged."""
        held: dict[str, Counter[int]] = defaultdict(Counter)
        cases: Counter[str] = Counter()
        made = 0
        for case in cases_in(self.folder / "contradictions.jsonl"):
            book = case["book"]
            if book not in self._desks:
                self._desks[book] = Desk(self.books / book, Path(self._folder.name))
            pairs = self._desks[book].pairs(case["edits"])
            rank = rank_of(pairs, case)
            made += len(pairs.chosen)
            for kind in (case["kind"], "all"):
                cases[kind] += 1
                held[kind].update(most for most in _BUDGETS if rank is not None and rank < most)
        print("pairs that show both sides, of the first", ", ".join(map(str, _BUDGETS[:-1])), "all")
        for kind in sorted(cases):
            print(f"{kind:12} {cases[kind]:4}", *(held[kind][most] for most in _BUDGETS))
        print(f"pairs of a book, on average: {made // max(1, cases['all'])}")

    def _desk(self, book: str) -> Desk:
        if book not in self._desks:
            self._desks[book] = Desk(self.books / book, Path(self._folder.name))
            found = self._desks[book].findings([])
            for finding in found:
                self._alarm("on unchanged books", book, finding)
            self.known[book] = {_key(finding) for finding in found}
        return self._desks[book]

    def _new(self, case: dict[str, Any]) -> list[StoryFinding]:
        found = self._desk(case["book"]).findings(case["edits"])
        return [each for each in found if _key(each) not in self.known[case["book"]]]

    def _contradiction(self, case: dict[str, Any]) -> None:
        score = self.kinds[case["kind"]]
        score.cases += 1
        is_found = False
        for finding in self._new(case):
            if quotes(finding, case):
                is_found = True
                self.right += 1
                if self.show:
                    print(f"FOUND {case['id']}: {finding.message}")
            else:
                self._alarm("beside planted ones", case["id"], finding)
        score.found += is_found
        if not is_found:
            score.missed.append(case["id"])

    def _alarm(self, where: str, what: str, finding: StoryFinding) -> None:
        self.wrong[where] += 1
        if self.show:
            print(f"FALSE {where} {what}: {finding.message}")
            for quote in finding.quotes:
                print(f"    {quote.path}:{quote.line_start} {' '.join(quote.text.split())[:200]}")

    def _print(self) -> None:
        print("\n| kind | planted | found |\n|---|---|---|")
        for kind, score in sorted(self.kinds.items()):
            print(f"| {kind} | {score.cases} | {score.found} |")
            if self.show:
                print(f"    missed: {', '.join(sorted(score.missed))}")
        cases = sum(score.cases for score in self.kinds.values())
        found = sum(score.found for score in self.kinds.values())
        alarms = sum(self.wrong.values())
        precision = self.right / max(1, self.right + alarms)
        print(f"| all | {cases} | {found} |")
        print(f"recall {found / max(1, cases):.2f}, precision {precision:.2f}")
        print(f"right findings {self.right}, false alarms {alarms}: {dict(self.wrong)}")

    def _deaths(self) -> None:
        path = self.folder / "deaths.txt"
        if not path.exists():
            return
        counts: Counter[tuple[str, bool]] = Counter()
        for line in path.read_text("utf-8").splitlines():
            if line[:2] in ("+ ", "- "):
                told = bool(deaths_in(line[2:]))
                counts[line[0], told] += 1
                if self.show and told != (line[0] == "+"):
                    print(f"DEATH {line}")
        print(
            f"deaths: {counts['+', True]} of {counts['+', True] + counts['+', False]} told,"
            f" {counts['-', True]} of {counts['-', True] + counts['-', False]} others taken for one"
        )

    def _people(self) -> None:
        together = apart = wrong = missing = exact = 0
        passages = list(cases_in(self.folder / "persons.jsonl"))
        for case in passages:
            owner = people_in(case["text"])
            groups: list[list[str]] = case["people"]
            of = {name: number for number, group in enumerate(groups) for name in group}
            is_right = True
            names = list(of)
            for at, one in enumerate(names):
                for other in names[at + 1 :]:
                    same = owner.get(one) is not None and owner.get(one) == owner.get(other)
                    if of[one] == of[other]:
                        together += same
                        missing += not same
                        is_right &= same
                    else:
                        wrong += same
                        apart += not same
                        is_right &= not same
            exact += is_right
            if self.show and not is_right:
                print(
                    f"PEOPLE {case['text']}\n   {groups}\n   { {n: owner.get(n) for n in names} }"
                )
        if passages:
            print(
                f"people: {exact} of {len(passages)} passages right; of"
                f" {together + missing} pairs that"
                f" are one person {together} joined, of {wrong + apart} that are two {wrong} joined"
            )


def _key(finding: StoryFinding) -> tuple[str, ...]:
    return (finding.type, *(plain(quote.text) for quote in finding.quotes))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--show", action="store_true", help="name what was missed and what is wrong"
    )
    parser.add_argument(
        "--pairs", action="store_true", help="score what a judge would be asked, not the rules"
    )
    given = parser.parse_args()
    trials = Trials(given.folder.resolve(), given.show)
    trials.run_pairs() if given.pairs else trials.run()
