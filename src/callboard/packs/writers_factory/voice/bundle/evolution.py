"""The phase evolution: how the one voice sounds in each act, as a guide writers can edit."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, cast

from pydantic import Field

from callboard.core.canonical import Json
from callboard.core.codec import Closed
from callboard.packs.writers_factory.prose import Stylometrics

ACTS: Final = ("1", "2a", "2b", "3")
MOODS: Final = (
    "guarded",
    "hopeful",
    "restless",
    "tense",
    "weary",
    "bitter",
    "determined",
    "broken",
    "tender",
    "calm",
)
_USUAL_MOODS: Final[Mapping[str, str]] = {
    "1": "guarded",
    "2a": "restless",
    "2b": "tense",
    "3": "determined",
}
_SECTION: Final = re.compile(r"^##\s+Act\s+(\w+)[^\n]*$", re.IGNORECASE | re.MULTILINE)
_LINE: Final = re.compile(
    r"^[-*][ \t]*+\**+([\w ]{1,80}?)\**+[ \t]*:\**+[ \t]*+(\S.*)$", re.MULTILINE
)
MOST_DOMAINS: Final = 5
_WORD: Final = re.compile(r"[^\W\d_]+")
_MOST_STATE_WORDS: Final = 3
_IGNORED: Final = frozenset(
    ("a", "an", "and", "the", "of", "in", "with", "but", "yet", "to", "by", "for", "is", "very")
)


@dataclass(frozen=True, slots=True)
class Phase(Closed):
    """The voice in one act, as a judge or the writer sees it."""

    voice_state: str
    sentence_rhythm: str
    metaphor_domains: Annotated[tuple[str, ...], Field(max_length=MOST_DOMAINS)]
    can_admit: str

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {**asdict(self), "metaphor_domains": list(self.metaphor_domains)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Phase":
        """Read the stored shape, whatever somebody made of it."""
        given: Any = data.get("metaphor_domains") or ()
        listed = cast("Sequence[Any]", given if isinstance(given, list | tuple) else [given])
        return cls(
            voice_state=state_of(str(data.get("voice_state") or "")),
            sentence_rhythm=_line(data.get("sentence_rhythm")),
            metaphor_domains=tuple(_line(each) for each in listed if _line(each)),
            can_admit=_line(data.get("can_admit")),
        )

    def completed(self, other: "Phase") -> "Phase":
        """Return the phase with its gaps filled from another."""
        return Phase(
            self.voice_state or other.voice_state,
            self.sentence_rhythm or other.sentence_rhythm,
            self.metaphor_domains or other.metaphor_domains,
            self.can_admit or other.can_admit,
        )


UNSAID: Final = Phase("", "", (), "")


@dataclass(frozen=True, slots=True)
class Arc:
    """The protagonist's way through the book."""

    start: str = ""
    midpoint: str = ""
    resolution: str = ""

    def told(self) -> str:
        """Return its stations as a list, as far as they are known."""
        ways = {"Start": self.start, "Midpoint": self.midpoint, "Resolution": self.resolution}
        return "\n".join(f"- {name}: {_line(text)}" for name, text in ways.items() if _line(text))


def state_of(*phrases: str) -> str:
    """Return up to three words of several phrases, joined by `_`."""
    words: dict[str, None] = {}
    for phrase in phrases:
        for word in _WORD.findall(phrase.lower().replace("_", " ")):
            if word not in _IGNORED:
                words.setdefault(word)
    return "_".join(list(words)[:_MOST_STATE_WORDS])


def usual_evolution(
    arc: Arc, gold: Stylometrics, domains: Sequence[str], moods: Mapping[str, str] | None = None
) -> dict[str, Phase]:
    """Derive the four phases from the arc and the chosen passage alone."""
    mean = round(gold.mean_sentence_words)
    shorter = max(3, round(mean * 0.8))
    rhythm = {
        "1": f"As in the gold standard: about {mean} words to a sentence.",
        "2a": f"A little quicker, between {shorter} and {mean} words, with more short sentences.",
        "2b": f"Clipped under pressure: {shorter} words and fewer, broken by one long sentence.",
        "3": f"Settles again: back to {mean} words, with room for one sentence that runs on.",
    }
    admits = {
        "1": _admits("Nothing beyond this", arc.start),
        "2a": _admits("The first doubt about this", arc.start),
        "2b": _admits("What the middle has shown", arc.midpoint),
        "3": _admits("What was denied until now", arc.resolution),
    }
    chosen = {**_USUAL_MOODS, **(moods or {})}
    return {
        act: Phase(state_of(chosen[act]), rhythm[act], tuple(domains), admits[act]) for act in ACTS
    }


def write_guide(evolution: Mapping[str, Phase], arc: Arc) -> str:
    """Return the guide as Markdown that `read_guide` reads back."""
    opening = "One voice, four phases: what changes as the protagonist does."
    parts = ["# Phase evolution guide", opening, *filter(None, (arc.told(),))]
    for act in ACTS:
        phase = evolution.get(act, UNSAID)
        parts.append(
            f"## Act {act.upper()}\n\n"
            f"- voice_state: {phase.voice_state}\n"
            f"- sentence rhythm: {phase.sentence_rhythm}\n"
            f"- metaphor domains: {', '.join(phase.metaphor_domains)}\n"
            f"- the narrator can admit: {phase.can_admit}"
        )
    return "\n\n".join(parts) + "\n"


def read_guide(markdown: str) -> dict[str, Phase]:
    """Read a guide, also one the writer has edited; what is missing is missing."""
    found: dict[str, Phase] = {}
    sections = list(_SECTION.finditer(markdown))
    for number, section in enumerate(sections):
        act = section[1].lower()
        end = sections[number + 1].start() if number + 1 < len(sections) else len(markdown)
        told = {
            hit[1].strip().lower(): hit[2].strip()
            for hit in _LINE.finditer(markdown, section.end(), end)
        }
        if act in ACTS:
            domains = told.get("metaphor domains", "").split(",")
            found[act] = Phase(
                state_of(told.get("voice_state", told.get("voice state", ""))),
                told.get("sentence rhythm", ""),
                tuple(each.strip() for each in domains if each.strip()),
                told.get("the narrator can admit", ""),
            )
    return found


def _admits(opening: str, told: str) -> str:
    line = _line(told).rstrip(".")
    return f"{opening}: {line}." if line else f"{opening}."


def _line(value: Any) -> str:
    return " ".join(str(value or "").split())
