"""Cooking: what is said at the stove, where the cook is, and what there is still to do.

The state is kept per conversation and survives a restart. Nothing is written to the kitchen until
the cook is done; then one write logs, rates, ticks off and deducts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from callboard.choreography.turn.requests import WriteOp, WriteRequest
from callboard.core.errors import NotFound
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import (
    counted_name,
    unit_word,
    with_own_words,
)
from callboard.packs.alfred.kitchen.compute.matching import scale_recipe
from callboard.store.records import Records

Kind = Literal["next", "back", "repeat", "step", "how_much", "timer", "ingredients", "done", "stop"]

_DURATION: Final = re.compile(
    r"((?<!\d)\d++(?:\.\d++)?+|an?|half an?) ?(hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b"
)


@dataclass(frozen=True, slots=True)
class CookCommand:
    """What the cook wants."""

    kind: Kind
    # A step's number, a timer's seconds, or a rating.
    number: int | None = None
    text: str = ""
    deducts: bool = True


def seconds_in(text: str) -> int | None:
    """Return the time a text names: `1 hour and 20 minutes`."""
    total, is_named = 0.0, False
    for amount, unit in _DURATION.findall(text.casefold()):
        number = 0.5 if amount.startswith("half") else 1.0 if amount[0] == "a" else float(amount)
        total += number * {"h": 3600, "m": 60, "s": 1}[unit[0]]
        is_named = True
    return round(total) if is_named and total > 0 else None


KIND: Final = "cook_session"
_MINUTE_MS: Final = 60_000
_LONGEST_MINUTES: Final = 24 * 60
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CookSession:
    """One recipe being cooked; `position` 0 is before the first step."""

    recipe_id: str
    name: str
    # None if the recipe does not say: then it is cooked as it is written.
    servings: float | None
    ingredients: tuple[Row, ...]
    steps: tuple[Row, ...]
    started_ms: int
    position: int = 0
    timers: tuple[Row, ...] = ()

    @classmethod
    def of(cls, recipe: Row, servings: float | None, now_ms: int) -> "CookSession":
        """Begin with a recipe, its lines and steps read along, for so many people."""
        scaled = scale_recipe(recipe, servings)
        kept = ("name", "quantity", "unit", "preparation", "optional", "shown", "part", "raw_text")
        lines = [{key: line.get(key) for key in kept} for line in scaled["ingredients"]]
        steps = [
            {"text": str(step.get("text", "")), "minutes": step.get("minutes")}
            for step in recipe.get("steps") or ()
        ]
        return cls(
            str(recipe["id"]),
            str(recipe["name"]),
            scaled["servings"],
            tuple(lines),
            tuple(steps),
            now_ms,
        )

    def follow(self, command: CookCommand, now_ms: int) -> tuple["CookSession", str]:
        """Return where the cook is after a command, and what to tell them."""
        match command.kind:
            case "next" | "back" | "step" | "repeat":
                return self._move(command)
            case "how_much":
                return self, self._how_much(command.text)
            case "ingredients":
                return self, "\n".join(f"- {_line(line)}" for line in self.ingredients)
            case "timer":
                return self._set_timer(command.number, now_ms)
            case "done":
                return self, f"{self.name} is done."
            case "stop":
                return self, f"Stopped cooking {self.name}. Nothing was logged."

    def finish(
        self, now_ms: int, *, rating: int | None = None, deducts: bool = True
    ) -> WriteRequest:
        """Return the write that logs the meal, rates it, ticks it off, and takes it from stock."""
        minutes = round((now_ms - self.started_ms) / _MINUTE_MS)
        record: dict[str, Any] = {
            "recipe_id": self.recipe_id,
            "inventory_deducted": deducts,
        }
        if self.servings is not None:
            record["servings"] = self.servings
        if rating is not None:
            record["rating"] = rating
        # Who comes back days later did not cook all the while.
        if 0 < minutes <= _LONGEST_MINUTES:
            record["minutes"] = minutes
        return WriteRequest(op=WriteOp.CREATE, table="cooking_log", records=[record])

    def due_timers(self, now_ms: int) -> list[Row]:
        """Return the timers whose time is up, as long as nobody was told."""
        due = (timer for timer in self.timers if timer["ends_ms"] <= now_ms)
        return [timer for timer in due if not timer.get("has_rung")]

    def ring(self, now_ms: int) -> tuple["CookSession", list[str]]:
        """Return the session with every due timer rung, and what the cook is told."""
        due = self.due_timers(now_ms)
        timers = tuple({**each, "has_rung": True} if each in due else each for each in self.timers)
        return replace(self, timers=timers), [self._rung(timer) for timer in due]

    def _rung(self, timer: Row) -> str:
        told = f"Ring! The {_length(timer['seconds'])} timer for {self.name} is up"
        if 1 <= timer["step"] <= len(self.steps):
            told += f" (step {timer['step']}: {self.steps[timer['step'] - 1]['text']})"
        return f"{told}."

    def summary(self) -> str:
        """Return the recipe as a prompt is told it: first of all, and with its steps."""
        lines = [f"Cooking now: {self.name}, {self.amount}"]
        lines += [f"- {_line(line)}" for line in self.ingredients]
        for number, step in enumerate(self.steps, start=1):
            mark = ">" if number == self.position else " "
            lines.append(f"{mark}{number}. {step['text']}")
        return "\n".join(lines)

    @property
    def amount(self) -> str:
        """How much is cooked, in words."""
        return "as written" if self.servings is None else f"for {self.servings:g}"

    def to_body(self) -> dict[str, Any]:
        """Return the session as it is stored."""
        return {
            "recipe_id": self.recipe_id,
            "name": self.name,
            "servings": self.servings,
            "ingredients": [dict(line) for line in self.ingredients],
            "steps": [dict(step) for step in self.steps],
            "started_ms": self.started_ms,
            "position": self.position,
            "timers": [dict(timer) for timer in self.timers],
        }

    @classmethod
    def from_body(cls, body: Row) -> "CookSession":
        """Return a session as it was stored."""
        values: dict[str, Any] = dict(body)
        for name in ("ingredients", "steps", "timers"):
            values[name] = tuple(values[name])
        return cls(**values)

    def _move(self, command: CookCommand) -> tuple["CookSession", str]:
        if not self.steps:
            return self, f"{self.name} has no steps written down."
        wanted = {
            "next": self.position + 1,
            "back": self.position - 1,
            "repeat": self.position,
        }.get(command.kind, command.number or 0)
        if command.kind == "step" and not 1 <= wanted <= len(self.steps):
            return self, f"There are {len(self.steps)} steps."
        if wanted > len(self.steps):
            return self, "That was the last step. Say done when it is on the table."
        moved = replace(self, position=max(wanted, 1))
        step = moved.steps[moved.position - 1]
        said = f"Step {moved.position} of {len(self.steps)}: {step['text']}"
        return moved, f"{said} ({step['minutes']} min)" if step["minutes"] else said

    def _how_much(self, food: str) -> str:
        wanted = set(name_key(food).split())
        keys = [(line, name_key(str(line["name"]))) for line in self.ingredients]
        found = [line for line, key in keys if wanted & set(key.split())]
        exact = [line for line, key in keys if key == name_key(food)]
        if not found:
            return f"{self.name} uses no {food}."
        return "; ".join(_line(line) for line in exact or found)

    def _set_timer(self, seconds: int | None, now_ms: int) -> tuple["CookSession", str]:
        length = seconds or self._step_seconds()
        if length is None:
            return self, "For how long? Say for example: timer 10 minutes."
        timer = {"seconds": length, "ends_ms": now_ms + length * 1000, "step": self.position}
        return replace(self, timers=(*self.timers, timer)), f"Timer set: {_length(length)}."

    def _step_seconds(self) -> int | None:
        """Return how long the step at hand takes, if it says."""
        if not 1 <= self.position <= len(self.steps):
            return None
        step = self.steps[self.position - 1]
        return int(step["minutes"]) * 60 if step["minutes"] else seconds_in(str(step["text"]))


def _length(seconds: int) -> str:
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"


def _line(line: Row) -> str:
    quantity, unit = line.get("quantity"), line.get("unit")
    if unit and isinstance(quantity, int | float):
        unit = unit_word(float(quantity), str(unit))
    name = counted_name(quantity, unit, str(line.get("name") or ""))
    parts = (line.get("shown"), unit, name)
    said = " ".join(str(part) for part in parts if part)
    if not line.get("shown"):
        said += ", to taste"
    prepared = line.get("preparation")
    whole = with_own_words(
        f"{said}, {prepared}" if prepared else said, line.get("raw_text"), is_scaled=True
    )
    return f"{whole} ({line['part']})" if line.get("part") else whole


class CookSessions:
    """The recipes being cooked, one per conversation."""

    def __init__(self, records: Records) -> None:
        """Take where they are kept."""
        self._records = records

    def get(self, session_id: str) -> CookSession | None:
        """Return what is being cooked in a conversation, if anything."""
        body = self._records.get(KIND, session_id)
        return None if body is None else CookSession.from_body(body)

    def require(self, session_id: str) -> CookSession:
        """Return what is being cooked in a conversation; nothing raises."""
        found = self.get(session_id)
        if found is None:
            raise NotFound("Nothing is being cooked here", fix="Say what you are making.")
        return found

    async def put(self, session_id: str, session: CookSession) -> None:
        """Keep a session; durable when this returns."""
        await self._records.put(KIND, session_id, session.to_body())

    async def ring(self, session_id: str, now_ms: int) -> list[str]:
        """Return what is told about timers that are due now; each is told once."""
        found = self.get(session_id)
        if found is None or not found.due_timers(now_ms):
            return []
        after, told = found.ring(now_ms)
        await self.put(session_id, after)
        return told

    async def end(self, session_id: str) -> bool:
        """Forget what was being cooked; say whether there was something."""
        return await self._records.delete(KIND, session_id)
