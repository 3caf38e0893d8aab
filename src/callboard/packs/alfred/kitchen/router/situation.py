"""A message in its situation: who says it, when, and how to look something up. Reads only."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from callboard.choreography.turn.domain import Asked, Row
from callboard.choreography.turn.requests import ReadRequest, ReadResult, WriteRequest
from callboard.choreography.turn.shapes import StepType, ThinkStep
from callboard.library.relational.dates import Today

Read = Callable[[ReadRequest], Awaitable[ReadResult]]
_POLITE: Final = re.compile(
    r"^(?:(?:please|hey|hi|hello|ok|okay|alfred|can you|could you|would you|will you|i'd like to"
    r"|i want to|i would like to|let's|lets)[,:]?\s+)+",
    re.IGNORECASE,
)
_GAP: Final = re.compile(r"\s{3,}")
_TRAILING: Final = re.compile(r"(?:[,\s]+(?:please|thanks|thank you|alfred))+$", re.IGNORECASE)


def tidy(message: str) -> str:
    """Return a message without what is only polite; the rest stays as it was written."""
    text = message.replace("’", "'").replace("\x00", "").strip()
    # Nobody means anything by a gap; the forms of requests would try every way to share it out.
    text = _GAP.sub(lambda gap: "\n" if "\n" in gap[0] else " ", text)
    for _ in range(2):
        text = _TRAILING.sub("", text.strip(" \t\n.!?"))
    return _POLITE.sub("", text).strip()


@dataclass
class Steps:
    """Steps as they are put together; ids are known at once, so that later ones can name them."""

    first_group: int = 0
    made: list[ThinkStep] = field(default_factory=list[ThinkStep])

    def read(self, what: str, subdomain: str, group: int = 0, **query: Any) -> str:
        """Add a read and return its id."""
        request = ReadRequest.model_validate(query)
        return self._add(what, StepType.READ, subdomain, group, query=request)

    def write(self, what: str, subdomain: str, group: int = 0, **request: Any) -> str:
        """Add a write and return its id."""
        write = WriteRequest.model_validate(request)
        return self._add(what, StepType.WRITE, subdomain, group, write=write)

    def analyze(
        self,
        what: str,
        subdomain: str,
        group: int,
        compute: str,
        inputs: Sequence[str],
        **more: Any,
    ) -> str:
        """Add arithmetic over the results of other steps, and return its id."""
        return self._add(
            what,
            StepType.ANALYZE,
            subdomain,
            group,
            compute=compute,
            inputs=list(inputs),
            arguments=more,
        )

    def generate(
        self,
        what: str,
        subdomain: str,
        group: int,
        content_type: str,
        inputs: Sequence[str],
        **more: Any,
    ) -> str:
        """Add something that is to be made up, and return its id."""
        return self._add(
            what,
            StepType.GENERATE,
            subdomain,
            group,
            content_type=content_type,
            inputs=list(inputs),
            arguments=more,
        )

    def _add(self, what: str, kind: StepType, subdomain: str, group: int, **details: Any) -> str:
        at = self.first_group + group
        index = sum(1 for step in self.made if step.group == at)
        step_id = f"g{at}.s{index}"
        step = ThinkStep(
            id=step_id,
            description=what[:200],
            step_type=kind,
            subdomain=subdomain,
            group=at,
            **details,
        )
        self.made.append(step)
        return step_id


@dataclass(frozen=True, slots=True)
class Likely:
    """What matters of a kitchen too big to be read whole: the best recipes, and their food."""

    recipe_ids: tuple[str, ...]
    ingredient_ids: tuple[str, ...]


async def _all_of_it(_constraints: Sequence[str] = ()) -> Likely | None:
    return None


@dataclass(frozen=True, slots=True)
class Situation:
    """A message, who said it, and what can be looked up about it."""

    asked: Asked
    # The message without what is only polite.
    text: str
    today: Today
    read: Read
    first_group: int = 0
    # What fits some constraints as well; None as long as the kitchen can be read whole.
    likely: Callable[[Sequence[str]], Awaitable[Likely | None]] = _all_of_it

    @property
    def steps(self) -> Steps:
        """A new row of steps."""
        return Steps(self.first_group)

    def saying(self, text: str, first_group: int) -> "Situation":
        """Return the same situation for a part of the message."""
        return replace(self, text=tidy(text), first_group=first_group)

    async def rows(self, **query: Any) -> Sequence[Row]:
        """Look something up."""
        return (await self.read(ReadRequest.model_validate(query))).rows


def same(field_name: str, value: Any) -> dict[str, Any]:
    """Return the condition that a field holds a value."""
    return {"field": field_name, "op": "eq", "value": value}


def among(field_name: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return the condition that a field holds one of some values."""
    return {"field": field_name, "op": "in", "value": list(values)}


def present(field_name: str) -> dict[str, Any]:
    """Return the condition that a field holds anything."""
    return {"not": {"field": field_name, "op": "is", "value": None}}
