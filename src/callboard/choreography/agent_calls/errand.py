"""The errand: an agent gathers findings with tools, one strict call at a time, until it is done.

It is told only of the tools it may call, each with its arguments.

Every reply is a step: read strictly, held against the agent's rights, executed by the server, and
told back. What goes wrong runs nothing and costs a step; when the steps are used up it is over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from callboard.choreography.agent_calls.findings import ByteLimits, ToolFinding, fit_bytes, lay_out
from callboard.choreography.agent_calls.protocol import (
    CallCode,
    CallDecision,
    Refused,
    Verb,
    permit,
)
from callboard.choreography.stage import Stage
from callboard.choreography.tool_use import ToolUse, use_tool
from callboard.choreography.values import Reply
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import ErrorRecord
from callboard.core.vocabulary import Agent, Content, Effect, Trust
from callboard.engine.errors import StepFailed
from callboard.prompts import Layer, Turn, load_prompt
from callboard.studio.studio import Studio
from callboard.tools import NonceScope, Policy, ToolRegistry, list_receipts


def describe_tools(registry: ToolRegistry, rights: Policy) -> Content:
    """Return the catalogue for a prompt, sorted by id."""
    return Content(
        "\n".join(_tool(each) for each in registry.catalogue(rights)), "tools", Trust.UNTRUSTED
    )


def _tool(entry: dict[str, Json]) -> str:
    schema = cast("dict[str, Any]", entry["args"])
    required = set(schema.get("required", ()))
    args = [
        f"  - {name} ({_kind(shape)}{', required' if name in required else ''})"
        + (f": {shape['description']}" if shape.get("description") else "")
        for name, shape in cast("dict[str, dict[str, Any]]", schema.get("properties", {})).items()
    ]
    return "\n".join([f"- {entry['id']}: {entry['description']}", *args])


def _kind(shape: dict[str, Any]) -> str:
    if "enum" in shape:
        return "one of " + ", ".join(str(each) for each in shape["enum"])
    if "anyOf" in shape:
        kinds = [_kind(branch) for branch in shape["anyOf"] if branch.get("type") != "null"]
        return " or ".join(kinds)
    if shape.get("type") == "array":
        return f"list of {_kind(shape.get('items', {}))}"
    default = shape.get("default")
    named = str(shape.get("type", "value"))
    return named if default in (None, "") else f"{named}, default {compact_json(default)}"


_REFUSALS: Mapping[str, CallCode] = {
    "unknown_tool": CallCode.UNKNOWN_TOOL,
    "invalid_args": CallCode.INVALID_ARGS,
    "nonce_invalid": CallCode.NONCE_INVALID,
    "tool_refused": CallCode.NOT_ALLOWED,
}


@dataclass(frozen=True, slots=True)
class ErrandPrompts:
    """The names of the templates: at first, when a call is a must, after a result or a refusal."""

    first: str
    required: str
    next: str
    refused: str


@dataclass(frozen=True, slots=True)
class Errand:
    """Who gathers for what, with which rights and within which limits.

    `may_answer` lets a reply in prose end the errand as an answer, as in a chat; without it only
    a call or a final counts.
    """

    agent: Agent
    message: Content
    rights: Policy
    prompts: ErrandPrompts
    limits: ByteLimits
    max_steps: int
    timeout_seconds: float
    is_required: bool = False
    may_answer: bool = False
    history: tuple[Turn, ...] = ()
    # What of the project lies before the agent from the start.
    layers: tuple[Layer, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathered:
    """What an errand brought, what was refused on the way, and how it ended."""

    findings: tuple[ToolFinding, ...] = ()
    refusals: tuple[Refused, ...] = ()
    note: str = ""
    answer: str | None = None
    was_forced: bool = False


async def run_errand(stage: Stage, errand: Errand, key: str = "lead") -> Gathered:
    """Let an agent gather until it says that it is done or may not go on."""
    return await _Errand(stage, errand, key).run()


def word_for_word(studio: Studio, reply: Reply) -> str:
    """Return what a model wrote, to the letter, before anything was taken out of it."""
    if not reply.prompt_id:
        return reply.text
    record = studio.database.read(lambda connection: load_prompt(connection, reply.prompt_id))
    return record.reply.text if record.reply is not None else reply.text


class _Errand:
    def __init__(self, stage: Stage, errand: Errand, key: str) -> None:
        self.stage = stage
        self.errand = errand
        self.key = key
        self.findings: list[ToolFinding] = []
        self.refusals: list[Refused] = []
        self.refused: Refused | None = None

    async def run(self) -> Gathered:
        for number in range(1, self.errand.max_steps + 1):
            decision = await self.decide(f"{self.key}/{number}")
            if decision.verb in (Verb.FINISH, Verb.ANSWER):
                answer = decision.text if decision.verb is Verb.ANSWER else None
                return self.result(decision.text if answer is None else "", answer)
            if decision.refused is not None:
                self.refuse(decision.refused)
            else:
                await self.execute(f"{self.key}/{number}/tool", decision)
            if not self.errand.limits.room(self.findings):
                break
        return self.result(was_forced=True)

    def result(
        self, note: str = "", answer: str | None = None, *, was_forced: bool = False
    ) -> Gathered:
        findings, refusals = tuple(self.findings), tuple(self.refusals)
        return Gathered(findings, refusals, note, answer, was_forced)

    def refuse(self, refused: Refused) -> None:
        self.refusals.append(refused)
        self.refused = refused

    async def decide(self, key: str) -> CallDecision:
        """Ask for one reply and settle what it is."""
        studio, run = self.stage.studio, self.stage.run
        scope = NonceScope(run.session_id, run.id, run.key(key))
        # Journaled, for a resumed run must show the agent the same nonce again.
        minted = await self.stage.step(
            f"{key}/nonce", lambda: studio.tools.mint_nonce(scope), effect=Effect.PURE
        )
        nonce = str(minted)
        reply = await self.ask(f"{key}/ask", nonce)
        await run.durable()
        is_unmet = self.errand.is_required and not self.findings
        return await permit(
            self.stage,
            f"{key}/permit",
            word_for_word(studio, reply),
            scope,
            is_unmet=is_unmet,
            may_answer=self.errand.may_answer,
        )

    async def ask(self, key: str, nonce: str) -> Reply:
        errand, refused = self.errand, self.refused
        is_unmet = errand.is_required and not self.findings
        self.refused = None
        prompts = errand.prompts
        start = prompts.required if is_unmet else prompts.first
        prompt = prompts.refused if refused else prompts.next if self.findings else start
        return await self.stage.ask(
            key,
            errand.agent.id,
            prompt=prompt,
            timeout_seconds=errand.timeout_seconds,
            history=errand.history,
            layers=errand.layers,
            message=errand.message,
            tools=describe_tools(self.stage.studio.tools.registry, errand.rights),
            results=lay_out(self.findings),
            nonce=_told(nonce),
            code=_told(refused.code.value if refused is not None else ""),
            # The detail may repeat words of the reply, which must not speak with our voice.
            detail=Content(refused.detail if refused is not None else "", "refusal"),
            must_call=_told("yes" if is_unmet else "no"),
        )

    async def execute(self, key: str, decision: CallDecision) -> None:
        """Run what was asked for; the server may still refuse it."""
        finding = await execute_for(
            self.stage,
            ToolUse(
                key,
                decision.tool,
                decision.args,
                self.stage.run.key(key),
                self.errand.agent.id,
                self.errand.rights,
                decision.permit,
            ),
            self.errand.limits.room(self.findings),
        )
        if isinstance(finding, Refused):
            self.refuse(finding)
        else:
            self.findings.append(finding)


async def execute_for(stage: Stage, use: ToolUse, room_bytes: int) -> ToolFinding | Refused:
    """Execute a call on an agent's behalf and return what may be shown of it."""
    try:
        outcome = await use_tool(stage.studio, stage.run, use)
    except StepFailed as failed:
        return _after_failure(stage, use, failed.error, room_bytes)
    text = fit_bytes(outcome.summary or outcome.preview, room_bytes)
    return ToolFinding(use.tool, use.args, outcome.receipt_id, text, outcome.preview)


def _after_failure(
    stage: Stage, use: ToolUse, error: ErrorRecord, room_bytes: int
) -> ToolFinding | Refused:
    code = _REFUSALS.get(error.code)
    told = f"{error.message}. {error.fix or ''}".strip()
    if code is not None:
        return Refused(code, told)
    # The tool ran and failed: that is a finding too, with a receipt of its own.
    text = fit_bytes(f"{error.code}: {told}", room_bytes)
    receipt_id = _receipt_of(stage, use.key)
    return ToolFinding(use.tool, use.args, receipt_id, text, error.code, has_failed=True)


def _receipt_of(stage: Stage, key: str) -> str:
    run = stage.run
    receipts = stage.studio.database.read(
        lambda connection: list_receipts(connection, run_id=run.id)
    )
    return next((each.id for each in reversed(receipts) if each.step_key == run.key(key)), "")


def _told(text: str) -> Content:
    return Content(text, "callboard", Trust.TRUSTED)


def gathered_to_json(gathered: Gathered) -> dict[str, Json]:
    """Return the stored shape of what was gathered."""
    return {
        "findings": [each.to_json() for each in gathered.findings],
        "refusals": [
            {"code": each.code.value, "detail": each.detail} for each in gathered.refusals
        ],
        "note": gathered.note,
        "was_forced": gathered.was_forced,
    }


def gathered_from_json(data: Json) -> Gathered:
    """Read the stored shape."""
    raw = cast("dict[str, Any]", data)
    return Gathered(
        tuple(ToolFinding.from_json(each) for each in raw["findings"]),
        tuple(Refused(CallCode(each["code"]), each["detail"]) for each in raw["refusals"]),
        raw["note"],
        was_forced=raw["was_forced"],
    )
