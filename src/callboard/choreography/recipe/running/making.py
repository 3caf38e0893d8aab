"""Phase B: one agent is asked for one artifact, in one call or in a few tiny ones.

Which it is depends on the template that the agent's tier gets: one with micro parts is asked part
by part. The whole is one step of the recipe either way.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.choreography.asking import Around, Call
from callboard.choreography.citable import SlotText
from callboard.choreography.recipe.definition import AgentStep, key_of
from callboard.choreography.recipe.errors import InputAbstained
from callboard.choreography.recipe.running.answers import artifact_of, check_spoken, heard, weigh
from callboard.choreography.recipe.running.evidence import Pick, pick_evidence
from callboard.choreography.recipe.running.micro import (
    TRIAGE,
    VERDICT,
    choice_of,
    choice_schema,
    declines,
    with_verdict,
)
from callboard.choreography.recipe.running.play import Play
from callboard.choreography.recipe.running.slots import ArtifactSlot, PointerSlot
from callboard.choreography.staffing import find_agent, tier_of
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json
from callboard.core.vocabulary import Agent, Content, ModelTier, StepKind, Trust
from callboard.engine.scope import StepScope
from callboard.prompts import Template
from callboard.replies.evidence import Verdict, cut_reply, verdict_from_json, verdict_to_json

_FINDING: Final = "finding"
_EVIDENCE: Final = "evidence"
_REPLY: Final = "reply"
_SHORT_TOKENS: Final = 60


async def make(play: Play, step: AgentStep) -> None:
    """Have one agent fill one slot."""
    key = key_of(step)
    if play.run.holds(key):
        output = play.run.recall(key)
    else:
        await _check_inputs(play, step)
        output = await _Making(play, step).perform()
    play.slots.put(step.output_slot, ArtifactSlot.from_output(output))


async def _check_inputs(play: Play, step: AgentStep) -> None:
    for name in step.input_slots:
        slot = play.slots.get(name)
        if isinstance(slot, ArtifactSlot) and slot.abstained:
            error = InputAbstained(
                f"Step {step.step_id!r} needs {name!r}, but {slot.agent_id} had nothing to say",
                fix="Give the agent more to go on and retry from its step, or fork the run with"
                " a text of your own in that slot.",
                slot=name,
            )
            await play.fail(key_of(step), error, StepKind.AGENT)


@dataclass(slots=True)
class _Making:
    """One step while it is executed."""

    play: Play
    step: AgentStep
    key: str = field(init=False)
    agent: Agent = field(init=False)
    tier: ModelTier = field(init=False)
    contents: dict[str, Content] = field(init=False)
    shown: dict[str, SlotText] = field(init=False)

    def __post_init__(self) -> None:
        """Find who is asked, and what they are shown."""
        play, studio = self.play, self.play.studio
        self.key = key_of(self.step)
        pack = pack_of(play.run)
        archetype = self.step.agent_archetype
        self.agent = find_agent(studio, play.assignment.agents.get(archetype, archetype), pack)
        self.tier = tier_of(studio, self.agent)
        limit = play.settings.summary_chars.limit_chars(self.tier)
        self.contents, self.shown = {}, {}
        for name in self.step.input_slots:
            slot = play.slots.get(name)
            text = slot.shown(limit) if slot is not None else ""
            self.contents[name] = Content(text, f"slot:{name}", Trust.UNTRUSTED)
            receipt_id = slot.receipt_id if isinstance(slot, PointerSlot) else ""
            self.shown[name] = SlotText(text, receipt_id or None)

    @property
    def is_constrained(self) -> bool:
        """Whether the model is one that is held to choices instead of trusted to follow."""
        model = self.agent.model or self.play.studio.settings.models.default
        return self.play.studio.catalog.facts(model).tier is ModelTier.MINIMAL

    async def perform(self) -> Json:
        prompts = self.play.studio.prompts(pack_of(self.play.run))
        template = prompts.get(self.step.prompt_type, self.tier)
        if template.parts:
            return await self._in_parts(template)
        if self.tier is ModelTier.MINIMAL:
            return await self._with_help()
        return await self._at_once()

    async def _at_once(self) -> Json:
        """Ask, judge and store in one step."""

        async def around(scope: StepScope, ask: Callable[[], Awaitable[Json]]) -> Json:
            said = await heard(self.play, self.agent, ask)
            verdict = await weigh(self.play, scope, self.agent, said["text"], self.shown)
            artifact = artifact_of(self.play, scope, self.agent, verdict)
            return {**artifact.to_json(), "prompt_id": said["prompt_id"]}

        return await self._ask(self.key, around=around, slot=self.step.output_slot)

    async def _with_help(self) -> Json:
        """Ask; if what is cited does not hold, let the model pick from what would."""

        async def around(scope: StepScope, ask: Callable[[], Awaitable[Json]]) -> Json:
            said = await heard(self.play, self.agent, ask)
            verdict = await weigh(self.play, scope, self.agent, said["text"], self.shown)
            return {**said, "verdict": verdict_to_json(verdict)}

        said = cast(dict[str, Any], await self._ask(f"{self.key}/{_REPLY}", around=around))
        verdict = verdict_from_json(said["verdict"])
        text: str = said["text"]
        if not verdict.accepted and verdict.body.strip():
            line = await pick_evidence(
                Pick(self.play, self.agent, f"{self.key}/{_EVIDENCE}", verdict.body, self.shown)
            )
            text = f"{verdict.body}\n\n{line}" if line else text
        return await self._close(text)

    async def _in_parts(self, template: Template) -> Json:
        """Ask part by part: is there anything to say, what, how does it end, what proves it."""
        parts = {part.name: part for part in template.parts}
        said: dict[str, str] = {}
        for name in parts:
            if name == _EVIDENCE:
                continue
            said[name] = await self._ask_part(name, said)
            if name == TRIAGE and declines(said[name]):
                return await self._close("ABSTAIN")
        text = cut_reply(said.get(_FINDING, "")).body
        if VERDICT in said:
            text = with_verdict(text, said[VERDICT])
        line = await self._evidence_line(template, text, said)
        return await self._close(f"{text}\n\n{line}" if line else text)

    async def _evidence_line(self, template: Template, text: str, said: dict[str, str]) -> str:
        if all(part.name != _EVIDENCE for part in template.parts):
            return ""
        pick = Pick(
            self.play,
            self.agent,
            f"{self.key}/{_EVIDENCE}",
            text,
            self.shown,
            prompt=self.step.prompt_type,
            part=_EVIDENCE,
            framing=self._framing({**said, _FINDING: text}),
            is_free=not self.is_constrained,
        )
        return await pick_evidence(pick)

    async def _ask_part(self, part: str, earlier: dict[str, str]) -> str:
        async def around(_scope: StepScope, ask: Callable[[], Awaitable[Json]]) -> Json:
            said = await heard(self.play, self.agent, ask)
            if schema is None:
                check_spoken(self.agent, said["text"])
            return said

        schema = choice_schema(part) if self.is_constrained else None
        short = _SHORT_TOKENS if part in (TRIAGE, VERDICT) else None
        output = await self._ask(
            f"{self.key}/{part}",
            around=around,
            part=part,
            schema=schema,
            said=earlier,
            max_tokens=short,
        )
        return choice_of(output) if schema is not None else str(output["text"])

    async def _close(self, text: str) -> Json:
        """Judge what the parts gave together, and fill the slot."""

        async def act(scope: StepScope) -> Json:
            scope.detail["agent"] = self.agent.id
            verdict: Verdict = await weigh(self.play, scope, self.agent, text, self.shown)
            return artifact_of(self.play, scope, self.agent, verdict).to_json()

        slot = self.step.output_slot
        return await self.play.step(self.key, act, kind=StepKind.AGENT, slot=slot)

    def _framing(self, said: dict[str, str]) -> dict[str, Content]:
        """Return the task, and what was answered to earlier parts."""
        own = {
            name: Content(text, f"agent:{self.agent.id}", Trust.UNTRUSTED)
            for name, text in said.items()
        }
        return {"task": self.play.assignment.task.content(), **own}

    async def _ask(
        self,
        key: str,
        *,
        around: Around,
        slot: str | None = None,
        part: str | None = None,
        schema: dict[str, Json] | None = None,
        said: dict[str, str] | None = None,
        max_tokens: int | None = None,
    ) -> Json:
        if self.play.run.holds(key):
            return self.play.run.recall(key)
        await self.play.turn.ready(key)
        call = Call(
            key=key,
            agent_id=self.agent.id,
            prompt=self.step.prompt_type,
            inputs=self.contents,
            schema=schema,
            slot=slot,
            max_tokens=max_tokens,
            timeout_seconds=self.play.settings.agent_timeout_seconds,
            framing=self._framing(said or {}),
            part=part,
            around=around,
        )
        return await self.play.stage.ask_call(call)
