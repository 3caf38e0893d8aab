"""Message: one turn from what a session remembers to what it remembers then. Saved as one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, cast

from pydantic import Field

from callboard.choreography.stage import Stage
from callboard.choreography.turn.acting.steps import told
from callboard.choreography.turn.asker import SUMMARIZE, NodeAsker
from callboard.choreography.turn.conclusion import Replied
from callboard.choreography.turn.domain import Domain, Who
from callboard.choreography.turn.domain_parts import TurnMode
from callboard.choreography.turn.memory import (
    IDLE_MS,
    TalkState,
    compress,
    is_due,
    summarize_turn,
)
from callboard.choreography.turn.memory_rows import TurnClosing, age
from callboard.choreography.turn.modes import chosen_mode, mode_by_form, suggest, suggestion_line
from callboard.choreography.turn.phases import Phases
from callboard.choreography.turn.shapes import Gesture, StepStatus, StepType, TurnOutcome
from callboard.choreography.turn.thinking.deciding import ModelUnavailable
from callboard.choreography.turn.understanding.answers import held_ids
from callboard.choreography.turn.work import TurnWork
from callboard.core.canonical import Json
from callboard.core.codec import Closed
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Effect, EntityState
from callboard.engine.scope import StepScope
from callboard.knowledge.entities import EntityRegistry


@dataclass(frozen=True, slots=True)
class Utterance(Closed):
    """Something to say; the same client id again is the same message."""

    message: Annotated[
        str,
        Field(description="Up to 8,000 characters; not needed where the gesture says it all."),
    ] = ""
    mode: Annotated[str | None, Field(max_length=40)] = None
    client_message_id: Annotated[str | None, Field(max_length=100)] = None
    gesture: Annotated[
        Gesture | None,
        Field(
            description="What a button says: keep or drop a draft, pick an option, confirm, change"
            " or cancel a plan. `target` is the id of the draft or option, or the plan's hash."
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent(Utterance):
    """A message as it came in."""

    who: Who

    @classmethod
    def read(cls, args: Mapping[str, Json], session_id: str) -> "Sent":
        """Return the message a run was started with."""
        who = Who(str(args["user_id"]), session_id, str(args.get("timezone") or "UTC"))
        mode, client = args.get("mode"), args.get("client_message_id")
        return cls(str(args.get("message") or ""), mode, client, _gesture(args), who=who)

    def answered(self, value: Json) -> "Sent":
        """Return the next message of the same user: the bare words, or with what belongs to it."""
        if not isinstance(value, dict):
            bare = replace(self, message=str(value), mode=None, client_message_id=None)
            return replace(bare, gesture=None)
        said = cast("dict[str, Any]", value)
        return replace(
            self,
            message=str(said.get("message", "")),
            mode=said.get("mode"),
            client_message_id=said.get("client_message_id"),
            gesture=_gesture(said),
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a turn begins with."""

    state: TalkState
    registry: EntityRegistry
    interrupted: tuple[int, ...]
    told: tuple[str, ...]


class Handling:
    """One turn from its state to its state."""

    def __init__(self, stage: Stage, domain: Domain, sent: Sent, turn: int, loaded: Loaded) -> None:
        """Take the message, its number, and what the session remembers."""
        self.stage = stage
        self.domain = domain
        self.sent = sent
        self.turn = turn
        self.loaded = loaded
        self.state = loaded.state

    async def handle(self) -> dict[str, Any]:
        """Perform the turn and save it; return what the journal keeps of it."""
        work, is_chosen = await self._begin()
        phases = Phases(work, is_mode_chosen=is_chosen)
        try:
            replied = await phases.perform()
        except ModelUnavailable:
            raise
        except CallboardError as error:
            # The border of a turn: whatever went wrong is told, and the turn is remembered.
            work.warnings.append(f"{error.code}: {error.message}")
            replied = Replied(f"That did not work: {told(error)}")
        return await self._close(work, replied, phases.advised_mode)

    async def _begin(self) -> tuple[TurnWork, bool]:
        state, sent = self.state, self.sent
        now = self.stage.studio.clock.now_ms()
        if state.last_at and now - state.last_at > IDLE_MS and not state.has_open_question:
            # A conversation nobody went on with is over, and what it avoided with it.
            state.constraints = []
        mode = await self._mode()
        if sent.mode is not None:
            state.mode = None if sent.mode == "auto" else sent.mode
        chosen = mode or mode_by_form(self.domain, sent.message)
        asker = NodeAsker(self.stage, chosen.name)
        work = TurnWork(
            self.stage,
            self.domain,
            sent.who,
            self.turn,
            sent.message,
            chosen,
            self.loaded.registry,
            state,
            asker,
            sent.gesture,
        )
        return work, mode is not None

    async def _mode(self) -> TurnMode | None:
        chosen = chosen_mode(self.domain, self.sent.mode, self.state, None)
        if chosen is not None:
            return chosen
        profile = await self.domain.profile(self.sent.who, "minimal")
        return chosen_mode(self.domain, self.sent.mode, self.state, profile.default_mode)

    async def _close(self, work: TurnWork, replied: Replied, advised: str | None) -> dict[str, Any]:
        state, turn = work.state, work.turn
        fitting = None
        if replied.action == "respond":
            fitting = suggest(self.domain, state, work.mode, work.message, advised, turn)
        lines = [*self.loaded.told, replied.message]
        lines += [suggestion_line(fitting)] if fitting is not None else []
        message = "\n".join(line for line in lines if line)
        work.show("reply_delta", text=message)
        actions = _actions(work)
        state.remember(summarize_turn(turn, work.message, replied.message, actions))
        state.turn, state.user_id = turn, work.who.user_id
        state.last_at = self.stage.studio.clock.now_ms()
        if is_due(state, turn) and (replied.action == "respond" or self._is_free(work)):
            state.summary = await compress(work.asker, state, state.recent, work.hidden, turn)
        aged = age(work.registry, state, turn, held_ids(state))
        outcome = TurnOutcome(
            turn=turn,
            message=message,
            action=cast("Any", replied.action),
            mode=work.mode.name,
            mode_suggestion=None if fitting is None else fitting.name,
            pending_clarification=state.clarification,
            pending_proposal=state.proposal,
            entities=[_shown(work, each.id) for each in work.registry.all()],
            calls=list(work.asker.calls),
            warnings=list(dict.fromkeys(work.warnings)),
            plan=work.plan,
            steps=list(work.results.values()),
            assumptions=list(dict.fromkeys(work.assumptions)),
        )
        saved = await self._save(work, outcome, aged, actions)
        work.show("done", action=outcome.action, mode=outcome.mode)
        return saved

    def _is_free(self, work: TurnWork) -> bool:
        """A turn that only asks calls no model to sum up."""
        return work.asker.is_constrained(SUMMARIZE)

    async def _save(
        self, work: TurnWork, outcome: TurnOutcome, aged: Any, actions: list[str]
    ) -> dict[str, Any]:
        closing = TurnClosing(
            session_id=work.who.session_id,
            turn=work.turn,
            registry=work.registry,
            state=work.state,
            contents=tuple(work.contents.values()),
            outcome=outcome,
            trace={
                "actions": list(actions),
                "collected": [each.id for each in aged.collected],
                "deactivated": list(aged.deactivated),
                "run_id": self.stage.run.id,
                "prompts": [call.get("prompt_id") for call in work.asker.calls],
            },
            aged=aged,
            interrupted=self.loaded.interrupted,
        )
        closed: dict[str, Json] = {
            "turn": outcome.turn,
            "message": outcome.message,
            "action": outcome.action,
            "asks": outcome.action != "respond",
        }

        async def act(scope: StepScope) -> Json:
            scope.commit_with(closing.writer(self.stage.studio.clock.now_ms()))
            scope.preview = outcome.message[:200]
            return closed

        saved = await self.stage.run.step("save", act, effect=Effect.PURE)
        return cast("dict[str, Any]", saved)


def _gesture(said: Mapping[str, Any]) -> Gesture | None:
    told = said.get("gesture")
    return None if told is None else Gesture.model_validate(told)


def _actions(work: TurnWork) -> list[str]:
    """Return what a turn did, one line per step that did something."""
    steps = {} if work.plan is None else {step.id: step for step in work.plan.steps}
    lines: list[str] = []
    for name, result in work.results.items():
        step = steps.get(name)
        if step is None or step.step_type is StepType.READ:
            continue
        if result.status in (StepStatus.OK, StepStatus.FAILED):
            failed = "failed: " if result.status is StepStatus.FAILED else ""
            lines.append(f"{failed}{result.summary}")
    return lines


def _shown(work: TurnWork, entity_id: str) -> dict[str, Any]:
    entity = work.registry.get(entity_id)
    return {
        "id": entity.id,
        "type": entity.type,
        "label": entity.label,
        "state": entity.state.value,
        "source": entity.source.value,
        "pinned": entity.pinned,
        "is_draft": entity.state is EntityState.PENDING,
    }
