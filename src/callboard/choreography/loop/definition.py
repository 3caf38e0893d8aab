"""A loop as data: its steps, who does them, what they need and make, and what bounds it.

Read from one YAML file per loop and checked before anything runs. Asks nobody and runs nothing.
"""

import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput

EVERYBODY: Final = "*"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NUMBERED: Final = re.compile(r"(step_\d+)_")


class LoopInvalid(InvalidInput):
    """A loop cannot be used as it is written."""

    code = "loop_invalid"


class UnknownLoopStep(InvalidInput, ValueError):
    """A step was named that the loop does not have."""

    code = "unknown_loop_step"


class RaciRole(StrEnum):
    """What a role is to a loop: it does the work, answers for it, is asked, is told."""

    RESPONSIBLE = "R"
    ACCOUNTABLE = "A"
    CONSULTED = "C"
    INFORMED = "I"


class Stability(StrEnum):
    """What of the gate a loop needs to be stable: its consent, or just its word."""

    GATEKEEPER_APPROVED = "gatekeeper_approved"
    DECISION_RECORDED = "decision_recorded"


def _named(value: str) -> str:
    if _NAME.fullmatch(value) is None:
        raise ValueError(f"is {value[:80]!r}; use small letters, digits and '_'")
    return value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Name = Annotated[str, AfterValidator(_named)]
Text = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_listed)]
Texts = Annotated[tuple[Text, ...], Field(min_length=1)]


class LoopData(BaseModel):
    """A part of a loop's file: nothing unknown in it, and nothing that changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LoopLimits(LoopData):
    """How far a loop may go before somebody is asked; None takes what the settings say."""

    iterations: int | None = Field(default=None, ge=1)
    attempts: int | None = Field(default=None, ge=1)
    repairs: int | None = Field(default=None, ge=0)
    revision_cycles: int | None = Field(default=None, ge=1)
    collaborators: int | None = Field(default=None, ge=0)
    timebox_minutes: float | None = Field(default=None, gt=0)


class LoopScope(LoopData):
    """What the work of a loop may touch, in a line and in two lists."""

    summary: Text
    can: Texts
    cannot: Texts


class Need(LoopData):
    """An input of a step: one kind of artifact, or any of several; `?` makes it optional."""

    kinds: Annotated[tuple[Name, ...], Field(min_length=1)]
    is_optional: bool = False

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        bare = value.strip().removesuffix("?")
        return {"kinds": bare.split(" or "), "is_optional": value.strip().endswith("?")}

    def __str__(self) -> str:
        """Return it as it is written."""
        return " or ".join(self.kinds) + ("?" if self.is_optional else "")


class LoopStep(LoopData):
    """One step of a loop: done by roles side by side, or by a named piece of code."""

    id: Name
    description: Text
    # Several roles work side by side, and what they make is merged in the order of the roster.
    roles: Names = ()
    # The name of the code that does the step, where no role does.
    code: Name | None = None
    # How many of its roles must be awake; None is one.
    least_roles: int | None = Field(default=None, ge=1)
    requires: tuple[Need, ...] = ()
    produces: tuple[Name, ...] = ()
    # True, False, or the name of a condition that code looks at.
    required: bool | Name = True
    consults: Names = ()
    gate: bool = False
    can_iterate: bool = True
    # Code that looks before the roles do and shows them what it found, and code that has the last
    # word on what they made.
    before: Name | None = None
    after: Name | None = None
    # What the pack's code wants to know about this step, such as the bars of a gate.
    options: Mapping[str, Json] = Field(default_factory=dict[str, Json])

    @property
    def condition(self) -> str | None:
        """The name of the condition under which it is required, if it has one."""
        return self.required if isinstance(self.required, str) else None

    @property
    def needs(self) -> frozenset[str]:
        """Every kind it reads, optional ones too."""
        return frozenset(kind for need in self.requires for kind in need.kinds)


class Loop(LoopData):
    """A loop: a short pass of work with a goal, and the bounds nobody can lift."""

    id: Name
    name: Text
    purpose: Text
    inputs: Texts
    outputs: Texts
    scope: LoopScope
    follows: Annotated[tuple[Name, ...], Field(min_length=1)]
    precedes: Annotated[tuple[Name, ...], Field(min_length=1)]
    aliases: tuple[Name, ...] = ()
    goal: Text
    raci: Mapping[str, Annotated[frozenset[RaciRole], BeforeValidator(_listed)]]
    steps: Annotated[tuple[LoopStep, ...], Field(min_length=1)]
    # What comes from outside; each is something that steps require and none produces.
    entry_inputs: tuple[Need, ...] = ()
    stability: Stability = Stability.GATEKEEPER_APPROVED
    # The order of the playbook; empty is the order of the steps.
    typical_flow: tuple[Name, ...] = ()
    # Kinds of reports that any step may leave besides what it produces.
    reports: tuple[Name, ...] = ()
    limits: LoopLimits = LoopLimits()
    options: Mapping[str, Json] = Field(default_factory=dict[str, Json])

    @cached_property
    def by_id(self) -> Mapping[str, LoopStep]:
        """The step library."""
        return {step.id: step for step in self.steps}

    def step(self, name: str) -> LoopStep:
        """Return a step by its id or by its `step_<n>`; there are no others."""
        full = full_id(self.by_id, name)
        if full is None:
            raise UnknownLoopStep(
                f"{self.id} has no step {name!r}",
                fix=f"Its steps: {', '.join(self.by_id)}.",
                step=name,
            )
        return self.by_id[full]

    @cached_property
    def flow(self) -> tuple[LoopStep, ...]:
        """The steps in the order of the playbook."""
        named = [self.step(each) for each in self.typical_flow]
        return (*named, *(step for step in self.steps if step not in named))

    @cached_property
    def producers(self) -> Mapping[str, LoopStep]:
        """The one step that makes each kind."""
        return {kind: step for step in self.steps for kind in step.produces}

    @cached_property
    def writes(self) -> frozenset[str]:
        """Every kind the loop may store."""
        return frozenset((*self.producers, *self.reports))

    def roles_with(self, part: RaciRole) -> tuple[str, ...]:
        """Return the roles that are something to the loop; `*` is everybody else."""
        return tuple(role for role, parts in self.raci.items() if part in parts)

    def parts_of(self, role: str) -> frozenset[RaciRole]:
        """Return what a role is to the loop."""
        return self.raci.get(role, self.raci.get(EVERYBODY, frozenset()))


def full_id(known: Collection[str], name: str) -> str | None:
    """Return the id that a name means, which may be the number of a step alone."""
    if name in known:
        return name
    found = [each for each in known if (m := _NUMBERED.match(each)) and m[1] == name]
    return found[0] if len(found) == 1 else None
