"""One step of a loop done: by roles or by code, checked, and stored only if all of it is valid."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, cast

from callboard.choreography.loop.board import Standing
from callboard.choreography.loop.casting import LoopPlay, RoleWork, StepOrder
from callboard.choreography.loop.envelope import RoleResponse, WantedKinds, check_all
from callboard.choreography.loop.house import ScopeViolation
from callboard.choreography.loop.ports import (
    ArtifactDraft,
    CodeOutcome,
    Misfit,
    StepView,
    StoredArtifact,
)
from callboard.choreography.loop.revisions import (
    RevisionRequest,
    is_block,
    requests_in,
    target_of,
)
from callboard.choreography.loop.speaking import tell
from callboard.core.canonical import Json, digest
from callboard.core.errors import ErrorTier
from callboard.core.vocabulary import Effect, StepKind
from callboard.engine.errors import StepFailed
from callboard.engine.scope import StepScope

_MOST_TOLD: Final = 20


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How a step ended: what is stored, what is wrong, what is to be done again, what is next."""

    standing: Standing
    artifacts: tuple[StoredArtifact, ...] = ()
    errors: tuple[Misfit, ...] = ()
    requests: tuple[RevisionRequest, ...] = ()
    message: str = ""
    # The loop that comes next and the kinds it takes along, where the step says so.
    handed_on: tuple[str, tuple[str, ...]] | None = None


@dataclass(slots=True)
class _Made:
    """What a step has so far, before it is stored."""

    contents: dict[str, Json] = field(default_factory=dict[str, Json])
    errors: list[Misfit] = field(default_factory=list[Misfit])
    remediation: list[Mapping[str, Json]] = field(default_factory=list[Mapping[str, Json]])
    response: RoleResponse | None = None
    by: str = "code"
    outcome: CodeOutcome = field(default_factory=CodeOutcome)
    collaborations: tuple[dict[str, Json], ...] = ()


class StepWork:
    """Does one step."""

    def __init__(self, play: LoopPlay, order: StepOrder) -> None:
        """Take what the run shares and what is to be done."""
        self._play = play
        self._order = order
        self._inputs = play.board.inputs_of(order.step)

    async def perform(self) -> StepOutcome:
        """Do the step and say how it ended; an error of the pack's code fails it, no more."""
        try:
            made = await self._make()
        except StepFailed as failed:
            if failed.error.tier is ErrorTier.USER_FIXABLE:
                raise
            made = _Made(errors=[Misfit(self._order.step.id, failed.error.message)])
        self._hold_to_scope(made)
        return await (self._fail(made) if made.errors else self._store(made))

    async def _make(self) -> _Made:
        step = self._order.step
        if step.code is not None:
            outcome = await self._call(step.code, "code")
            return self._checked(_Made(dict(outcome.artifacts), outcome=outcome))
        found = await self._look() if step.before is not None else None
        order = replace(self._order, found=found)
        given = await RoleWork(self._play, order).contribute()
        made = _Made(
            dict(given.merged.artifacts),
            list(given.merged.errors),
            response=given.merged,
            by=given.merged.role,
            collaborations=given.collaborations,
        )
        if step.after is None or made.errors or given.merged.outside:
            return made
        outcome = await self._call(step.after, "after", made.contents, found)
        made.contents |= outcome.artifacts
        made.outcome = outcome
        return self._checked(made)

    def _checked(self, made: _Made) -> _Made:
        """Hold what code made against the schemas, as what roles made is."""
        house, step = self._play.house, self._order.step
        wanted = WantedKinds(step.produces, self._play.loop.writes, house.workspace, 0)
        made.errors += [*made.outcome.errors, *check_all(made.contents, wanted)]
        made.remediation += made.outcome.remediation
        return made

    async def _look(self) -> Json:
        play, step = self._play, self._order.step

        async def act(scope: StepScope) -> Json:
            return await play.house.checks.look(str(step.before), self._view(scope))

        return await self._step("before", act)

    async def _call(
        self,
        name: str,
        place: str,
        made: Mapping[str, Json] | None = None,
        found: Json = None,
    ) -> CodeOutcome:
        play = self._play

        async def act(scope: StepScope) -> Json:
            view = replace(self._view(scope), made=dict(made or {}), found=found)
            return asdict(await play.house.checks.perform(name, view))

        stored = cast("dict[str, Any]", await self._step(place, act, digest(made)))
        errors = tuple(Misfit(**each) for each in stored.pop("errors"))
        inputs, remedies = stored.pop("next_inputs"), stored.pop("remediation")
        return CodeOutcome(
            **stored, errors=errors, next_inputs=tuple(inputs), remediation=tuple(remedies)
        )

    def _view(self, scope: StepScope) -> StepView:
        play = self._play
        return StepView(
            stage=play.stage,
            scope=scope,
            loop=play.loop,
            step=self._order.step,
            unit=play.unit,
            artifacts=dict(play.board.artifacts),
            awake=play.awake,
            workspace=play.house.workspace,
            deferrals=tuple(play.board.deferrals),
        )

    async def _step(self, place: str, act: Any, depends: Json = None) -> Json:
        hashes = self._play.board.hashes_of(self._order.step)
        key = f"{self._order.key}/{place}"
        return await self._play.stage.run.step(
            key, act, inputs=[hashes, depends], effect=Effect.IDEMPOTENT
        )

    def _hold_to_scope(self, made: _Made) -> None:
        """Refuse kinds that no step of the loop makes, whoever made them."""
        loop = self._play.loop
        outside = {*made.contents} - loop.writes
        if made.response is not None:
            outside |= {*made.response.outside}
        if outside:
            error = ScopeViolation(f"{loop.id} may not store {', '.join(sorted(outside))}")
            made.errors.append(Misfit(error.code, error.message))

    async def _fail(self, made: _Made) -> StepOutcome:
        told = [f"{each.path}: {each.message}" for each in made.errors]
        data: dict[str, Json] = {"status": Standing.FAILED.value, "errors": told[:_MOST_TOLD]}

        async def act(scope: StepScope) -> Json:
            self._tell_all(scope, made, data)
            return data

        key = f"{self._order.key}/failed"
        await self._play.stage.run.step(key, act, inputs=told, effect=Effect.PURE)
        return StepOutcome(Standing.FAILED, errors=tuple(made.errors), message="; ".join(told))

    async def _store(self, made: _Made) -> StepOutcome:
        play = self._play
        drafts = self._drafts(made)
        requests = self._requests(made)
        is_blocked = self._is_blocked(made)
        standing = Standing.BLOCKED if is_blocked else Standing.DONE

        async def act(scope: StepScope) -> Json:
            workspace = play.house.workspace
            stored = await workspace.store(play.stage, scope, play.unit, drafts) if drafts else ()
            for each in stored:
                told = {"kind": each.kind, "id": each.id, "sha256": each.sha256}
                tell(play.stage, scope, "artifact.stored", {**told, "version": each.version})
            for each in requests:
                tell(play.stage, scope, "revision", each.to_json())
            self._tell_all(scope, made, {"status": standing.value, "errors": []})
            return [asdict(each) for each in stored]

        depends: dict[str, Json] = {kind: digest(each) for kind, each in made.contents.items()}
        leaves = play.house.workspace.leaves_receipts and bool(drafts)
        rows = await play.stage.run.step(
            f"{self._order.key}/store",
            act,
            inputs=depends,
            kind=StepKind.TOOL if leaves else StepKind.WORK,
            effect=Effect.IDEMPOTENT,
            slot=play.stage.run.key(f"{self._order.key}/store"),
        )
        to = made.outcome.next_loop
        handed_on = None if to is None else (to, made.outcome.next_inputs)
        return StepOutcome(
            standing,
            artifacts=tuple(StoredArtifact(**each) for each in cast("list[Any]", rows)),
            requests=tuple(requests),
            message=made.outcome.message or (made.response.notes if made.response else ""),
            handed_on=handed_on,
        )

    def _drafts(self, made: _Made) -> list[ArtifactDraft]:
        response = made.response or RoleResponse(made.by)
        return [
            ArtifactDraft(
                kind,
                content,
                self._order.step.id,
                made.by,
                self._inputs,
                response.alternatives.get(kind, {}),
            )
            for kind, content in made.contents.items()
        ]

    def _report(self, made: _Made) -> dict[str, Any]:
        """Return what a gate says; any other step says nothing of the kind."""
        step = self._order.step
        content = made.contents.get(step.produces[0]) if step.gate else None
        return cast("dict[str, Any]", content) if isinstance(content, dict) else {}

    def _is_blocked(self, made: _Made) -> bool:
        return bool(made.remediation) or is_block(self._play.loop, self._report(made))

    def _requests(self, made: _Made) -> list[RevisionRequest]:
        """Return who wants what done again: a report, code, or a role by itself."""
        board, step = self._play.board, self._order.step
        rests_on = board.upstream(step)
        known = len(board.revisions)
        found = requests_in(self._play.loop, step, rests_on, made.contents, known)
        wishes: list[Mapping[str, Any]] = [
            {"fix": "", **each, "severity": "must"} for each in made.remediation
        ]
        if made.response is not None:
            wishes += [each.model_dump() for each in made.response.revisions]
        for wish in wishes:
            found.append(
                RevisionRequest(
                    f"R{known + len(found) + 1}",
                    step.id,
                    target_of(step, rests_on, wish),
                    str(wish.get("fix") or wish.get("reason") or "asked for"),
                    wish["severity"],
                    str(wish.get("artifact") or ""),
                )
            )
        # Nobody can revise what no step made.
        return [each for each in found if rests_on or each.target_step != step.id]

    def _tell_all(self, scope: StepScope, made: _Made, data: Mapping[str, Json]) -> None:
        """Tell how the step ended, with all that was checked, granted and left out."""
        stage, step = self._play.stage, self._order.step
        for each in made.collaborations:
            tell(stage, scope, "collaboration", each)
        if step.produces:
            faults = [asdict(each) for each in made.errors[:_MOST_TOLD]]
            told = {"step": step.id, "valid": not made.errors, "errors": faults}
            tell(stage, scope, "validation", told)
        report = self._report(made)
        if report:
            said = {name: report.get(name) for name in ("decision", "why", "bars", "remediation")}
            tell(stage, scope, "gate", {"step": step.id, **said})
        dropped = list(made.response.dropped) if made.response is not None else []
        ended = {"step": step.id, "by": made.by, "dropped": dropped, **data}
        tell(stage, scope, "step.finished", ended)
