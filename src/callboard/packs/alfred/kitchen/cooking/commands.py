"""Commands at the stove: short words that need no model."""

import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["next", "back", "repeat", "step", "how_much", "timer", "ingredients", "done", "stop"]

_NEXT: Final = re.compile(
    r"(?:ok(?:ay)?,? )?(?:next|go on|continue|and now|what now|what's next|then)"
)
_BACK: Final = re.compile(r"(?:go )?(?:back|previous)(?: one| a step| step)?")
_REPEAT: Final = re.compile(r"(?:repeat|again|what|say (?:that|it) again|where (?:was i|am i))")
_STEP: Final = re.compile(r"(?:go to )?step (\d{1,3})")
_HOW_MUCH: Final = re.compile(r"how (?:much|many) (?:of )?(?:the )?(.+?)(?: do i need| goes in)?")
_TIMER: Final = re.compile(r"(?:set |start )?(?:a |the )?timer(?: for)?(?: (.+))?")
_TIMER_OF: Final = re.compile(r"(?:set |start )?(?:a |the )?(.+?) timer")
_LIST: Final = re.compile(r"(?:show |list )?(?:the |my )?ingredients|what do i need")
_DONE: Final = re.compile(r"(?:i'm |we're |all )?(?:done|finished|ready to eat)\b(.*)")
_STOP: Final = re.compile(r"(?:stop|cancel|quit)(?: cooking)?")
_STARS: Final = re.compile(
    r"\b([1-5]) ?(?:stars?|/ ?5|out of 5)|\b(one|two|three|four|five) stars?"
)
_NUMBERS: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_DURATION: Final = re.compile(
    r"((?<!\d)\d++(?:\.\d++)?+|an?|half an?) ?(hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b"
)
_LEFT_ALONE: Final = re.compile(r"\b(?:don't|do not|without|not) (?:deduct|take|touch|change)")


@dataclass(frozen=True, slots=True)
class CookCommand:
    """What the cook wants."""

    kind: Kind
    # A step's number, a timer's seconds, or a rating.
    number: int | None = None
    text: str = ""
    deducts: bool = True


def read_command(message: str) -> CookCommand | None:
    """Return what a message at the stove means, or None if it is something else."""
    said = " ".join(message.casefold().replace("’", "'").split()).strip(" .!?")
    for pattern, kind in ((_NEXT, "next"), (_BACK, "back"), (_REPEAT, "repeat"), (_STOP, "stop")):
        if pattern.fullmatch(said):
            return CookCommand(kind)  # pyright: ignore[reportArgumentType]
    if _LIST.fullmatch(said):
        return CookCommand("ingredients")
    step = _STEP.fullmatch(said)
    if step:
        return CookCommand("step", int(step[1]))
    return _timer(said) or _done(said) or _how_much(said)


def seconds_in(text: str) -> int | None:
    """Return the time a text names: `1 hour and 20 minutes`."""
    total, is_named = 0.0, False
    for amount, unit in _DURATION.findall(text.casefold()):
        number = 0.5 if amount.startswith("half") else 1.0 if amount[0] == "a" else float(amount)
        total += number * {"h": 3600, "m": 60, "s": 1}[unit[0]]
        is_named = True
    return round(total) if is_named and total > 0 else None


def _timer(said: str) -> CookCommand | None:
    found = _TIMER.fullmatch(said)
    if found:
        return CookCommand("timer", seconds_in(found[1] or ""))
    named = _TIMER_OF.fullmatch(said)
    if named and seconds_in(named[1].replace("-", " ")) is not None:
        return CookCommand("timer", seconds_in(named[1].replace("-", " ")))
    return None


def _done(said: str) -> CookCommand | None:
    found = _DONE.fullmatch(said)
    if found is None:
        return None
    stars = _STARS.search(found[1])
    rating = None
    if stars:
        rating = int(stars[1]) if stars[1] else _NUMBERS[stars[2]]
    return CookCommand("done", rating, found[1].strip(" ,"), not _LEFT_ALONE.search(said))


def _how_much(said: str) -> CookCommand | None:
    found = _HOW_MUCH.fullmatch(said)
    return None if found is None else CookCommand("how_much", text=found[1])
