"""The slots of a run while it runs: pointers to receipts, artifacts of agents, and the task.

A slot knows three renderings: what references read, what an agent is shown, what the user sees.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.choreography.recipe.definition.refs import TASK
from callboard.choreography.recipe.task import Assignment
from callboard.choreography.values import ToolOutcome
from callboard.core.canonical import Json, compact_json, digest_bytes

PREVIEW_CHARS: Final = 200

_GRAVE: Final = ("major", "minor")
_NOT_CHECKED: Final = "NOT_CHECKED"
# What a tool's own word for the whole is when it is bad, by the field that holds it.
_BAD: Final[dict[str, tuple[str, ...]]] = {
    "status": ("CONFLICTS", "CONTRADICTIONS"),
    "recommendation": ("REVISE",),
    "verdict": ("FAIL",),
}

_FENCE: Final = re.compile(
    r"^(`{3,}|~{3,})[ \t]*+(?:json|JSON)?+[ \t]*+\n(.*?)^\1[ \t]*$", re.M | re.S
)
_VERDICT: Final = re.compile(
    r"^[ \t>*_#-]*verdict[ \t*_]*:[ \t*_]*(pass|fail)\b", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class PointerSlot:
    """What a tool found: its receipt holds the whole."""

    found: ToolOutcome

    @property
    def is_null(self) -> bool:
        """Whether there is nothing in it: a tool always tells what it found."""
        return False

    @property
    def receipt_id(self) -> str:
        """The receipt that holds the whole."""
        return self.found.receipt_id

    @property
    def findings(self) -> int:
        """How many findings it holds that are more than a remark; a bad verdict is one too."""
        listed = read_findings(self.found.payload)
        grave = sum(each.get("severity") in _GRAVE for each in listed)
        return grave or int(any(self._says(name, bad) for name, bad in _BAD.items()))

    @property
    def looked_in_vain(self) -> bool:
        """Whether the tool looked for faults and found none at all."""
        told = self.found.payload
        return "findings" in told and not read_findings(told) and not self.findings

    @property
    def is_unchecked(self) -> bool:
        """Whether the tool itself says that it has looked at nothing."""
        return any(self._says(name, (_NOT_CHECKED,)) for name in _BAD)

    def _says(self, name: str, words: tuple[str, ...]) -> bool:
        return self.found.payload.get(name) in words

    def root(self) -> Json:
        """Return what references read."""
        return self.found.payload

    def shown(self, limit_chars: int) -> str:
        """Return what an agent is shown: the receipt to cite, and as many findings as fit."""
        head = f"receipt_id: {self.receipt_id}\n" if self.receipt_id else ""
        return head + cut(self.found.summary or self.found.preview, limit_chars)


@dataclass(frozen=True, slots=True)
class ArtifactSlot:
    """What an agent made; nothing if it abstained."""

    agent_id: str | None
    text: str | None
    data: dict[str, Json] = field(default_factory=dict[str, Json])
    evidence: str = ""
    abstained: bool = False

    @property
    def is_null(self) -> bool:
        """Whether there is nothing in it; blank text is nothing."""
        return self.abstained or not (self.text or "").strip()

    @property
    def sha256(self) -> str:
        """The hash of the text."""
        return digest_bytes((self.text or "").encode("utf-8", "surrogatepass"))

    @property
    def summary(self) -> str:
        """The beginning of the text on one line."""
        return preview_of(self.text or "")

    def root(self) -> Json:
        """Return what references read: the fields of its data, and text, summary, data."""
        if self.is_null:
            return None
        return {**self.data, "data": self.data, "text": self.text, "summary": self.summary}

    def shown(self, _limit_chars: int) -> str:
        """Return what an agent is shown: all of it."""
        return self.text or ""

    def to_json(self) -> dict[str, Json]:
        """Return what the journal holds."""
        return {
            "agent_id": self.agent_id,
            "text": self.text,
            "data": self.data,
            "evidence": self.evidence,
            "abstained": self.abstained,
        }

    @classmethod
    def from_output(cls, output: Json) -> "ArtifactSlot":
        """Read what the journal holds; a human may have put a bare text there."""
        if not isinstance(output, dict) or "text" not in output:
            text = output if isinstance(output, str) else compact_json(output)
            return cls(None, text, parsed_data(text))
        told = cast(dict[str, Any], output)
        return cls(
            told.get("agent_id"),
            told["text"],
            told.get("data") or {},
            told.get("evidence") or "",
            bool(told.get("abstained")),
        )


def read_findings(payload: Json) -> list[dict[str, Json]]:
    """Return the findings of a tool's payload, if it lists any."""
    told: Any = payload
    listed: Any = told.get("findings") if isinstance(payload, dict) else None
    found = cast("list[Any]", listed) if isinstance(listed, list) else []
    return [each for each in found if isinstance(each, dict)]


AnySlot = PointerSlot | ArtifactSlot


class RunSlots:
    """What one run has gathered and made so far, by name."""

    def __init__(self, assignment: Assignment) -> None:
        """Begin with the task alone."""
        self._task = assignment.task.root()
        self._slots: dict[str, AnySlot] = {}
        self._aliases = {step.step_id: step.output_slot for step in assignment.recipe.steps}

    def put(self, name: str, slot: AnySlot) -> None:
        """Fill a slot."""
        self._slots[name] = slot

    def get(self, name: str) -> AnySlot | None:
        """Return a slot, or None if it is not filled."""
        return self._slots.get(name)

    def roots(self) -> Mapping[str, Json]:
        """Return what references start from, under the names of slots and of their steps."""
        roots: dict[str, Json] = {name: slot.root() for name, slot in self._slots.items()}
        for step_id, name in self._aliases.items():
            if name in roots:
                roots.setdefault(step_id, roots[name])
        roots[TASK] = self._task
        return roots

    def receipt_ids(self) -> tuple[str, ...]:
        """Return the receipts the run has left so far."""
        pointers = (slot for slot in self._slots.values() if isinstance(slot, PointerSlot))
        return tuple(slot.receipt_id for slot in pointers if slot.receipt_id)


def parsed_data(text: str) -> dict[str, Json]:
    """Return what a text says to code: its last fenced JSON, and its verdict as `pass`.

    A verdict that is missing, or given both ways, is not guessed.
    """
    data: dict[str, Json] = {}
    for match in reversed(list(_FENCE.finditer(text))):
        try:
            found: Json = json.loads(match[2])
        except (ValueError, RecursionError):
            continue
        data = dict(cast(dict[str, Any], found)) if isinstance(found, dict) else {"value": found}
        break
    verdicts = {match[1].lower() for match in _VERDICT.finditer(text)}
    if len(verdicts) == 1:
        data["pass"] = verdicts == {"pass"}
    return data


def preview_of(text: str) -> str:
    """Return the beginning of a text on one line."""
    return " ".join(text[: 2 * PREVIEW_CHARS].split())[:PREVIEW_CHARS]


def cut(text: str, limit_chars: int) -> str:
    """Return as much of a text as fits, whole lines first, with a word on what was left out."""
    if len(text) <= limit_chars:
        return text
    head = text[:limit_chars]
    line_end = head.rfind("\n")
    kept = head[:line_end] if line_end > limit_chars // 2 else head
    return f"{kept}\n… ({len(text) - len(kept)} more characters in the receipt)"
