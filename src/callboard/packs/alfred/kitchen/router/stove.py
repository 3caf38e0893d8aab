"""Stove: the short words said while cooking, and what each of them wants without its remarks."""

import re
from typing import Final

from callboard.packs.alfred.kitchen.cooking import CookCommand, seconds_in

_SO_FAR: Final = (
    r"(?:(?:ok(?:ay)?|right|great|good|got it|yes|yep|done(?: (?:that|it|this))?|did (?:it|that)|"
    r"that's done|it's done|"
    r"that is done|i'm done(?: with (?:that|it|this step))?|finished|ready|"
    r"(?:the |that )?[\w' ]{1,30} (?:is|are) (?:in|done|ready|on|off|chopped|browned|soft))"
    r"[,.;!: -]*(?:and |so )?)*"
)
# Whoever says "done, next" is done with a step, not with the meal.
_NEXT: Final = re.compile(
    _SO_FAR + r"(?:next(?: step| one| please)*|go on|continue|and now|now what|what now|"
    r"what(?:'s| is) next|what(?:'s| is) the next step|what do i do (?:now|next)|then|"
    r"move on|carry on)(?: please)?"
)
_BACK: Final = re.compile(r"(?:go )?(?:back|previous)(?: one| a step| step)?")
_REPEAT: Final = re.compile(
    r"(?:repeat|again|what|say (?:that|it) again|where (?:was i|am i)|"
    r"(?:wait|hang on|hold on|slower|sorry|one moment)\b.{0,40})"
)
_STEP: Final = re.compile(r"(?:go to )?step (\d{1,3})")
_HOW_MUCH: Final = re.compile(r"how (?:much|many) (?:of )?(?:the )?(.+?)(?: do i need| goes in)?")
_TIMER: Final = re.compile(r"(?:set |start )?(?:a |the )?timer(?: for)?(?: (.+))?")
_TIMER_OF: Final = re.compile(r"(?:set |start )?(?:a |the )?(.+?) timer")
_LIST: Final = re.compile(r"(?:show |list )?(?:the |my )?ingredients|what do i need")
_DONE: Final = re.compile(r"(?:i'm |we're |all )?(?:done|finished|ready to eat)\b(.*)")
# What is done is a step or something else than the meal, or it goes on.
_ONE_STEP: Final = re.compile(
    r"^ (?:that|this|it|step|\w+ing\b(?<!cooking))|"
    r"\b(?:carry on|go on|next|continue|move on|now what|what now|so far)\b"
)
_STOP: Final = re.compile(r"(?:stop|cancel|quit)(?: cooking)?")
_STARS: Final = re.compile(
    r"\b([1-5]) ?(?:stars?|/ ?5|out of 5)|\b(one|two|three|four|five) stars?"
)
_NUMBERS: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_LEFT_ALONE: Final = re.compile(
    r"\b(?:don't|do not|without|not) (?:deduct|tak[ei]|touch|chang[ei])"
    r"|\b(?:deduct|take|touch|change)(?:ing)? nothing\b|\bleave (?:the |my )?stock\b"
)


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


def _timer(said: str) -> CookCommand | None:
    found = _TIMER.fullmatch(said)
    if found:
        return CookCommand("timer", seconds_in(found[1] or ""))
    named = _TIMER_OF.fullmatch(said)
    seconds = seconds_in(named[1].replace("-", " ")) if named else None
    return None if seconds is None else CookCommand("timer", seconds)


def _done(said: str) -> CookCommand | None:
    found = _DONE.fullmatch(said)
    if found is None or _ONE_STEP.search(found[1]):
        return None
    stars = _STARS.search(found[1])
    rating = None if stars is None else int(stars[1] or _NUMBERS[stars[2]])
    return CookCommand("done", rating, found[1].strip(" ,"), not _LEFT_ALONE.search(said))


def _how_much(said: str) -> CookCommand | None:
    found = _HOW_MUCH.fullmatch(said)
    return None if found is None else CookCommand("how_much", text=found[1])


_WHY: Final = r"but|though|although|because|cause|since|in case"
_WHO: Final = r"they|it|he|she|i|we|you|this|that|those|there|which|who|nobody|someone"
_SAYS: Final = r"is|are|was|were|has|had|will|came|comes|likes?|wants?|needs?"
_REMARK: Final = re.compile(
    rf"(?:\s*[,;.!(]\s*|\s+[-–]\s+|\s+(?=(?:{_WHY})\b))"
    rf"(?=(?:and\s+|but\s+|so\s+)*(?:{_WHY}|{_WHO}|if|when|as|was|were|had|not the|"
    r"the \w+ ones?\b|too \w+|so|on offer|half price|reduced|cheap|finally|yay|phew|ugh|oh|"
    rf"\w+'s (?:ill|away)|(?:\w+ ){{1,3}}(?:{_SAYS})\b)\b)",
    re.I,
)
_LEAST_LEFT: Final = 2


def without_remarks(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text up to the first remark, and the remark."""
    for found in _REMARK.finditer(text):
        head = text[: found.start()].strip(" ,;.-")
        if len(head.split()) >= _LEAST_LEFT:
            return head, (text[found.end() :].strip(" ,;.()"),)
    return text, ()
