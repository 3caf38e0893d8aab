"""The conclusion of a turn: acted on and replied to, held back as a proposal, or asked about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.turn.acting.groups import Consent, Held, PlanExecution
from callboard.choreography.turn.acting.writing import undo_turn
from callboard.choreography.turn.asker import QUICK
from callboard.choreography.turn.replying.breaks import (
    changed_since,
    make_clarification,
    make_proposal,
)
from callboard.choreography.turn.replying.facts import gather_facts
from callboard.choreography.turn.replying.wording import (
    ALSO_NOT_UNDERSTOOD,
    clean_reply,
    proposal_text,
    word_reply,
)
from callboard.choreography.turn.requests import WritePreview
from callboard.choreography.turn.shapes import Option, PendingProposal, ThinkOutput
from callboard.choreography.turn.thinking.deciding import TurnDecision
from callboard.choreography.turn.work import TurnWork
from callboard.core.canonical import Json
from callboard.core.vocabulary import Effect

UNDOING: Final = "undo"


@dataclass(frozen=True, slots=True)
class Replied:
    """What the user is told."""

    message: str
    action: str = "respond"


class Conclusion:
    """Concludes one message."""

    def __init__(self, work: TurnWork) -> None:
        """Take the work; the request is the message until it turns out to go on with another."""
        self.work = work
        # What the request is, where a question's answer goes on with an older one.
        self.intent = work.message
        self.times = 1

    async def act(
        self, decision: TurnDecision, consent: Consent, before: set[str] | None = None
    ) -> Replied:
        """Do what was decided and tell it; what needs a yes first is proposed."""
        work = self.work
        if decision.plan is None and decision.reply:
            self._pin(decision)
            return Replied(clean_reply(work, decision.reply))
        if decision.plan is not None:
            work.show("node_started", node="act")
            execution = PlanExecution(work, decision.plan, consent, proposes=decision.proposes)
            work.plan = decision.plan
            held = await execution.perform()
            work.plan = execution.plan
            if held is not None:
                note = "Something has changed since I asked." if consent.previews else ""
                return await self.propose(held, note)
        self._pin(decision)
        return await self._reply(decision, before)

    async def _reply(self, decision: TurnDecision, before: set[str] | None) -> Replied:
        work = self.work
        work.show("node_started", node="reply")
        only = None if before is None else [e for e in work.results if e not in before]
        facts = await gather_facts(work, only)
        if decision.reply:
            # Who answers in words has said of the rows what there is to say.
            facts.listings.clear()
            facts.said.insert(0, decision.reply)
        if decision.plan is None and not facts.said and work.asker.is_constrained(QUICK):
            return Replied(ALSO_NOT_UNDERSTOOD)
        return Replied(await word_reply(work, facts))

    async def undo(self, agreed: Sequence[str] | None = ()) -> Replied:
        """Take back what the last turn wrote, or ask first where much would go."""
        said = await undo_turn(self.work, agreed)
        return Replied(said) if isinstance(said, str) else self.clarify(said, (), UNDOING)

    def _pin(self, decision: TurnDecision) -> None:
        for each in decision.unpins:
            if self.work.registry.find(each) is not None:
                self.work.registry.unpin(each, self.work.turn)
        for each in decision.pins:
            if self.work.registry.find(each) is not None:
                self.work.registry.pin(each, self.work.turn)

    async def propose(self, held: Held, note: str = "") -> Replied:
        """Keep a plan until the user agrees to it, and say what it would do."""
        work = self.work
        work.plan = held.plan
        proposal = make_proposal(work, held, self.intent, note, self.times)
        work.state.proposal = proposal
        facts = await gather_facts(work)
        facts.assumptions = []
        return Replied(clean_reply(work, proposal_text(work.domain, proposal, facts)), "propose")

    def clarify(
        self, questions: Sequence[str], options: Sequence[Option], reason: str | None
    ) -> Replied:
        """Ask back, and keep the question open."""
        work = self.work
        asked = make_clarification(work, questions, options, self.intent, reason or "", self.times)
        work.state.clarification = asked
        return Replied(clean_reply(work, "\n".join(asked.questions)), "clarify")

    async def carry_out(self, proposal: PendingProposal) -> Replied:
        """Execute a stored plan without planning again, unless the world has moved on."""
        work = self.work
        work.plan = ThinkOutput(goal=proposal.goal, steps=proposal.steps)
        work.results = dict(proposal.results)
        work.assumptions += proposal.assumptions
        self.intent = proposal.original_intent

        async def look() -> Json:
            found = await changed_since(work, proposal)
            if found is None:
                return None
            return {name: each.model_dump(mode="json") for name, each in found.items()}

        seen = await work.stage.step("recheck", look, effect=Effect.PURE)
        moved = cast("dict[str, Any] | None", seen)
        if moved is not None:
            previews = {k: WritePreview.model_validate(v) for k, v in moved.items()}
            held = Held(work.plan, previews)
            return await self.propose(held, "Something has changed since I asked.")
        before = set(work.results)
        return await self.act(TurnDecision(work.plan), Consent(True, proposal.previews), before)
