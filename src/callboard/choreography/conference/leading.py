"""Phase 1: the Chief gathers evidence, by strict calls or, if its model is small, by picking.

A small model is never asked to write a call. Code prepares calls with their arguments, the model
picks from a list that the schema closes, and the server runs them under the same rights.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, cast

from callboard.choreography.agent_calls import (
    ByteLimits,
    Errand,
    ErrandPrompts,
    Gathered,
    Refused,
    ToolFinding,
    ToolPolicy,
    execute_for,
    needs_tool,
    rights_of,
    run_errand,
)
from callboard.choreography.conference.shapes import ProposedCall, Supplies
from callboard.choreography.staffing import chief_of, tier_of
from callboard.choreography.stage import Stage
from callboard.choreography.tool_use import ToolUse
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Agent, Effect, ModelTier
from callboard.tools import SUMMARY_BUDGET_CHARS, Policy

_PROMPTS: Final = ErrandPrompts(
    "conference_lead",
    "conference_lead_required",
    "conference_lead_next",
    "conference_lead_refused",
)
_PICK: Final = "conference_lead_pick"
_ENOUGH: Final = "enough"
_OFFERED: Final = 3
_FINDINGS_SHOWN: Final = 4
"""How many findings at full size lie on the table at most."""


class ToolRequiredNotCalled(CallboardError):
    """Evidence was required and the Chief brought none."""

    code = "tool_required_not_called"


async def lead(
    stage: Stage,
    message: str,
    attendees: Sequence[Agent],
    policy: ToolPolicy,
    supplies: Supplies,
) -> tuple[Gathered, bool]:
    """Have the Chief gather what everybody will see; say also whether a call was required."""
    studio, chief = stage.studio, chief_of(attendees)
    rights = rights_of(studio, chief, policy)
    is_required = await _is_required(stage, message, rights, policy, supplies)
    limits = pack_limits(stage, attendees)
    if tier_of(studio, chief) is ModelTier.MINIMAL:
        gathered = await _Picking(stage, chief, rights, limits).run(message, supplies)
        return gathered, is_required
    settings = studio.settings.conference
    errand = Errand(
        agent=chief,
        message=stage.user(message),
        rights=rights,
        prompts=_PROMPTS,
        limits=limits,
        max_steps=settings.max_tool_steps,
        timeout_seconds=settings.agent_timeout_seconds,
        is_required=is_required,
    )
    return await run_errand(stage, errand), is_required


def pack_limits(stage: Stage, attendees: Sequence[Agent]) -> ByteLimits:
    """Return how much evidence is shown: what the settings allow and the smallest can take in."""
    settings = stage.studio.settings.conference
    tiers = {tier_of(stage.studio, agent) for agent in attendees}
    smallest = min(SUMMARY_BUDGET_CHARS[tier] for tier in tiers)
    # A small model reads slowly and loses the thread: all it gets is what it can take in at once.
    one, everything = smallest, _FINDINGS_SHOWN * smallest
    if ModelTier.MINIMAL in tiers:
        one, everything = smallest // 2, smallest
    return ByteLimits(
        min(settings.max_tool_bytes_per_step, one),
        min(settings.max_tool_bytes_per_round, everything),
    )


def check_gathered(gathered: Gathered, *, is_required: bool) -> None:
    """Refuse to go on without the call that was required."""
    if is_required and not gathered.findings:
        tried = ", ".join(each.code.value for each in gathered.refusals)
        raise ToolRequiredNotCalled(
            "The message needs evidence, and no tool was called for it"
            + (f" (refused: {tried})" if tried else ""),
            fix="Ask again, name a tool or a file, or hold the round without requiring a tool.",
        )


async def _is_required(
    stage: Stage, message: str, rights: Policy, policy: ToolPolicy, supplies: Supplies
) -> bool:
    if policy.require_tool:
        return True
    if not rights.role_tools:
        return False
    studio = stage.studio

    async def look() -> Json:
        context = studio.tools.context(stage.run.session_id)
        names = await asyncio.to_thread(supplies.names, context)
        return needs_tool(message, studio.tools.registry.ids, (*supplies.subjects, *names))

    # Journaled: the project may know other names by the time the run is resumed.
    return bool(await stage.step("lead/required", look, effect=Effect.PURE))


class _Picking:
    """A small Chief at work."""

    def __init__(self, stage: Stage, chief: Agent, rights: Policy, limits: ByteLimits) -> None:
        self.stage = stage
        self.chief = chief
        self.rights = rights
        self.limits = limits
        self.findings: list[ToolFinding] = []
        self.refusals: list[Refused] = []

    async def run(self, message: str, supplies: Supplies) -> Gathered:
        waiting = await self.proposals(message, supplies)
        number = 0
        while waiting and self.may_go_on(number):
            number += 1
            chosen = await self.pick(number, message, waiting)
            if chosen is None:
                break
            waiting.remove(chosen)
            await self.execute(number, chosen)
        was_forced = bool(waiting) and not self.may_go_on(number)
        return Gathered(tuple(self.findings), tuple(self.refusals), was_forced=was_forced)

    def may_go_on(self, number: int) -> bool:
        is_within = number < self.stage.studio.settings.conference.max_tool_steps
        return is_within and self.limits.room(self.findings) > 0

    async def proposals(self, message: str, supplies: Supplies) -> list[ProposedCall]:
        """Have code propose calls; those the Chief may not make are not offered."""
        studio = self.stage.studio

        async def propose() -> Json:
            context = studio.tools.context(self.stage.run.session_id)
            calls = await asyncio.to_thread(supplies.propose, context, message)
            allowed = [each for each in calls if self.is_allowed(each)]
            return [each.to_json() for each in {call.label: call for call in allowed}.values()]

        proposed = await self.stage.step("lead/proposals", propose, effect=Effect.PURE)
        return [ProposedCall.from_json(each) for each in cast("list[Any]", proposed)]

    def is_allowed(self, call: ProposedCall) -> bool:
        registry = self.stage.studio.tools.registry
        return call.tool in registry and self.rights.allows(registry.get(call.tool))

    async def pick(
        self, number: int, message: str, waiting: list[ProposedCall]
    ) -> ProposedCall | None:
        if not self.findings:
            # Looking costs nothing here, and code knows best what fits the words of the message.
            return waiting[0]
        options = [*(call.label for call in waiting[:_OFFERED]), _ENOUGH]
        key = f"lead/{number}/pick"
        stage = self.stage
        label = await stage.choose(
            key, self.chief.id, options, prompt=_PICK, message=stage.user(message)
        )
        return next((call for call in waiting if call.label == label), None)

    async def execute(self, number: int, call: ProposedCall) -> None:
        key = f"lead/{number}/tool"
        slot = self.stage.run.key(key)
        use = ToolUse(key, call.tool, call.args, slot, self.chief.id, self.rights)
        found = await execute_for(self.stage, use, self.limits.room(self.findings))
        if isinstance(found, Refused):
            self.refusals.append(found)
        else:
            self.findings.append(found)
