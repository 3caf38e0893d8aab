"""Threads: where a theme is heard, and whether what is planted is paid."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from callboard.library.story.model import Quote, Severity, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import stem, words_of
from callboard.library.story.thresholds import StakesThresholds
from callboard.library.story.tools.report import noticed
from callboard.library.story.tools.stems import TextVocabulary

Status = Literal["planted_and_paid", "planted_unpaid", "paid_unplanted", "absent"]


class Theme(BaseModel):
    """A theme to follow, with other words for it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str = Field(min_length=1)
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ThemePassage:
    """Where to listen: a whole document, or some lines of it."""

    document: Document
    lines: range | None = None

    def places(self) -> Iterator[tuple[Sentence | int, Sequence[str]]]:
        """Return the sentences, or the lines, with their words."""
        if self.lines is None:
            yield from ((sentence, sentence.words) for sentence in self.document.sentences)
        else:
            yield from ((line, words_of(self.document.lines[line - 1])) for line in self.lines)


@dataclass(frozen=True, slots=True)
class ThemeMention:
    """A scene that holds a theme: how often, and where first."""

    scene: int
    path: str
    times: int
    quote: Quote


@dataclass(frozen=True, slots=True)
class ThemeThread:
    """A theme through the story."""

    theme: str
    terms: tuple[str, ...]
    mentions: tuple[ThemeMention, ...]
    status: Status

    def to_json(self) -> dict[str, Any]:
        """Return the shape payloads hold; scenes are counted from 0."""
        return {
            "theme": self.theme,
            "terms": list(self.terms),
            "status": self.status,
            "mentions": [
                {
                    "scene": mention.scene,
                    "path": mention.path,
                    "times": mention.times,
                    "quote": mention.quote.to_json(),
                }
                for mention in self.mentions
            ],
        }


def thread_of(
    theme: str | Theme, passages: Sequence[ThemePassage], limits: StakesThresholds
) -> ThemeThread:
    """Follow a theme and its synonyms; words match by stem, phrases word after word."""
    named = Theme(name=theme) if isinstance(theme, str) else theme
    terms = tuple(dict.fromkeys(term for term in [named.name, *named.synonyms] if words_of(term)))
    wanted = [tuple(stem(word) for word in words_of(term)) for term in terms]
    mentions = [
        mention
        for scene, passage in enumerate(passages)
        for mention in [_mention(scene, passage, wanted)]
        if mention is not None
    ]
    scenes = [mention.scene for mention in mentions]
    return ThemeThread(named.name, terms, tuple(mentions), status_of(scenes, len(passages), limits))


def status_of(scenes: Sequence[int], count: int, limits: StakesThresholds) -> Status:
    """Judge a thread by the scenes it is heard in, counted from 0."""
    if not scenes:
        return "absent"
    if scenes[0] >= count * (1 - limits.unplanted_share):
        return "paid_unplanted"
    # A scene counts for the last part as soon as it reaches into it.
    is_paid = scenes[-1] + 1 > count * (1 - limits.unpaid_share)
    return "planted_and_paid" if is_paid else "planted_unpaid"


def thread_findings(threads: Sequence[ThemeThread]) -> Iterator[StoryFinding]:
    """Tell of themes planted and dropped, or paid without being planted."""
    told = {
        "planted_unpaid": "is planted and not heard again near the end",
        "paid_unplanted": "is first heard near the end",
    }
    for thread in threads:
        if thread.status not in told:
            continue
        shown = dict.fromkeys([thread.mentions[0].quote, thread.mentions[-1].quote])
        yield noticed(
            thread.status,
            Severity.MINOR,
            f"“{thread.theme}” {told[thread.status]}",
            tuple(shown),
            "Let it return." if thread.status == "planted_unpaid" else "Plant it earlier.",
            0.7,
        )


def _mention(
    scene: int, passage: ThemePassage, wanted: Sequence[tuple[str, ...]]
) -> ThemeMention | None:
    vocabulary = TextVocabulary(frozenset(word for _, words in passage.places() for word in words))
    possible = [term for term in wanted if all(vocabulary.has(root) for root in term)]
    openers = vocabulary.forms(term[0] for term in possible)
    times = 0
    first: Quote | None = None
    for place, words in passage.places() if possible else ():
        if openers.isdisjoint(words):
            continue
        here = _count([stem(word.removesuffix("'s")) for word in words], possible)
        times += here
        if here and first is None:
            first = passage.document.quote(place)
    return ThemeMention(scene, passage.document.path, times, first) if first is not None else None


def _count(stems: Sequence[str], wanted: Sequence[tuple[str, ...]]) -> int:
    return sum(
        tuple(stems[at : at + len(term)]) == term for term in wanted for at in range(len(stems))
    )
