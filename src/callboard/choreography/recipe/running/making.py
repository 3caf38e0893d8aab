"""Phase B: one agent is asked for one artifact, in one call or in a few tiny ones.

Which it is depends on the template that the agent's tier gets: one with micro parts is asked part
by part. The whole is one step of the recipe either way.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.choreography.agent_call import AgentCall, Around
from callboard.choreography.citable import SlotText
from callboard.choreography.pages import (
    PAGES,
    PageWish,
    ProjectPage,
    find_pages,
    layers_of,
    together,
)
from callboard.choreography.recipe.definition import AgentStep, key_of, resolve
from callboard.choreography.recipe.errors import InputAbstained
from callboard.choreography.recipe.running.answers import (
    EvidencePick,
    artifact_of,
    check_spoken,
    heard,
    pick_evidence,
    weigh,
)
from callboard.choreography.recipe.running.checks import prove
from callboard.choreography.recipe.running.play import PROOF, Play
from callboard.choreography.recipe.running.slots import AnySlot, ArtifactSlot, PointerSlot
from callboard.choreography.recipe.running.writing import text_for
from callboard.choreography.small_models import (
    EVIDENCE,
    FAIL,
    FINDING,
    VERDICT,
    PartQuestion,
    TemplateParts,
    clean_reply,
    plain_findings,
)
from callboard.choreography.staffing import find_agent, is_constrained, tier_of
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json
from callboard.core.vocabulary import Agent, Content, ModelTier, StepKind, Trust
from callboard.engine.scope import StepScope
from callboard.prompts import Template
from callboard.replies.evidence import EvidenceVerdict, verdict_from_json, verdict_to_json
from callboard.tools import ToolError

_REPLY: Final = "reply"


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
    pages: tuple[ProjectPage, ...] = ()
    proof: PointerSlot | None = None

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
            text = self._shown(slot, limit) if slot is not None else ""
            self.contents[name] = Content(text, f"slot:{name}", Trust.UNTRUSTED)
            receipt_id = slot.receipt_id if isinstance(slot, PointerSlot) else ""
            self.shown[name] = SlotText(text, receipt_id or None)

    @property
    def is_constrained(self) -> bool:
        """Whether the model is one that is held to choices instead of trusted to follow."""
        return is_constrained(self.play.studio, self.agent)

    def _shown(self, slot: AnySlot, limit_chars: int) -> str:
        """Return what the agent sees of a slot; a small model gets findings in plain lines."""
        if isinstance(slot, PointerSlot) and self.is_constrained:
            return plain_findings(slot.found.summary or slot.found.preview, limit_chars)
        return slot.shown(limit_chars)

    async def perform(self) -> Json:
        await self._read()
        prompts = self.play.studio.prompts(pack_of(self.play.run))
        template = prompts.get(self.step.prompt_type, self.tier)
        if template.parts:
            return await self._in_parts(template)
        if self.tier is ModelTier.MINIMAL:
            return await self._with_help()
        return await self._at_once()

    async def _read(self) -> None:
        """Find what the step reads beside its slots: pages of the project, and a proof."""
        play, finder = self.play, self.play.house.pages
        kinds = tuple(kind for kind in self.step.reads if kind != PROOF)
        if kinds and finder is not None:
            key = f"{self.key}/{PAGES}"
            await play.turn.ready(key)
            task = play.assignment.task
            wish = PageWish(task.description, kinds, task.initial_args)
            limit = play.settings.page_tokens.limit_tokens(self.tier)
            self.pages = await find_pages(play.stage, key, finder, wish, limit)
        if PROOF in self.step.reads:
            await self._prove()

    async def _prove(self) -> None:
        """Have code look at the text this step is shown and a commit will write."""
        for commit in self.play.recipe.commit:
            if commit.slot not in self.step.input_slots:
                continue
            text = await asyncio.to_thread(text_for, self.play, commit)
            proven = await prove(self.play, f"{self.key}/{PROOF}", *text) if text else None
            if proven is None:
                continue
            self.proof = proven[1]
            limit = self.play.settings.summary_chars.limit_chars(self.tier)
            told = self._shown(self.proof, limit)
            mine = {PROOF: Content(told, f"tool:{proven[0].tool}", Trust.UNTRUSTED)}
            # What was found is what there is to speak of; without it the text is.
            found = bool(self.proof.findings)
            self.contents = {**mine, **self.contents} if found else {**self.contents, **mine}
            # A tool's words are pointed at, not quoted, by whoever picks without reading.
            quotable = "" if self.is_constrained else told
            self.shown[PROOF] = SlotText(quotable, self.proof.receipt_id)
            return

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
            if self.is_constrained:
                shown = "\n".join(each.text for each in self.shown.values())
                said["text"] = clean_reply(said["text"], shown)
            verdict = await weigh(self.play, scope, self.agent, said["text"], self.shown)
            return {**said, "verdict": verdict_to_json(verdict)}

        said = cast(dict[str, Any], await self._ask(f"{self.key}/{_REPLY}", around=around))
        verdict = verdict_from_json(said["verdict"])
        text: str = said["text"]
        if not verdict.accepted and verdict.body.strip():
            line = await pick_evidence(
                EvidencePick(
                    self.play, self.agent, f"{self.key}/{EVIDENCE}", verdict.body, self.shown
                )
            )
            text = f"{verdict.body}\n\n{line}" if line else text
        return await self._close(text)

    async def _in_parts(self, template: Template) -> Json:
        """Ask part by part: is there anything to say, what, how does it end, what proves it."""
        pointers = self._pointers()
        parts = TemplateParts(
            template,
            self.contents,
            self.play.assignment.task.content(),
            self.is_constrained,
            self._ask_part,
            self.play.studio.counter.count,
            f"agent:{self.agent.id}",
            self._target,
            self.agent.contract.archetype,
            pages=together(self.pages),
            is_told=self._is_told,
            found_nothing=any(each.looked_in_vain for each in pointers) and not self._findings(),
        )
        if parts.is_judging and pointers and all(each.is_unchecked for each in pointers):
            # Nobody has looked, so there is nothing to judge.
            return await self._close("ABSTAIN")
        text = await parts.compose()
        if text is None:
            return await self._close("ABSTAIN")
        telling = self.play.house.telling
        if parts.is_pieced and telling is not None:
            text = await asyncio.to_thread(telling.retell, self.play.studio, text)
        line = await self._evidence_line(parts, text)
        return await self._close(f"{text}\n\n{line}" if line else text)

    def _is_told(self, sentence: str) -> bool:
        telling = self.play.house.telling
        return telling is not None and telling.is_told(self.play.studio, sentence)

    def _target(self) -> str:
        """Return the file the slot is going to be written to; nothing if there is none yet."""
        for commit in self.play.recipe.commit:
            if commit.slot == self.step.output_slot and commit.path is not None:
                path = resolve(commit.path, self.play.slots.roots())
                try:
                    return self.play.studio.tools.files.read_text(str(path)).text
                except ToolError:
                    return ""
        return ""

    async def _evidence_line(self, parts: TemplateParts, text: str) -> str:
        if all(part.name != EVIDENCE for part in parts.template.parts):
            return ""
        finding = Content(text, f"agent:{self.agent.id}", Trust.UNTRUSTED)
        pick = EvidencePick(
            self.play,
            self.agent,
            f"{self.key}/{EVIDENCE}",
            text,
            {name: each for name, each in self.shown.items() if parts.shows(name)},
            prompt=self.step.prompt_type,
            part=EVIDENCE,
            framing=parts.framing(EVIDENCE, {FINDING: finding}),
            is_free=not self.is_constrained,
            rest=self.shown,
        )
        return await pick_evidence(pick)

    async def _ask_part(self, question: PartQuestion) -> Json:
        async def around(_scope: StepScope, ask: Callable[[], Awaitable[Json]]) -> Json:
            said = await heard(self.play, self.agent, ask)
            if question.schema is None:
                check_spoken(self.agent, said["text"])
            return said

        key = f"{self.key}/{question.name}"
        if question.part == VERDICT and self.is_constrained and self._findings():
            return await self._settle(key)
        return await self._ask(key, around=around, question=question)

    def _findings(self) -> int:
        """Return how much the tools behind the inputs found; a small model cannot vote it away."""
        return sum(slot.findings for slot in self._pointers())

    def _pointers(self) -> list[PointerSlot]:
        slots = [self.play.slots.get(name) for name in self.step.input_slots]
        return [slot for slot in (*slots, self.proof) if isinstance(slot, PointerSlot)]

    async def _settle(self, key: str) -> Json:
        """Put on record that the verdict is the tools'."""

        async def act(scope: StepScope) -> Json:
            scope.preview = f"{FAIL}: the tools found {self._findings()}"
            return {"text": FAIL, "data": {"choice": FAIL}}

        return await self.play.step(key, act, kind=StepKind.CHECK)

    async def _close(self, text: str) -> Json:
        """Judge what the parts gave together, and fill the slot."""

        async def act(scope: StepScope) -> Json:
            scope.detail["agent"] = self.agent.id
            verdict: EvidenceVerdict = await weigh(self.play, scope, self.agent, text, self.shown)
            return artifact_of(self.play, scope, self.agent, verdict).to_json()

        slot = self.step.output_slot
        return await self.play.step(self.key, act, kind=StepKind.AGENT, slot=slot)

    def _placed(self) -> set[str]:
        prompts = self.play.studio.prompts(pack_of(self.play.run))
        template = prompts.get(self.step.prompt_type, self.tier)
        return {placeholder.name for placeholder in template.placeholders}

    async def _ask(
        self,
        key: str,
        *,
        around: Around,
        slot: str | None = None,
        question: PartQuestion | None = None,
    ) -> Json:
        if self.play.run.holds(key):
            return self.play.run.recall(key)
        await self.play.turn.ready(key)
        task = {"task": self.play.assignment.task.content()}
        if not self.is_constrained and PAGES in self._placed():
            task[PAGES] = together(self.pages)
        call = AgentCall(
            key=key,
            agent_id=self.agent.id,
            prompt=self.step.prompt_type,
            inputs=self.contents,
            schema=question.schema if question is not None else None,
            slot=slot,
            max_tokens=question.max_tokens if question is not None else None,
            timeout_seconds=self.play.settings.agent_timeout_seconds,
            framing=question.framing if question is not None else task,
            part=question.part if question is not None else None,
            layers=() if self.is_constrained or PAGES in task else layers_of(self.pages),
            around=around,
        )
        return await self.play.stage.ask_call(call)
