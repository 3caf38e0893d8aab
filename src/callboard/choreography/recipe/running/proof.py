"""The proof of a text: what code finds in it before it is written, whoever wrote it.

A pack names the tool that looks. A model can only make a verdict worse: what fails here is not
written, and what nobody looked at is not called good.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.recipe.running.play import Play
from callboard.choreography.recipe.running.slots import PointerSlot, read_findings
from callboard.choreography.tool_use import ToolUse, use_tool
from callboard.core.canonical import Json
from callboard.core.words import shorten
from callboard.studio.studio import Studio
from callboard.tools import Policy, ToolCall

FAIL: Final = "FAIL"
NOT_CHECKED: Final = "NOT_CHECKED"
_MOST_TOLD: Final = 10
_TOLD_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Proof:
    """What a tool says of a text that is about to be written."""

    tool: str
    receipt_id: str
    verdict: str
    told: str
    findings: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the text must not be written without the human."""
        return self.verdict == FAIL

    @property
    def reason(self) -> str:
        """Why it fails, in one line."""
        return shorten("; ".join(self.findings) or self.told, _TOLD_CHARS)

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "tool": self.tool,
            "receipt_id": self.receipt_id,
            "verdict": self.verdict,
            "told": self.told,
            "findings": list(self.findings),
        }

    @classmethod
    def from_json(cls, data: Json) -> "Proof | None":
        """Read that shape; a result that was stored without one has none."""
        if not isinstance(data, dict):
            return None
        told = cast(dict[str, Any], data)
        return cls(
            str(told["tool"]),
            str(told["receipt_id"]),
            str(told["verdict"]),
            str(told["told"]),
            tuple(str(each) for each in told["findings"]),
        )


async def prove(play: Play, key: str, path: str, text: str) -> tuple[Proof, PointerSlot] | None:
    """Have the pack's tool look at a text for a file; None if the pack has none for that."""
    if play.house.proof is None:
        return None
    await play.turn.ready(key)
    args: dict[str, Json] = {"path": path, "text": text}
    # Without a slot: a proof cannot be set by hand.
    outcome = await use_tool(play.studio, play.run, ToolUse(key, play.house.proof, args, None))
    proof = _read(outcome.tool, outcome.receipt_id, outcome.payload, outcome.preview)
    return proof, PointerSlot(outcome)


async def prove_again(studio: Studio, tool: str, proposal: tuple[str, str, str, str]) -> Proof:
    """Have a text looked at now, on record: session, run, path and text of a proposal."""
    session_id, run_id, path, text = proposal
    call = ToolCall(tool, {"path": path, "text": text}, session_id, run_id=run_id)
    ran = await studio.tools.run(call, Policy())
    result = ran.execution.unwrap()
    return _read(tool, ran.receipt.id, result.payload, result.preview)


def _read(tool: str, receipt_id: str, payload: dict[str, Any], preview: str) -> Proof:
    grave = [each for each in read_findings(payload) if each.get("severity") == "major"]
    told = tuple(str(each.get("message", "")) for each in grave[:_MOST_TOLD])
    more = len(grave) - len(told)
    return Proof(
        tool,
        receipt_id,
        str(payload.get("verdict", NOT_CHECKED)),
        preview,
        (*told, f"and {more} more") if more > 0 else told,
    )
