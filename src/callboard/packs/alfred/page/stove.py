"""Stove: the recipe being cooked, and the step the cook is at."""

from collections.abc import Callable
from typing import Final

from callboard.packs.alfred.kitchen.cooking import CookSession
from callboard.ui.plain import box, press, words

_MINUTE_MS: Final = 60_000
_TOLD_MS: Final = 10 * _MINUTE_MS


class Stove:
    """What is on the stove, if anything is."""

    def __init__(self, say: Callable[[str], object]) -> None:
        """Take how something is said: its buttons say what a cook would."""
        self._say = say
        self._shown: tuple[CookSession | None, tuple[str, ...]] = (None, ())

    def build(self) -> None:
        """Make room for it."""
        self._room = box("section", "stove", aria_label="On the stove")
        self._room.set_visibility(False)

    def show(self, cooking: CookSession | None, now_ms: int) -> None:
        """Show the step at hand, and how long timers still run."""
        timers = () if cooking is None else _timers(cooking, now_ms)
        if (cooking, timers) == self._shown:
            return
        self._shown = (cooking, timers)
        self._room.clear()
        self._room.set_visibility(cooking is not None)
        if cooking is None:
            return
        with self._room:
            with box("header"):
                words("h2", cooking.name)
                words("span", f"for {cooking.servings:g}", "count")
            words("p", _step(cooking), "text step")
            for each in timers:
                words("p", each, "timer", role="status")
            with box("div", "buttons"):
                if cooking.position > 1:
                    press("Back", lambda: self._say("back"))
                if cooking.position < len(cooking.steps):
                    name = "Next" if cooking.position else "Begin"
                    press(name, lambda: self._say("next"), "strong")
                press("Ingredients", lambda: self._say("ingredients"), "quiet")
                press("Done", lambda: self._say("done"), "quiet")
                press("Stop", lambda: self._say("stop"), "quiet")


def _timers(cooking: CookSession, now_ms: int) -> tuple[str, ...]:
    lines: list[str] = []
    for timer in cooking.timers:
        left = timer["ends_ms"] - now_ms
        if left > 0:
            minutes = -(-left // _MINUTE_MS)
            lines.append(f"Timer: {minutes} min left" if minutes > 1 else "Timer: the last minute")
        elif left > -_TOLD_MS:
            lines.append("Timer: time is up!")
    return tuple(lines)


def _step(cooking: CookSession) -> str:
    if not 1 <= cooking.position <= len(cooking.steps):
        return f"{len(cooking.steps)} steps. Ready when you are."
    step = cooking.steps[cooking.position - 1]
    minutes = f" ({step['minutes']} min)" if step.get("minutes") else ""
    return f"{cooking.position} of {len(cooking.steps)}: {step['text']}{minutes}"
