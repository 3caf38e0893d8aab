"""Roles at work on one step: asked side by side, mended a few times, helped where that is granted.

Gives back what each contributor made, held against what was asked for. Stores nothing.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.choreography.conversation import agent_turn, user_turn
from callboard.choreography.loop.board import LoopBoard
from callboard.choreography.loop.deciding import DueDecision, Showrunner
from callboard.choreography.loop.decisions import COLLABORATION, CollabDecision
from callboard.choreography.loop.definition import Loop, LoopStep, RaciRole
from callboard.choreography.loop.envelope import (
    RoleResponse,
    WantedKinds,
    merge_responses,
    read_envelope,
)
from callboard.choreography.loop.house import Bounds, LoopHouse
from callboard.choreography.loop.ports import Misfit
from callboard.choreography.loop.prompting import LoopPrompts, state_lines, told
from callboard.choreography.loop.sessions import Exchange, RoleSessions
from callboard.choreography.loop.speaking import LoopCall, speak
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.errors import ErrorTier
from callboard.core.vocabulary import Content, Trust
from callboard.engine.errors import StepFailed
from callboard.prompts import Layer, Turn

_MOST_FAULTS: Final = 20


@dataclass(slots=True)
class LoopPlay:
    """Everything the steps of one run share."""

    stage: Stage
    house: LoopHouse
    loop: Loop
    board: LoopBoard
    prompts: LoopPrompts
    showrunner: Showrunner
    bounds: Bounds
    sessions: RoleSessions
    # The roles that can be woken for this unit.
    awake: frozenset[str]
    unit: str = ""
    brief: str = ""
    role_calls: int = 0
    # What is worth knowing for the next decision, newest last.
    notes: list[str] = field(default_factory=list[str])
    # What was valid of a step that failed because of others: by step, made from what, by role.
    kept: dict[str, tuple[str, dict[str, RoleResponse]]] = field(
        default_factory=dict[str, tuple[str, dict[str, RoleResponse]]]
    )


@dataclass(frozen=True, slots=True)
class StepOrder:
    """A step that is to be done: under which key, by whom, with what advice."""

    key: str
    step: LoopStep
    roles: tuple[str, ...]
    instructions: str = ""
    # What code found before, for the roles to see.
    found: Json = None


@dataclass(frozen=True, slots=True)
class Contributions:
    """What the roles of a step made together, and what became of wishes for help."""

    merged: RoleResponse
    collaborations: tuple[dict[str, Json], ...] = ()


class RoleWork:
    """Has the roles of one step do their work."""

    def __init__(self, play: LoopPlay, order: StepOrder) -> None:
        """Take what the run shares and what is to be done."""
        self._play = play
        self._order = order
        self._wanted = WantedKinds(
            order.step.produces,
            play.loop.writes,
            play.house.workspace,
            play.house.settings.most_entries,
        )
        self._told: list[dict[str, Json]] = []

    async def contribute(self) -> Contributions:
        """Ask everybody and put together what they made, in the order of the roster."""
        order, play = self._order, self._play
        mark = digest([play.board.hashes_of(order.step), order.found])
        held_for, kept = play.kept.get(order.step.id, ("", {}))
        kept = kept if held_for == mark else {}
        asked = [role for role in order.roles if role not in kept]
        branches = {f"{order.key}/{role}": self._branch(role) for role in asked}
        said = await play.stage.parallel(branches)
        made = {**kept, **{role: said[f"{order.key}/{role}"] for role in asked}}
        responses = [made[role] for role in order.roles]
        if not all(each.valid for each in responses):
            play.kept[order.step.id] = (mark, {k: r for k, r in made.items() if r.valid})
            merged = _failed(responses)
        else:
            play.kept.pop(order.step.id, None)
            helpers = [each for lead in responses for each in await self._help(lead)]
            merged = merge_responses([*responses, *helpers], self._wanted)
        return Contributions(merged, tuple(self._told))

    def _branch(self, role: str) -> Callable[[Stage], Awaitable[RoleResponse]]:
        return lambda stage: self._ask(stage, role, self._message(role))

    async def _ask(self, stage: Stage, role: str, message: Content) -> RoleResponse:
        """Ask a role, and again with its faults named; a call that fails is a fault, too."""
        play, order = self._play, self._order
        layers = self._layers(role)
        history = play.sessions.turns(role, play.prompts.message("earlier").text.strip())
        turns: tuple[Turn, ...] = history
        said, shown = message, ""
        response = RoleResponse(role)
        for number in range(play.bounds.repairs + 1):
            if number:
                turns = (*turns, user_turn(said.text), agent_turn(role, shown))
                said = self._repair(response)
            key = f"repair/{number}" if number else "ask"
            play.role_calls += 1
            try:
                spoken = await speak(stage, LoopCall(key, role, order.step.id, layers, said, turns))
            except StepFailed as failed:
                if failed.error.tier is ErrorTier.USER_FIXABLE:
                    raise
                return RoleResponse(role, errors=(Misfit(role, failed.error.message),))
            shown = spoken.text
            response = read_envelope(role, shown, self._wanted)
            if response.valid or response.outside:
                break
        made = tuple(response.artifacts) if response.valid else ()
        play.sessions.note(role, Exchange(order.step.id, message.text, shown, made))
        return response

    def _layers(self, role: str) -> tuple[Layer, ...]:
        play, order = self._play, self._order
        shown = play.prompts.artifact_layers(play.board.inputs_of(order.step), role)
        found: tuple[Layer, ...] = ()
        if order.found is not None:
            content = Content(told(order.found), f"code:{order.step.before}", Trust.UNTRUSTED)
            found = (Layer("found", content, may_cut=True),)
        return (*play.prompts.parts(role), *shown, *found)

    def _message(self, role: str) -> Content:
        play, step = self._play, self._order.step
        notes = [
            f"- {each.reason}"
            for each in play.board.revisions
            if each.is_open and each.target_step == step.id
        ]
        return play.prompts.message(
            "step",
            step=step.id,
            description=step.description,
            purpose=play.loop.purpose,
            brief=_fenced(play.brief, "brief"),
            instructions=_fenced(self._order.instructions, "showrunner"),
            notes=_fenced("\n".join(notes), "remediation"),
            outputs=", ".join(step.produces),
        )

    def _repair(self, response: RoleResponse) -> Content:
        faults = [f"- {each.path}: {each.message}" for each in response.errors[:_MOST_FAULTS]]
        return self._play.prompts.message(
            "repair",
            errors=_fenced("\n".join(faults), "validation"),
            outputs=", ".join(self._wanted.kinds),
        )

    async def _help(self, lead: RoleResponse) -> list[RoleResponse]:
        """Have those join in who are wanted and granted; what cannot be is refused unasked."""
        play, order = self._play, self._order
        helpers: list[RoleResponse] = []
        for wanted in dict.fromkeys(lead.collaboration.roles):
            refusal = self._refusal(lead.role, wanted)
            reason = refusal
            if not refusal:
                decided = await play.showrunner.decide(self._due(lead, wanted))
                reason = decided.answer.reason
                refusal = "" if decided.answer.approved else reason or "denied"
            told_of: dict[str, Json] = {
                "step": order.step.id,
                "role": lead.role,
                "suggested": wanted,
                "approved": not refusal,
                "reason": reason,
            }
            self._told.append(told_of)
            if refusal:
                continue
            play.sessions.wake(wanted)
            message = self._invitation(lead, wanted)
            said = await play.stage.parallel(
                {f"{order.key}/with/{wanted}": self._joining(wanted, message)}
            )
            helped = said[f"{order.key}/with/{wanted}"]
            told_of["valid"] = helped.valid
            if helped.valid:
                helpers.append(helped)
        return helpers

    def _joining(self, role: str, message: Content) -> Callable[[Stage], Awaitable[RoleResponse]]:
        return lambda stage: self._ask(stage, role, message)

    def _refusal(self, role: str, wanted: str) -> str:
        play = self._play
        known = {each.id for each in play.house.cast.roster()}
        granted = sum(1 for each in self._told if each["approved"])
        if wanted == role or wanted in self._order.roles:
            return f"{wanted} is already at work on this step"
        if wanted not in known:
            return f"there is no role {wanted}"
        if wanted not in play.awake:
            return f"{wanted} is asleep for this unit"
        if granted >= play.bounds.collaborators:
            return f"{granted} helpers are as many as a step may have"
        return ""

    def _due(self, lead: RoleResponse, wanted: str) -> DueDecision[CollabDecision]:
        play, step = self._play, self._order.step
        is_consulted = RaciRole.CONSULTED in play.loop.parts_of(wanted) or wanted in step.consults
        lines = state_lines(play.board, play.notes)
        return DueDecision(
            key=f"{self._order.key}/join/{wanted}",
            question=COLLABORATION,
            default=CollabDecision(approved=is_consulted, reason=_BY_RACI[is_consulted]),
            check=lambda _answer: "",
            deviates=lambda answer: answer.approved != is_consulted,
            layers=(play.prompts.context_layer(), play.prompts.state_layer(lines)),
            told={
                "step": step.id,
                "role": lead.role,
                "suggested": wanted,
                "reason": _fenced(lead.collaboration.reason, f"agent:{lead.role}"),
            },
        )

    def _invitation(self, lead: RoleResponse, wanted: str) -> Content:
        step = self._order.step
        return self._play.prompts.message(
            "collaboration",
            step=step.id,
            lead=lead.role,
            role=wanted,
            reason=_fenced(lead.collaboration.reason, f"agent:{lead.role}"),
            description=step.description,
            draft=_fenced(told(dict(lead.artifacts)), f"agent:{lead.role}"),
            outputs=", ".join(step.produces),
        )


_BY_RACI: Final = {True: "the role is consulted in this loop", False: "the role is not consulted"}


def _fenced(text: str, origin: str) -> Content:
    """Return what others wrote as material; nothing stays nothing."""
    return Content(text, origin, Trust.UNTRUSTED if text else Trust.TRUSTED)


def _failed(responses: Sequence[RoleResponse]) -> RoleResponse:
    """Return why a step has nothing to store: everything that is wrong with anybody's part."""
    return RoleResponse(
        responses[0].role,
        errors=tuple(
            Misfit(f"{response.role}: {each.path}", each.message)
            for response in responses
            for each in response.errors
        ),
        dropped=tuple(each for response in responses for each in response.dropped),
        outside=tuple(each for response in responses for each in response.outside),
    )
