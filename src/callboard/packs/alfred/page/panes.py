"""Panes: the shopping list, the stock, the week, what is on the stove, and what a turn is doing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from nicegui import ui

from callboard.core.events import Emitted, Event, ReplyChunk, ReplyVoided
from callboard.packs.alfred.kitchen.cooking import CookSession
from callboard.packs.alfred.kitchen.glance import Glance, GlanceDay, GlanceGroup, GlanceItem
from callboard.ui.plain import box, press, words


class Pane:
    """One of them; it is drawn again only when what it shows has changed."""

    def __init__(self, name: str, title: str, empty: str, draw: Callable[[Any], None]) -> None:
        """Take its name, its heading, what it says when it is empty, and how it is drawn."""
        self._name = name
        self._title = title
        self._empty = empty
        self._draw = draw
        self._shown: Any = None

    def build(self) -> None:
        """Make room for it."""
        with box("section", f"pane pane-{self._name}", aria_label=self._title):
            with box("header"):
                words("h2", self._title)
                self._count: ui.label = words("span", "", "count")
            self._room = box("div", "body")

    def show(self, content: Any, count: str) -> None:
        """Show what there is now."""
        if content == self._shown:
            return
        self._shown = content
        self._count.text = count
        self._room.clear()
        with self._room:
            if not count:
                words("p", self._empty, "empty")
            if count or self._name == "week":
                self._draw(content)


class Panes:
    """The three of them."""

    def __init__(self) -> None:
        """Make them."""
        self._list = Pane("list", "Shopping list", "Nothing to buy.", _shelves)
        self._stock = Pane("stock", "In the house", "Nothing noted yet.", _shelves)
        self._week = Pane("week", "The week", "", _days)

    def build(self) -> None:
        """Make room for them."""
        for pane in (self._list, self._stock, self._week):
            pane.build()

    def show(self, glance: Glance) -> None:
        """Show the kitchen as it is now."""
        self._list.show(glance.shopping, _number(glance.shopping))
        self._stock.show(glance.stock, _number(glance.stock))
        planned = sum(len(day.meals) for day in glance.week)
        self._week.show(glance.week, str(planned) if planned else "")


def _number(shelves: tuple[GlanceGroup, ...]) -> str:
    count = sum(len(shelf.items) for shelf in shelves)
    return str(count) if count else ""


def _shelves(shelves: tuple[GlanceGroup, ...]) -> None:
    for shelf in shelves:
        is_urgent = any(item.is_urgent for item in shelf.items)
        with box("div", "shelf urgent" if is_urgent else "shelf"):
            if shelf.title:
                words("h3", shelf.title)
            with box("ul"):
                for item in shelf.items:
                    _item(item)


def _item(item: GlanceItem) -> None:
    with box("li"):
        words("span", item.name, "name")
        if item.note:
            words("span", item.note, "note")
        words("span", item.amount, "amount")


def _days(days: tuple[GlanceDay, ...]) -> None:
    with box("ol", "days"):
        for day in days:
            with box("li", "day today" if day.is_today else "day"):
                words("span", day.title, "when")
                with box("div", "meals"):
                    for meal in day.meals:
                        with box("div", "meal"):
                            words("span", meal.name, "name")
                            beside = ", ".join(each for each in (meal.amount, meal.note) if each)
                            words("span", beside, "note")
                    if not day.meals:
                        words("span", "–", "none", aria_label="nothing planned")


_MINUTE_MS: Final = 60_000
_TOLD_MS: Final = 10 * _MINUTE_MS


class CookingPane:
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
                words("span", cooking.amount, "count")
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


BEGUN: Final = "Listening …"
_NODES: Final = {
    "understand": "Reading your message …",
    "think": "Making a plan …",
    "act": "At work …",
    "reply": "Putting it into words …",
}


def is_begun(event: Event) -> bool:
    """Say whether an event tells that a turn is under way."""
    return isinstance(event.body, Emitted) and event.body.name == "node_started"


@dataclass
class Progress:
    """How far a turn is."""

    doing: str = BEGUN
    reply: str = ""
    is_over: bool = False
    _is_replying: bool = False

    def follow(self, event: Event) -> bool:
        """Take note of an event; say whether there is something new to show."""
        match event.body:
            case Emitted(name=name, data=data) if isinstance(data, Mapping):
                return self._note(name, cast("Mapping[str, Any]", data))
            case ReplyChunk(text=text) if self._is_replying:
                self.reply += text
                return True
            case ReplyVoided():
                self.reply = ""
                return True
            case _:
                return False

    def _note(self, name: str, data: Mapping[str, Any]) -> bool:
        match name:
            case "node_started":
                self._is_replying = data.get("node") == "reply"
                self.doing, self.is_over = _NODES.get(str(data.get("node")), self.doing), False
            case "step_started":
                self.doing = f"{data.get('description') or 'At work'} …"
            case "reply_delta":
                self.reply = str(data.get("text") or "")
            case "done":
                self.is_over = True
            case _:
                return False
        return True
