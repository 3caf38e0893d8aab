"""Phases: a message is understood, thought about, acted on and replied to, in this order."""

from collections.abc import Sequence
from typing import Final

from callboard.choreography.turn.acting.groups import Consent
from callboard.choreography.turn.asker import QUICK
from callboard.choreography.turn.conclusion import UNDOING, Conclusion, Replied
from callboard.choreography.turn.domain import Routed
from callboard.choreography.turn.modes import accepted_switch, mode_by_intent
from callboard.choreography.turn.replying.breaks import MOST_BREAKS, asks_for_profile
from callboard.choreography.turn.replying.wording import NOTHING_MORE_SAVED, NOTHING_SAVED
from callboard.choreography.turn.shapes import PendingClarification, PendingProposal
from callboard.choreography.turn.thinking.deciding import (
    TurnDecision,
    decide,
    decide_quick,
    decide_routed,
    route,
)
from callboard.choreography.turn.understanding.answers import (
    answer_by_form,
    drop_drafts,
    expire,
    held_ids,
    picked_option,
    plan_to_revise,
    plan_to_save,
    resumed_message,
    saving_plan,
    settle,
    settled_answer,
    take_picked,
)
from callboard.choreography.turn.understanding.draft import AnswerKind
from callboard.choreography.turn.understanding.gestures import ABOUT_DRAFTS
from callboard.choreography.turn.understanding.hearing import (
    Heard,
    apply_updates,
    ask_listener,
    ask_quickly,
    is_signal,
    lapse,
    listen,
    revive,
    wants_model,
)
from callboard.choreography.turn.understanding.reading import is_destructive
from callboard.choreography.turn.understanding.signals import FormKind, detect_signal
from callboard.choreography.turn.work import TurnWork

# Messages that say nothing but that one of several is meant.
_WANTS_ONE: Final = (FormKind.CONFIRM, FormKind.DIFFERENT)


class Phases:
    """Handles one message."""

    def __init__(self, work: TurnWork, *, is_mode_chosen: bool) -> None:
        """Take the work; a mode nobody chose may follow from what the message turns out to be."""
        self.work = work
        self._is_mode_chosen = is_mode_chosen
        self._conclusion = Conclusion(work)
        self._routed: Routed | None = None
        self._has_routed = False
        self._routes = 0
        self._note = ""
        self.advised_mode: str | None = None

    async def perform(self) -> Replied:
        """Return the reply; everything else is in the work."""
        work = self.work
        if expire(work.state, work.registry, work.turn):
            self._note = "The question from before has lapsed."
        lapsed = lapse(work)
        if lapsed:
            return self._with_note(Replied(lapsed))
        if work.gesture is None:
            switched = accepted_switch(work.domain, work.state, work.message)
            if switched is not None:
                work.state.mode, work.state.suggestion = switched.name, None
                return Replied(f"Switched to {switched.title}.")
        rest = work.state.more(work.message) if not work.state.has_open_question else None
        if rest is not None:
            return Replied(rest)
        work.show("node_started", node="understand")
        heard = await self._understand()
        if is_signal(heard.reading, FormKind.UNDO):
            self._drop_open()
            return self._with_note(await self._conclusion.undo())
        replied = await self._answer(heard) if self._is_answer() else None
        if replied is None:
            replied = await self._handle(heard)
        return self._with_note(replied)

    def _is_answer(self) -> bool:
        """Say whether the message is a word on what is open, and not on a draft beside it."""
        gesture, state = self.work.gesture, self.work.state
        if gesture is not None and gesture.kind in ABOUT_DRAFTS:
            if gesture.target in held_ids(state):
                self._drop_open()
            return False
        return state.has_open_question

    async def _understand(self) -> Heard:
        work = self.work
        reading = await revive(work, listen(work))
        heard = Heard(reading, reading.output, answer=None)
        if reading.is_settled:
            return heard
        if work.mode.think == "skip":
            return await self._understand_quickly(heard)
        if wants_model(work, reading):
            heard = await ask_listener(work, reading)
            self.advised_mode = heard.output.mode_suggestion
            if not self._is_mode_chosen and heard.intent is not None:
                work.mode = mode_by_intent(work.domain, heard.intent)
        return heard

    async def _understand_quickly(self, heard: Heard) -> Heard:
        work, reading = self.work, heard.reading
        is_open = work.state.has_open_question
        if not is_open or answer_by_form(work, reading) is None:
            await self._route(work.message, reading.output.referenced_entities)
        if work.asker.is_constrained(QUICK) or reading.output.needs_clarification:
            return heard
        if self._routed is not None and not wants_model(work, reading):
            return heard
        asked = await ask_quickly(work, reading)
        self.advised_mode = asked.output.mode_suggestion
        return asked

    async def _route(self, message: str, referenced: Sequence[str]) -> Routed | None:
        if not self._has_routed:
            self._has_routed = True
            self._routes += 1
            key = f"route/{self._routes}"
            self._routed = await route(self.work, message, referenced, key)
        return self._routed

    async def _answer(self, heard: Heard) -> Replied | None:
        """Handle what is a word on an open question; None if the message is about something new."""
        work = self.work
        routed: Routed | None = None
        if heard.answer is None and answer_by_form(work, heard.reading) is None:
            routed = await self._route(work.message, heard.output.referenced_entities)
        kind = settled_answer(work, heard, is_request=bool(routed is not None and routed.steps))
        proposal, asked = work.state.proposal, work.state.clarification
        picked = picked_option(work, heard.reading)
        work.state.proposal = work.state.clarification = None
        if kind is AnswerKind.UNRELATED:
            self._note = "I dropped what I had asked about before."
            return None
        if proposal is not None:
            return await self._answer_proposal(heard, proposal, kind)
        if asked is None or kind is AnswerKind.REJECT:
            apply_updates(work, heard.output)
            return Replied(NOTHING_SAVED)
        return await self._resume(heard, asked, kind, picked)

    async def _resume(
        self, heard: Heard, asked: PendingClarification, kind: AnswerKind, picked: str | None
    ) -> Replied:
        """Go on with the request a question was about, now that there is an answer."""
        work, options = self.work, asked.options
        if asked.reason == UNDOING:
            return await self._conclusion.undo(
                asked.questions if kind is AnswerKind.CONFIRM else None
            )
        if picked is None and kind is AnswerKind.CONFIRM and len(options) == 1:
            picked = options[0].id
        self._go_on(asked.original_intent, asked.times)
        is_last = self._conclusion.times > MOST_BREAKS
        if picked is None and kind is AnswerKind.CONFIRM and options and not is_last:
            # A yes to "which one?" picks none.
            return self._conclusion.clarify(asked.questions, options, asked.reason)
        wish = detect_signal(asked.original_intent)
        if picked is not None and wish is not None and wish.kind in _WANTS_ONE:
            return await self._settle_pick(picked, wants_save=wish.wants_save)
        message = resumed_message(asked, work.message, picked)
        referenced = [picked] if picked else list(heard.output.referenced_entities)
        work.registry.touch(referenced, work.turn)
        if picked is None and options and is_last:
            work.assumptions.append(f"Assumed {options[0].label}")
            referenced = [options[0].id]
        return await self._plan_and_act(message, referenced, is_answer=True)

    async def _settle_pick(self, picked: str, *, wants_save: bool) -> Replied:
        """Do what a bare "save that" or "that one" wanted, now that it is clear which."""
        said = take_picked(self.work, picked)
        plan = saving_plan(self.work, [picked]) if wants_save else None
        if plan is None:
            return Replied(said)
        return await self._conclusion.act(TurnDecision(plan), Consent(is_given=True))

    async def _answer_proposal(
        self, heard: Heard, proposal: PendingProposal, kind: AnswerKind
    ) -> Replied:
        work = self.work
        if kind is AnswerKind.CONFIRM:
            return await self._conclusion.carry_out(proposal)
        made = [each for result in proposal.results.values() for each in result.entities]
        if kind is AnswerKind.REJECT:
            dropped = drop_drafts(work, made)
            tail = f" Dropped: {', '.join(dropped)}." if dropped else ""
            said = NOTHING_MORE_SAVED if proposal.has_written else NOTHING_SAVED
            return Replied(f"{said}{tail}")
        apply_updates(work, heard.output)
        drop_drafts(work, made)
        self._go_on(f"{proposal.original_intent}; {work.message}", proposal.times)
        change = f"Planned before: {proposal.goal}\nThe user wants it changed: {work.message}"
        return await self._plan_and_act(self._conclusion.intent, (), change=change)

    async def _handle(self, heard: Heard) -> Replied:
        """Handle a message that is not an answer."""
        work, output = self.work, heard.output
        put_away = apply_updates(work, output)
        work.assumptions += heard.reading.assumptions
        if output.needs_clarification and self._may_ask(heard):
            questions = output.clarification_questions
            return self._conclusion.clarify(
                questions, heard.reading.options, output.clarification_reason
            )
        settled = settle(work, heard, put_away)
        if settled is not None:
            return Replied(settled)
        plan = plan_to_save(work, heard) or plan_to_revise(work, heard)
        if plan is not None:
            return await self._conclusion.act(TurnDecision(plan), Consent(is_given=True))
        if heard.steps is not None and self._routed is None:
            work.show("node_started", node="act")
            return await self._conclusion.act(
                decide_quick(work, heard.steps, work.message), Consent()
            )
        if heard.intent == "chat" and not self._has_routed:
            return await self._conclusion.act(TurnDecision(), Consent())
        message = output.processed_message or work.message
        return await self._plan_and_act(message, output.referenced_entities)

    async def _plan_and_act(
        self,
        message: str,
        referenced: Sequence[str],
        change: str = "",
        *,
        is_answer: bool = False,
    ) -> Replied:
        work = self.work
        routed = await self._route(message, referenced)
        if work.mode.think == "skip" and routed is not None:
            decision = decide_routed(work, routed, message)
        elif work.mode.think == "skip" and not is_answer and not change:
            decision = TurnDecision()
        else:
            asked = asks_for_profile(work, routed) if self._conclusion.times == 1 else []
            if asked and (await work.profile()).is_empty:
                work.state.has_asked_profile = True
                return self._conclusion.clarify(asked, (), "missing_info")
            decision = await decide(work, message, referenced, routed, change)
        if decision.question and self._conclusion.times <= MOST_BREAKS:
            return self._conclusion.clarify([decision.question], decision.options, "missing_info")
        if decision.question:
            return Replied(f"I cannot go on without this: {decision.question}")
        return await self._conclusion.act(decision, Consent())

    def _may_ask(self, heard: Heard) -> bool:
        """In modes that just do things, only a destructive request is asked about."""
        if self._conclusion.times > MOST_BREAKS:
            return False
        if heard.reading.output.needs_clarification or not self.work.mode.confirms_silently:
            return True
        return is_destructive(self.work.message)

    def _go_on(self, intent: str, times: int) -> None:
        """Take an older request up again, which was asked about so many times."""
        self._conclusion.intent, self._conclusion.times = intent, times + 1
        self._has_routed = False

    def _drop_open(self) -> None:
        if self.work.state.has_open_question:
            self.work.state.proposal = self.work.state.clarification = None
            self._note = "I dropped what I had asked about before."

    def _with_note(self, replied: Replied) -> Replied:
        if not self._note:
            return replied
        return Replied(f"{replied.message}\n{self._note}", replied.action)
