"""`proofreader`: what code holds against a text before it is written into the project.

The text is looked at as if it stood in its file already, by the very checks that would look at it
afterwards. What no check has looked at is told as not checked, never as fine.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from pydantic import Field

from callboard.core.canonical import Json, digest_bytes
from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.index.files import ParsedFile, ParsedFiles, ParsedTexts
from callboard.library.story.index.metadata import describe
from callboard.library.story.model import FileKind, Severity, StoryFinding
from callboard.library.story.text import Document
from callboard.library.story.thresholds import Thresholds, thresholds
from callboard.library.story.tools.canon.tool import cards_for, check_scene, kept_small_words
from callboard.library.story.tools.consistency.tool import ConsistencyCheck
from callboard.library.story.tools.draft.checks import Mark
from callboard.library.story.tools.draft.tool import SceneDraftValidatorArgs, validate_draft
from callboard.library.story.tools.report import ToolReport, counted, finish, in_order, make_finding
from callboard.tools import Kept, ToolArgs, ToolContext, ToolResult, tool

TOOL: Final = "proofreader"
PASS: Final = "PASS"  # noqa: S105 - a verdict, no password
FAIL: Final = "FAIL"
NOT_CHECKED: Final = "NOT_CHECKED"

_FILES, _INDEX = "story files", "story index"
_NEIGHBOURS: Final = 4
_MOST_SCENES: Final = 9
_MOST_CHARS: Final = 2_000_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ProofCheck:
    """One look at a text: what it was, what it found, or why nobody could look."""

    name: str
    told: str
    findings: tuple[StoryFinding, ...] = ()
    reads: tuple[str, ...] = ()
    fails: bool = False
    was_made: bool = True

    @property
    def verdict(self) -> str:
        """The one word for it; only what is grave fails a text."""
        if not self.was_made:
            return NOT_CHECKED
        is_grave = any(each.severity is Severity.MAJOR for each in self.findings)
        return FAIL if self.fails or is_grave else PASS

    def to_json(self) -> dict[str, Json]:
        """Return the shape payloads hold."""
        return {"check": self.name, "verdict": self.verdict, "told": self.told}


@dataclass(frozen=True, slots=True)
class TextProof:
    """Everything that was looked at in a text."""

    path: str
    kind: FileKind
    checks: tuple[ProofCheck, ...]

    @property
    def verdict(self) -> str:
        """FAIL if one check fails; NOT_CHECKED if none could be made."""
        verdicts = {check.verdict for check in self.checks}
        if FAIL in verdicts:
            return FAIL
        return PASS if PASS in verdicts else NOT_CHECKED

    @property
    def findings(self) -> tuple[StoryFinding, ...]:
        """What was found, once each, the gravest first."""
        return in_order(finding for check in self.checks for finding in check.findings)


def prove_text(context: ToolContext, path: str, text: str) -> TextProof:
    """Look at a text as if it stood in a file of the project."""
    drafted = _drafted(context, path, text)
    index, limits = story_index(drafted), thresholds(drafted)
    kind = index.kind_of(path)
    if kind is FileKind.SCENE:
        document = index.document(path)
        return TextProof(
            path,
            kind,
            (
                _canon(drafted, index, limits, document),
                _draft(drafted, path),
                _neighbours(index, limits, document),
            ),
        )
    if kind is FileKind.CANON:
        return TextProof(path, kind, (_card(index, limits, path),))
    return TextProof(path, kind, (_unmade("text", f"nothing here judges a file like {path}"),))


def _canon(
    context: ToolContext, index: StoryIndex, limits: Thresholds, document: Document
) -> ProofCheck:
    cards = cards_for(index, document)
    if not document.is_english:
        return _unmade("canon", "the text is not English, and facts are read from English alone")
    if not cards:
        return _unmade("canon", "the text names nobody and nothing that has a card")
    check = check_scene(index, limits, document, cards, small_words_of=kept_small_words(context))
    told = f"{counted(len(check.findings), 'finding')} against {counted(len(cards), 'card')}"
    return ProofCheck("canon", told, check.findings, tuple(cards))


def _draft(context: ToolContext, path: str) -> ProofCheck:
    draft, checks, verdict = validate_draft(
        context, SceneDraftValidatorArgs.model_validate({"scene_path": path})
    )
    opening = tuple(draft.document.quote(each) for each in draft.document.sentences[:1])
    # What canon has against it is told by its own check.
    failed = [each for each in checks if each.mark is Mark.FAIL and each.name != "canon"]
    findings = tuple(
        make_finding(TOOL, check.name, Severity.MAJOR, check.message, check.quotes or opening)
        for check in failed
        if check.quotes or opening
    )
    told = "; ".join(each.message for each in failed).rstrip(".")
    return ProofCheck("draft", told or verdict, findings, fails=bool(failed))


def _neighbours(index: StoryIndex, limits: Thresholds, document: Document) -> ProofCheck:
    scenes = [scene.path for scene in index.scenes]
    at = scenes.index(document.path)
    near = scenes[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS + 1]
    if not document.is_english:
        return _unmade("neighbours", "the text is not English, and facts are read from it alone")
    if len(near) < 2:
        return _unmade("neighbours", "there is no other scene to compare with")
    return _compared("neighbours", index, limits, document.path, near)


def _card(index: StoryIndex, limits: Thresholds, path: str) -> ProofCheck:
    entity = next((each for each in index.card_entities if each.card == path), None)
    scenes = [
        scene.path
        for scene in index.scenes
        if entity is not None
        and any(alias in index.document(scene.path).prose for alias in entity.aliases)
    ]
    if not scenes:
        return _unmade("scenes", "no scene names what the card is about")
    # The last scenes know most of what has become of somebody.
    return _compared("scenes", index, limits, path, [*scenes[-_MOST_SCENES:], path])


def _compared(
    name: str, index: StoryIndex, limits: Thresholds, path: str, near: Sequence[str]
) -> ProofCheck:
    if sum(len(index.document(each).text) for each in near) > _MOST_CHARS:
        return _unmade(name, "the files around it are too long to be compared")
    found = ConsistencyCheck(index, limits, near).findings("general")
    # What others have against each other is not this text's doing.
    own = tuple(each for each in found if any(quote.path == path for quote in each.quotes))
    others = tuple(each for each in near if each != path)
    told = f"{counted(len(own), 'finding')} against {counted(len(others), 'scene')}"
    return ProofCheck(name, told, own, others)


def _unmade(name: str, why: str) -> ProofCheck:
    return ProofCheck(name, why, was_made=False)


class ProofreaderArgs(ToolArgs):
    """Which text is going to be which file."""

    path: str = Field(min_length=1, description="The file the text is meant for")
    text: str = Field(max_length=2_000_000)


@tool()
def proofreader(context: ToolContext, args: ProofreaderArgs) -> ToolResult:
    """Hold a text against canon, its outline beat and its neighbours before it is written."""
    path = context.files.resolve(args.path)
    proof = prove_text(context, path, args.text)
    index = story_index(context)
    reads = [each for check in proof.checks for each in check.reads if index.has(each)]
    told = "; ".join(f"{each.name}: {each.verdict} ({each.told})" for each in proof.checks)
    return finish(
        index,
        thresholds(context),
        ToolReport(
            tool=TOOL,
            preview=f"{proof.verdict} for {path}: {told}",
            payload={
                "path": path,
                "kind": proof.kind.value,
                "verdict": proof.verdict,
                "checks": [check.to_json() for check in proof.checks],
                "text_sha256": digest_bytes(args.text.encode("utf-8", "replace")),
            },
            reads=reads,
            findings=proof.findings,
            headline=f"{path}, before it is written: {proof.verdict}.",
            details=[f"- {each.verdict} {each.name}: {each.told}." for each in proof.checks],
        ),
    )


class _DraftedFiles(ParsedFiles):
    """The files of a project, one of them with another text than it has."""

    def __init__(self, own: ParsedFiles, path: str, text: str) -> None:
        super().__init__()
        self._own = own
        document = Document(path, text)
        sha256 = digest_bytes(text.encode("utf-8", "replace"))
        self._drafted = ParsedFile(document, describe(document, sha256))
        self._made: tuple[ParsedTexts, ParsedTexts] | None = None

    def refresh(self, files: object, largest_bytes: int) -> ParsedTexts:
        now = self._own.refresh(files, largest_bytes)  # pyright: ignore[reportArgumentType]
        if self._made is None or self._made[0] is not now:
            path = self._drafted.file.path
            problems = {name: told for name, told in now.problems.items() if name != path}
            self._made = (now, ParsedTexts({**now.parsed, path: self._drafted}, problems))
        return self._made[1]


class _DraftedKept(Kept):
    """What is kept of a project, but for what a text that is not written would change."""

    def __init__(self, own: Kept, files: ParsedFiles) -> None:
        super().__init__()
        self._shared = own
        super().get(_FILES, lambda: files)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        if key in (_FILES, _INDEX):
            return super().get(key, make)
        return self._shared.get(key, make)


def _drafted(context: ToolContext, path: str, text: str) -> ToolContext:
    """Return the context as it would be if a file had this text."""
    own = context.kept.get(_FILES, ParsedFiles)
    return replace(context, kept=_DraftedKept(context.kept, _DraftedFiles(own, path, text)))
