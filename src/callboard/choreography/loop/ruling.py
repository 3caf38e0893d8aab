"""What a Showrunner rules on in a running loop: the next step and who does it, a block, stability.

Each is put to it with what code would do, and held against what code allows.
"""

from collections.abc import Mapping
from typing import Final

from callboard.choreography.loop.casting import LoopPlay
from callboard.choreography.loop.deciding import DueDecision
from callboard.choreography.loop.decisions import (
    BLOCK,
    STABILITY,
    STEP,
    BlockDecision,
    MadeDecision,
    StabilityVerdict,
    StepDecision,
)
from callboard.choreography.loop.definition import LoopStep, full_id
from callboard.choreography.loop.ports import StoredArtifact
from callboard.choreography.loop.prompting import state_lines
from callboard.choreography.loop.revisions import RevisionRequest
from callboard.choreography.loop.working import StepOutcome
from callboard.core.vocabulary import Content, Trust
from callboard.prompts import Layer

_BY_PLAYBOOK: Final = "next in the playbook"


class LoopRuling:
    """The decisions of one running loop."""

    def __init__(self, play: LoopPlay) -> None:
        """Take what the run shares."""
        self._play = play

    def roles_of(self, step: LoopStep, chosen: str | None = None) -> tuple[str, ...]:
        """Return who does a step: whoever was chosen, else those of the playbook who are awake.

        A project may prefer others for a step or in place of a role.
        """
        play = self._play
        if chosen and len(step.roles) == 1 and not step.gate:
            return (chosen,)
        order = [each.id for each in play.house.cast.roster()]
        preferred = dict.fromkeys(
            role if step.gate else play.house.cast.override(step.id, role) for role in step.roles
        )
        return tuple(sorted((r for r in preferred if r in play.awake), key=order.index))

    async def next_step(
        self, number: int, made: Mapping[str, StoredArtifact]
    ) -> MadeDecision[StepDecision]:
        """Return the step to take; an empty one means that none can be."""
        play = self._play
        offered = play.board.offered(play.bounds.attempts)
        usual = play.board.playbook_step(play.bounds.attempts)
        default = StepDecision(step=usual.id if usual else "", reason=_BY_PLAYBOOK)
        if not offered:
            return MadeDecision(default)
        roster = [each.id for each in play.house.cast.roster() if each.id in play.awake]
        due = DueDecision(
            key=f"{number}/next",
            question=STEP,
            default=default,
            check=lambda answer: self._fault(answer, made),
            deviates=lambda answer: self._deviates(answer, usual),
            layers=self._layers(),
            told={
                "offered": "\n".join(self._offer(step, made) for step in offered),
                "playbook": usual.id if usual else "nothing",
                "roles": ", ".join(roster),
                "droppable": ", ".join(
                    each.id for each in play.loop.steps if play.board.can_drop(each)
                )
                or "none",
            },
            options={"step": [step.id for step in offered]},
        )
        decided = await play.showrunner.decide(due)
        full = full_id(play.loop.by_id, decided.answer.step) or ""
        named = decided.answer.model_copy(update={"step": full})
        return MadeDecision(
            named, decided.deviates, decided.is_fallback, decided.why, decided.at_ms
        )

    def _offer(self, step: LoopStep, made: Mapping[str, StoredArtifact]) -> str:
        standing = self._play.board.standing(step).value
        who = ", ".join(self.roles_of(step)) or "code"
        adopt = ", may be adopted" if self._play.board.can_adopt(step, made) else ""
        return f"- {step.id} ({standing}, {who}{adopt})"

    def _fault(self, answer: StepDecision, made: Mapping[str, StoredArtifact]) -> str:
        """Say why a decision cannot be followed."""
        play = self._play
        full = full_id(play.loop.by_id, answer.step)
        if full is None:
            return f"{answer.step!r} is no step of this loop."
        step = play.loop.by_id[full]
        wrong = self._role_fault(step, answer.role) or self._aside_fault(answer)
        if wrong:
            return wrong
        board = play.board.without(play.loop.step(each.step) for each in answer.drop)
        if not board.is_offered(step, play.bounds.attempts):
            lacks = ", ".join(board.lacks(step))
            return f"{full} cannot be taken now{f': it needs {lacks}' if lacks else ''}."
        if answer.adopt and not board.can_adopt(step, made):
            return f"Nothing that exists can be adopted for {full}."
        return ""

    def _role_fault(self, step: LoopStep, role: str | None) -> str:
        play = self._play
        if not role or role in step.roles:
            return ""
        if role not in {each.id for each in play.house.cast.roster()}:
            return f"There is no role {role!r}."
        if role not in play.awake:
            return f"{role} is asleep for this unit."
        if step.gate or len(step.roles) != 1:
            return f"{step.id} is done by {', '.join(step.roles) or 'code'} and nobody else."
        return ""

    def _aside_fault(self, answer: StepDecision) -> str:
        board = self._play.board
        for each in answer.drop:
            step = self._play.loop.by_id.get(full_id(self._play.loop.by_id, each.step) or "")
            if step is None or not board.can_drop(step):
                return f"{each.step} cannot be dropped: only an optional step that is stale can."
        known = {each.id for each in board.revisions if each.is_open and each.severity == "should"}
        for each in answer.dismiss:
            if each.request not in known:
                return f"{each.request} cannot be dismissed: it is no open request of kind should."
        return ""

    def _deviates(self, answer: StepDecision, usual: LoopStep | None) -> bool:
        step = self._play.loop.by_id.get(full_id(self._play.loop.by_id, answer.step) or "")
        if step is None or step is not usual or answer.adopt or answer.drop:
            return usual is not None or bool(answer.step)
        return bool(answer.role) and (answer.role,) != self.roles_of(step)

    async def is_achieved(self, number: int) -> bool:
        """Ask whether the goal is achieved, now that code has nothing against it."""
        play = self._play
        due = DueDecision(
            key=f"{number}/stable",
            question=STABILITY,
            default=StabilityVerdict(goal_achieved=True, reason="every criterion holds"),
            check=lambda _answer: "",
            deviates=lambda answer: not answer.goal_achieved,
            layers=self._layers(),
            told={"goal": play.loop.goal},
        )
        verdict = (await play.showrunner.decide(due)).answer
        if not verdict.goal_achieved:
            play.notes.append(f"goal not achieved: {'; '.join(verdict.missing) or verdict.reason}")
        return verdict.goal_achieved

    async def after_block(self, number: int, step: LoopStep, outcome: StepOutcome) -> BlockDecision:
        """Return what is done about a block; what is to be revised is a must from then on."""
        play = self._play
        targets = [each.id for each in play.board.upstream(step)]
        asked = {each.target_step for each in outcome.requests}
        first = next((each for each in targets if each in asked), targets[0] if targets else None)
        default = BlockDecision(action="revise" if first else "escalate", target_step=first)

        def fault(answer: BlockDecision) -> str:
            if answer.action != "revise":
                return ""
            full = full_id(play.loop.by_id, answer.target_step or "")
            return "" if full in targets else f"{answer.target_step!r} is not among {targets}."

        lines = [f"- {each.target_step}: {each.reason}" for each in outcome.requests]
        due = DueDecision(
            key=f"{number}/block",
            question=BLOCK,
            default=default,
            check=fault,
            deviates=lambda answer: answer.action != "revise" or answer.target_step != first,
            layers=self._layers(),
            told={
                "step": step.id,
                "remediation": Content("\n".join(lines) or "-", step.id, Trust.UNTRUSTED),
                "targets": ", ".join(targets) or "none",
            },
        )
        decided = (await play.showrunner.decide(due)).answer
        if decided.action == "revise":
            target = full_id(play.loop.by_id, decided.target_step or "") or str(first)
            self._want(step, target, decided.instructions)
        return decided

    def _want(self, gate: LoopStep, target: str, instructions: str) -> None:
        """See to it that the step that was chosen is revised, and knows why."""
        board = self._play.board
        wanted = [each for each in board.musts() if each.target_step == target]
        if wanted and not instructions:
            return
        reason = instructions or f"{gate.id} blocks"
        number = len(board.revisions) + 1
        board.revisions.append(RevisionRequest(f"R{number}", gate.id, target, reason))

    def _layers(self) -> tuple[Layer, ...]:
        prompts = self._play.prompts
        lines = state_lines(self._play.board, self._play.notes)
        return (prompts.context_layer(), prompts.state_layer(lines))
