"""Slot: a named output of a step, either a pointer to a receipt or an artifact."""

from dataclasses import dataclass
from enum import StrEnum

from callboard.core.canonical import Json


class SlotType(StrEnum):
    """Where the content of a slot is kept."""

    POINTER = "pointer"
    ARTIFACT = "artifact"


@dataclass(frozen=True, slots=True)
class Slot:
    """A named output, readable by later steps, the user and a fork that edits it."""

    name: str
    type: SlotType
    value: Json
    sha256: str
    summary: str = ""
    receipt_id: str | None = None
    agent_id: str | None = None
    step_key: str = ""
