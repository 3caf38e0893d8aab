"""The unit of work a run of a loop belongs to: opened before anybody is asked, closed on record.

The record itself is the pack's. Checkpoints, resuming and locks are the engine's: a journaled step
is a checkpoint, and a run that was lost is resumed from its journal.
"""

from collections.abc import Collection
from typing import Any, cast

from callboard.choreography.loop.casting import LoopPlay
from callboard.choreography.loop.definition import Loop
from callboard.choreography.loop.house import MissingLoopInput
from callboard.choreography.loop.ports import LoopRequest, OpenedUnit
from callboard.choreography.loop.registry import LoopRegistry
from callboard.choreography.loop.result import LoopResult, told_at_the_end
from callboard.choreography.loop.revisions import RevisionRequest
from callboard.choreography.loop.speaking import tell
from callboard.core.canonical import Json
from callboard.core.vocabulary import Effect, StepKind
from callboard.engine.scope import StepScope


async def open_unit(play: LoopPlay, request: LoopRequest) -> tuple[OpenedUnit, int]:
    """Open the unit once every prompt is there; return it with the time."""
    working = {role for step in play.loop.steps for role in step.roles if role in play.awake}
    for role in sorted({play.house.cast.showrunner, *working}):
        play.prompts.parts(role)
    workspace = play.house.workspace

    async def act(scope: StepScope) -> Json:
        opened = await workspace.open(play.stage, scope, play.loop, request)
        tell(play.stage, scope, "opened", {"unit": opened.id, "loop": play.loop.id})
        return {**opened.to_json(), "at": play.stage.studio.clock.now_ms()}

    stored = cast("dict[str, Any]", await _write(play, "open", act))
    opened = OpenedUnit.from_json(stored)
    play.unit = play.showrunner.unit = opened.id
    play.brief = "\n".join(each for each in (play.brief, opened.about) if each)
    play.board.artifacts.update(opened.entries)
    play.board.revisions += [RevisionRequest(**each) for each in opened.revisions]
    return opened, int(stored["at"])


def require_entries(loop: Loop, kinds: Collection[str], registry: LoopRegistry) -> None:
    """Refuse to begin without what must come from outside, naming who makes it."""
    for need in loop.entry_inputs:
        if need.is_optional or any(kind in kinds for kind in need.kinds):
            continue
        makers = list(dict.fromkeys(name for kind in need.kinds for name in registry.makers(kind)))
        made_by = f": {' or '.join(makers)} makes it" if makers else ""
        raise MissingLoopInput(
            f"{loop.id} needs {need}, and there is none{made_by}",
            fix=f"Run {' or '.join(makers)} first." if makers else f"Bring {need} along.",
            loop=loop.id,
            kind=str(need),
            makers=cast("Json", makers),
        )


async def close_unit(play: LoopPlay, result: LoopResult) -> LoopResult:
    """Put the end on record, let everybody sleep, and forget the context of the loop."""
    if not play.unit:
        play.prompts.release()
        return result

    async def act(scope: StepScope) -> Json:
        data = result.to_json()
        for role in play.sessions.awake:
            tell(play.stage, scope, "role.dormant", {"role": role})
        tell(play.stage, scope, "checkpoint", told_at_the_end(data))
        tell(play.stage, scope, "closed", {"unit": play.unit, "status": data["status"]})
        await play.house.workspace.close(play.stage, scope, play.unit, data)
        return data

    stored = cast("dict[str, Any]", await _write(play, "close", act))
    play.sessions.sleep_all()
    play.prompts.release()
    return LoopResult.from_json(stored)


async def _write(play: LoopPlay, key: str, act: Any) -> Json:
    kind = StepKind.TOOL if play.house.workspace.leaves_receipts else StepKind.WORK
    return await play.stage.run.step(key, act, kind=kind, effect=Effect.IDEMPOTENT)
