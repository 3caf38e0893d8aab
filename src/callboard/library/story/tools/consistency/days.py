"""Days: weekdays, seasons and spans of years that are told and cannot all be so."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.library.story.facts.values import MONTHS, NUMBER, WEEKDAYS, number_of
from callboard.library.story.model import Quote, Severity, StoryFinding
from callboard.library.story.tools.consistency.timeline import CheckedScene
from callboard.library.story.tools.report import make_finding

TOOL: Final = "consistency_checker"
_DAY: Final = rf"(?P<day>{'|'.join(day.capitalize() for day in WEEKDAYS)})"
_TODAY: Final = re.compile(
    rf"\b(?:It|This|Today|it|this) (?:was|is|['’]s) (?:a |only |still |only a )?{_DAY}\b(?!['’]s)"
)
_CEREMONY: Final = re.compile(
    r"\b(?P<what>funeral|wedding)(?:['’]s| is| was| will be| would be)(?: to be| set for"
    r"| fixed for)?"
    rf"(?: on)?(?: the)? {_DAY}\b"
    rf"|\b(?P<buried>buried|bury) (?:him|her|[A-Z]\w+(?: [A-Z]\w+)?) on (?:the |a )?(?P<burial>"
    rf"{'|'.join(day.capitalize() for day in WEEKDAYS)})\b"
)
_PASSES: Final = re.compile(
    r"\b(?:next (?:day|morning|week)|following|days? (?:later|passed|after)|tomorrow"
    r"|overnight|woke|awoke"
    r"|at dawn|sunrise|daybreak|that night|by morning|in the morning|went to bed"
    r"|fell asleep|slept)\b",
    re.IGNORECASE,
)
_EVENT: Final = (
    r"(?P<event>fire|accident|wedding|funeral|flood|murder|crash|divorce|wreck|trial|earthquake"
    r"|explosion|shipwreck|drowning)"
)
_SPANS: Final = (
    re.compile(
        rf"\b(?:[Tt]he|[Tt]hat) (?:[A-Z]\w+ )?{_EVENT} (?:is|was|happened|['’]s)(?: now)? "
        rf"(?P<years>{NUMBER}) years (?:ago|back|past)\b"
    ),
    re.compile(
        rf"\b(?P<years>{NUMBER}) years (?:since|after|ago,) (?:the|that) (?:[A-Z]\w+ )?{_EVENT}\b"
    ),
)
_MONTH: Final = "|".join(month.capitalize() for month in MONTHS)
_AIR: Final = (
    r"(?:heat|frost|sun|snow|rain|wind|air|light|sky|evening|night|morning|afternoon|day"
    r"|dusk|fog)s?"
)
_SEASONS: Final = (
    re.compile(
        rf"\b(?:It|it|This) (?:was|is|['’]s)(?: now| still| only| early"
        rf"| late)? (?P<month>{_MONTH})\b(?! \d)"
    ),
    re.compile(rf"\b(?:[Tt]he|[Tt]hose|[Tt]his|[Aa]n?) (?:[a-z]+ )?(?P<month>{_MONTH}) {_AIR}\b"),
    re.compile(rf"\bthose (?:[a-z]+ )?(?P<month>{_MONTH}) {_AIR}\b"),
    re.compile(
        r"\b(?:[Ii]t was|[Ii]t is|[Ii]t['’]s) (?P<feast>[Mm]idsummer|[Cc]hristmas)(?: [Ee]ve"
        r"| [Dd]ay)?\b"
    ),
)
_WINTRY: Final = re.compile(
    r"\b(?:flakes of snow|snow was falling|snow fell|snow lay|snow on the ground|(?:fall"
    r"|covering) of snow|snowdrifts?|icicles|hoar-?frost|cold Christmas|ground (?:was"
    r"|still) (?:iron|frozen)"
    r"|frozen (?:river|pond|lake|ground))\b"
)
_SUMMERY: Final = re.compile(
    r"\bin full bloom\b|\bin bloom\b|\bhay was in\b|\b(?:in (?:blossom|flower)|haymaking|haycocks"
    r"|heat-?wave|strawberries were ripe|corn was (?:ripe|cut|half cut))\b"
)
_LAPSE: Final = re.compile(
    r"\b(?:months?|weeks?|seasons?|year|years|winter|spring|summer|autumn) (?:later|passed"
    r"|went by|after|"
    r"ended|came|had passed|had gone)|\b(?:by|until|till|next|the following)"
    rf" (?:{_MONTH}|spring|summer|autumn|winter|Christmas|Easter|year)\b",
)
_APART: Final = 3
# A story that tells no time between goes on in the same season.
_NEAR_SCENES: Final = 3


@dataclass(frozen=True, slots=True)
class _SeasonTold:
    value: int
    shown: str
    quote: Quote
    scene: int
    at: int


def find_days(scenes: Sequence[CheckedScene]) -> Iterator[StoryFinding]:
    """Yield the days, seasons and years that contradict each other."""
    read = [scene for scene in scenes if scene.document.is_english and not scene.is_flashback]
    for scene in read:
        yield from _weekdays(scene)
    yield from _ceremonies(read)
    yield from _years(read)
    yield from _seasons(read)


def _finding(message: str, first: Quote, second: Quote) -> StoryFinding:
    return make_finding(
        TOOL,
        "Timeline",
        Severity.MINOR,
        message,
        (first, second),
        suggestion="Correct one of the two, or tell the time between them.",
        confidence=0.7,
    )


def _weekdays(scene: CheckedScene) -> Iterator[StoryFinding]:
    """Yield a scene's own weekday told in two ways while no day passes."""
    held: tuple[str, Quote] | None = None
    for sentence in scene.document.sentences:
        text = sentence.narration
        match = _TODAY.search(text)
        if match is None:
            if _PASSES.search(text):
                held = None
            continue
        if held is not None and held[0] != match["day"]:
            quote = scene.document.quote(sentence)
            yield _finding(f"It is {held[0]} and {match['day']} at once.", held[1], quote)
        held = (match["day"], scene.document.quote(sentence))


def _ceremonies(scenes: Sequence[CheckedScene]) -> Iterator[StoryFinding]:
    known: dict[str, tuple[str, Quote]] = {}
    for scene in scenes:
        for sentence in scene.document.sentences:
            for match in _CEREMONY.finditer(sentence.text):
                what = match["what"] or "funeral"
                day = match["day"] or match["burial"]
                quote = scene.document.quote(sentence)
                first = known.setdefault(what, (day, quote))
                if first[0] != day:
                    known[what] = (day, quote)
                    yield _finding(f"The {what} is on {first[0]} and on {day}.", first[1], quote)


def _years(scenes: Sequence[CheckedScene]) -> Iterator[StoryFinding]:
    known: dict[str, tuple[int, Quote]] = {}
    for scene in scenes:
        for sentence in scene.document.sentences:
            for match in (hit for pattern in _SPANS for hit in pattern.finditer(sentence.text)):
                years, event = number_of(match["years"]), match["event"]
                if years is None:
                    continue
                quote = scene.document.quote(sentence)
                first = known.setdefault(event, (years, quote))
                if abs(first[0] - years) > 1:
                    told = f"The {event} is {first[0]} years ago in one place, {years} in another."
                    yield _finding(told, first[1], quote)


def _seasons(scenes: Sequence[CheckedScene]) -> Iterator[StoryFinding]:
    """Yield months and weathers half a year apart in one scene, or in two that follow at once."""
    before: _SeasonTold | None = None
    for number, scene in enumerate(scenes):
        for at, sentence in enumerate(scene.document.sentences):
            text = sentence.narration
            if _LAPSE.search(text):
                before = None
            month = _month(text)
            if month is None:
                continue
            told = _SeasonTold(month[0], month[1], scene.document.quote(sentence), number, at)
            if (
                before is not None
                and number - before.scene <= _NEAR_SCENES
                and _apart(before, told)
            ):
                message = f"It is {before.shown} and {told.shown}, and no time passes between."
                yield _finding(message, before.quote, told.quote)
                before = None
                continue
            before = told


def _month(text: str) -> tuple[int, str] | None:
    for pattern in _SEASONS:
        if match := pattern.search(text):
            told = match.groupdict()
            if feast := told.get("feast"):
                return (6 if feast.lower() == "midsummer" else 12), feast
            return MONTHS.index(told["month"].lower()) + 1, told["month"]
    if _WINTRY.search(text):
        return 1, "winter"
    return (6, "summer") if _SUMMERY.search(text) else None


def _apart(one: _SeasonTold, other: _SeasonTold) -> bool:
    distance = abs(one.value - other.value)
    return min(distance, 12 - distance) >= _APART
