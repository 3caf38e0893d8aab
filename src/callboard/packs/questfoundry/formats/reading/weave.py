"""Weave: the lines of a knot of Ink, read one by one for what a book can say."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.packs.questfoundry.book.model import KeyChange, KeyTest, SectionKind, StoryChoice
from callboard.packs.questfoundry.formats.prose import one_line

SET: Final = re.compile(r"~[ \t]*(\w+)[ \t]*=[ \t]*(true|false)")
DECLARED: Final = re.compile(r"(?:VAR|CONST|LIST|INCLUDE|EXTERNAL)\b")
_CHOICE: Final = re.compile(r"([*+](?:[ \t]*[*+])*)[ \t]*")
_GUARD: Final = re.compile(r"\{([^{}\n]*)\}[ \t]*")
_DIVERT: Final = re.compile(r"(?<!\\)->[ \t]*([\w.]+)")
ONLY_DIVERT: Final = re.compile(r"->[ \t]*([\w.]+)[ \t]*")
_AND: Final = re.compile(r"&&|\band\b")
_TEST: Final = re.compile(r"(not[ \t]+|![ \t]*)?(\w+)")
_ALL_NOT: Final = re.compile(r"not[ \t]*\(([^()]*)\)")
TAG: Final = re.compile(r"#[ \t]*(?:(\w+)[ \t]*:)?[ \t]*(.*)")
LIVE: Final = re.compile(r"(?<!\\)(?:[{}#|]|->|<-|<>|//|/\*)")
ESCAPE: Final = re.compile(r"\\(.)")
ENDS: Final = ("END", "DONE")


@dataclass
class KnotDraft:
    """A section being read; `strange` says what the book has no word for."""

    place: str
    strange: str = ""
    heading: str = ""
    kind: SectionKind | None = None
    keystone: bool = False
    tags: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    changes: list[KeyChange] = field(default_factory=list[KeyChange])
    ways: list[StoryChoice] = field(default_factory=list[StoryChoice])
    refusals: list[tuple[str, tuple[KeyTest, ...], str]] = field(
        default_factory=list[tuple[str, tuple[KeyTest, ...], str]]
    )
    ends: bool = False
    # The ways, by their numbers, that are offered once.
    once: set[int] = field(default_factory=set[int])


def draft_of(
    name: str, lines: Sequence[str], known: frozenset[str], goal: Callable[[str], str], knot: str
) -> KnotDraft:
    """Read the lines of a knot or a stitch."""
    reader = _KnotReader(KnotDraft(name), known, goal, knot)
    for line in lines:
        reader.read(line.strip())
    return reader.finished()


class _KnotReader:
    """Goes through a knot line by line; what is beyond a book makes the knot strange."""

    def __init__(
        self, draft: KnotDraft, known: frozenset[str], goal: Callable[[str], str], knot: str
    ) -> None:
        self.draft = draft
        self.known = known
        self.goal = goal
        self.knot = knot
        self.choice: StoryChoice | None = None
        self.told: list[str] = []
        self.refused: tuple[KeyTest, ...] = ()
        self.is_closed = False

    def strange(self, why: str) -> None:
        self.draft.strange = self.draft.strange or why

    def read(self, line: str) -> None:
        if not line:
            if self.choice is None and self.draft.lines and self.draft.lines[-1]:
                self.draft.lines.append("")
            return
        if self.is_closed and not _CHOICE.match(line):
            self.strange("words after a divert")
        if found := _CHOICE.match(line):
            self.close()
            self.open(found[1], line[found.end() :])
        elif change := SET.fullmatch(line):
            self.change(change)
        elif self.choice is None and line.startswith("#"):
            self.tag(line)
        elif divert := ONLY_DIVERT.fullmatch(line):
            self.divert(divert[1])
        else:
            self.words(line)

    def change(self, found: re.Match[str]) -> None:
        if found[1] not in self.known:
            self.strange("a variable that is no key")
            return
        change = KeyChange("set" if found[2] == "true" else "clear", found[1])
        if self.choice is not None:
            if self.told:
                self.strange("a change after words")
            self.choice = replace(self.choice, effects=(*self.choice.effects, change))
        else:
            if self.draft.lines:
                self.strange("a change after words")
            self.draft.changes.append(change)

    def tag(self, line: str) -> None:
        found = TAG.fullmatch(line)
        name, value = (found[1] or "", found[2]) if found else ("", "")
        value, draft = ESCAPE.sub(r"\1", value), self.draft
        if draft.lines or draft.changes or LIVE.search(found[2] if found else ""):
            self.strange("a tag")
        elif name == "title" and not draft.heading and value:
            draft.heading = value
        elif name == "kind" and value in list(SectionKind) and draft.kind is None:
            draft.kind = SectionKind(value)
        elif name == "tag" and value:
            draft.tags.append(value)
        elif not name and value == "keystone" and not draft.keystone:
            draft.keystone = True
        else:
            self.strange("a tag")

    def divert(self, name: str) -> None:
        if self.choice is not None:
            if self.choice.to:
                self.strange("more than one divert")
            else:
                self.choice = replace(self.choice, to=self.goal(name))
            self.close()
        elif name in ENDS:
            self.draft.ends = True
        else:
            self.strange("a divert without a choice")
            self.way(name)
        self.is_closed = True

    def way(self, name: str) -> None:
        if name not in ENDS:
            goal = self.goal(name)
            self.draft.ways.append(StoryChoice("", "…", goal))

    def words(self, line: str) -> None:
        diverts = [found[1] for found in _DIVERT.finditer(line)]
        if self.choice is not None:
            self.told.append(line)
            goals = [self.goal(each) for each in diverts if each not in ENDS]
            if goals and not self.choice.to:
                self.choice = replace(self.choice, to=goals[0])
                self.strange("a divert within words")
            return
        if LIVE.search(line) or line[0] in "-~=" or DECLARED.match(line):
            self.strange("more than plain words")
            for name in diverts:
                self.way(name)
            self.draft.lines.append(line)
        else:
            self.draft.lines.append(ESCAPE.sub(r"\1", line))

    def open(self, bullets: str, rest: str) -> None:
        self.is_closed = False
        if bullets != "+":
            self.strange("choices that are offered once, or within others")
        tests: tuple[KeyTest, ...] = ()
        refused: tuple[KeyTest, ...] = ()
        while found := _GUARD.match(rest):
            rest = rest[found.end() :]
            own, against = self.tests(found[1])
            tests, refused = (*tests, *own), (*refused, *against)
        if rest.startswith("->") and not tests and not refused:
            target = ONLY_DIVERT.fullmatch(rest)
            self.draft.ends = True
            if target is None or target[1] not in ENDS:
                self.strange("a choice without words")
            return
        end = bracket_end(rest)
        is_plain = rest.startswith("[") and end > 0
        label = rest[1:end] if is_plain else rest.partition("->")[0]
        after = rest[end + 1 :] if is_plain else "->".join(rest.partition("->")[1:])
        if not is_plain or LIVE.search(label):
            self.strange("a choice of more than plain words")
            label = label.replace("[", "").replace("]", "")
        self.choice = StoryChoice("", one_line(ESCAPE.sub(r"\1", label)), "", tests)
        self.told = []
        self.refused = refused
        if after.strip():
            found = ONLY_DIVERT.fullmatch(after.strip())
            if found:
                self.divert(found[1])
            else:
                self.strange("words behind a choice")
                self.words(after.strip())

    def tests(self, told: str) -> tuple[tuple[KeyTest, ...], tuple[KeyTest, ...]]:
        """Return what a guard asks for, or all of what it asks not to hold together."""
        whole = _ALL_NOT.fullmatch(told.strip())
        tests = tests_in(whole[1] if whole else told, self.known)
        if tests is None:
            self.strange("a condition that is no key")
            return (), ()
        return ((), tests) if whole else (tests, ())

    def close(self) -> None:
        choice, self.choice = self.choice, None
        if choice is None:
            return
        here = f"{self.knot}.choices"
        if choice.to in (here, "choices") and len(choice.requires) == 1 and not self.refused:
            only = choice.requires[0]
            self.refused = (KeyTest(only.key, not only.negated),)
            choice = replace(choice, requires=())
        if choice.to in (here, "choices") and self.refused and not choice.requires:
            if not self.draft.ways or choice.effects or len(self.told) != 1:
                self.strange("a refusal of another form")
            elif LIVE.search(self.told[0]):
                self.strange("more than plain words")
            said = ESCAPE.sub(r"\1", " ".join(self.told))
            self.draft.refusals.append((choice.label, self.refused, said))
            self.join()
            return
        if self.told or self.refused:
            self.strange("words behind a choice")
        if choice.to in ENDS or not choice.to:
            self.strange("a choice that ends the story")
            return
        self.draft.ways.append(choice)

    def join(self) -> None:
        """Make the choice before a refusal one with a gateway."""
        label, tests, said = self.draft.refusals[-1]
        last = self.draft.ways[-1] if self.draft.ways else None
        if last is None or last.label != label or last.requires != tests or last.gateway:
            self.strange("a refusal of another form")
            return
        self.draft.ways[-1] = replace(last, gateway=said)

    def finished(self) -> KnotDraft:
        self.close()
        while self.draft.lines and not self.draft.lines[-1]:
            self.draft.lines.pop()
        return self.draft


def tests_in(told: str, known: frozenset[str]) -> tuple[KeyTest, ...] | None:
    """Return what a guard asks for; None if it asks for anything but keys that are known."""
    tests: list[KeyTest] = []
    for part in _AND.split(told):
        found = _TEST.fullmatch(part.strip())
        if found is None or found[2] not in known:
            return None
        tests.append(KeyTest(found[2], bool(found[1])))
    return tuple(tests)


def bracket_end(text: str) -> int:
    """Return where the first bracket closes that is not escaped."""
    at = 0
    while at < len(text) and text[at] != "]":
        at += 2 if text[at] == "\\" else 1
    return at if at < len(text) else -1
