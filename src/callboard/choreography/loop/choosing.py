"""Which loop comes next, and several loops in a row: the strategic half of a Showrunner.

It sees the registry, what was finished and what there is; never the inside of a loop.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from callboard.choreography.loop.deciding import DueDecision, Showrunner
from callboard.choreography.loop.decisions import LOOP, LoopDecision, MadeDecision
from callboard.choreography.loop.definition import Loop
from callboard.choreography.loop.driver import LoopDriver
from callboard.choreography.loop.house import BringLoops, DecisionPolicy, LoopHouse
from callboard.choreography.loop.ports import LoopRequest, StoredArtifact
from callboard.choreography.loop.prompting import LoopPrompts
from callboard.choreography.loop.registry import LoopRegistry, UnknownLoop
from callboard.choreography.loop.result import LoopResult
from callboard.choreography.stage import Stage
from callboard.core.vocabulary import Effect

GO_ON: Final = "go on"
STOP: Final = "stop here"


def suggest_loop(
    registry: LoopRegistry, finished: LoopResult | None, there: Sequence[StoredArtifact]
) -> LoopDecision | None:
    """Return what the playbook runs next: what was scheduled, else what usually follows and can."""
    kinds = {each.kind for each in there}
    able = [
        loop.id
        for loop in registry.loops()
        if all(need.is_optional or kinds.intersection(need.kinds) for need in loop.entry_inputs)
    ]
    usual = [] if finished is None else [*registry.successors(finished.loop)]
    scheduled = [finished.next_loop] if finished is not None and finished.next_loop else []
    follow = [name for name in dict.fromkeys((*scheduled, *usual)) if name in able]
    fed = [name for kind in sorted(kinds) for name in registry.consumers(kind) if name in able]
    # Where there is nothing to go on with, the loop that says so begins.
    begins = [loop.id for loop in registry.loops() if loop.options.get("begins")]
    first_ones = [name for name in begins if name in able]
    ranked = list(dict.fromkeys((*follow, *fed, *first_ones, *able)))
    if not ranked:
        return None
    first = ranked[0]
    reasons = ["the loop before handed its work to it"] if first in scheduled else []
    reasons += ["it usually follows"] if first in usual else []
    taken = sorted(k for k in kinds if first in registry.consumers(k))
    reasons += [f"it takes {', '.join(taken)}"] if taken else []
    return LoopDecision(
        suggested_loop=first,
        reasoning=tuple(reasons or ["nothing is missing for it"]),
        alternatives=tuple(ranked[1:4]),
        confidence=0.9 if first in scheduled else 0.5,
    )


async def decide_next_loop(
    stage: Stage,
    house: LoopHouse,
    finished: LoopResult | None,
    there: Sequence[StoredArtifact],
    policy: DecisionPolicy,
    key: str = "next_loop",
) -> MadeDecision[LoopDecision] | None:
    """Decide which loop comes next, from the registry alone; None where no loop can be run."""
    registry = house.registry
    default = suggest_loop(registry, finished, there)
    if default is None:
        return None
    prompts = LoopPrompts(stage.studio, house)
    successors = () if finished is None else registry.successors(finished.loop)
    ended = "" if finished is None else f"{finished.loop} ended: {finished.status.value}."
    due = DueDecision(
        key=key,
        question=LOOP,
        default=default,
        check=lambda answer: _fault(registry, answer.suggested_loop),
        deviates=lambda answer: answer.suggested_loop != default.suggested_loop,
        layers=(prompts.registry_layer(), prompts.state_layer([_listed(each) for each in there])),
        told={
            "finished": ended,
            "inventory": "\n".join(_listed(each) for each in there) or "- nothing yet",
            "successors": ", ".join(successors) or "none",
        },
        options={"suggested_loop": registry.names()},
    )
    return await Showrunner(stage, house, prompts, policy).decide(due)


def _fault(registry: LoopRegistry, name: str) -> str:
    try:
        registry.get(name)
    except UnknownLoop as error:
        return f"{error.message}. {error.fix}"
    return ""


def _listed(artifact: StoredArtifact) -> str:
    return f"- {artifact.kind} v{artifact.version}{f', {artifact.note}' if artifact.note else ''}"


async def play_chain(
    stage: Stage,
    bring: BringLoops,
    first: str,
    request: LoopRequest,
    most: int | None = None,
    awake_in: Callable[[Loop], tuple[str, ...]] = lambda _loop: (),
) -> list[LoopResult]:
    """Play loops one after the other, as far as each hands its work on and the human agrees.

    `awake_in` says which optional roles a loop wakes besides those that were asked for.
    """
    house = bring(stage.studio)
    most = most or house.settings.chain_loops
    policy = cast("DecisionPolicy", request.policy or house.settings.policy)
    results: list[LoopResult] = []
    name: str | None = first
    while name is not None and len(results) < most:
        hop = f"hop/{len(results) + 1}"
        found = house.registry.get(name)
        loop, woken = await _kept(stage, hop, found, awake_in(found))
        asked = replace(request, awake=tuple(dict.fromkeys((*request.awake, *woken))))
        result = (await stage.parallel({hop: _player(house, loop, asked)}))[hop]
        results.append(result)
        name = None
        if result.success and result.next_loop is not None and len(results) < most:
            there = tuple(result.artifacts.values())
            chosen = await decide_next_loop(stage, house, result, there, policy, f"{hop}/next_loop")
            name = None if chosen is None else chosen.answer.suggested_loop
            name = name if await _agrees(stage, hop, name, request) else None
            request = _handed_on(request, result)
    return results


async def _kept(
    stage: Stage, hop: str, loop: Loop, awake: tuple[str, ...]
) -> tuple[Loop, tuple[str, ...]]:
    """Return a loop and who it wakes as they were when the hop began, whatever became of them."""
    definition = loop.model_dump(mode="json")
    stored: Any = await stage.step(
        f"{hop}/loop", lambda: {"loop": definition, "awake": list(awake)}, effect=Effect.PURE
    )
    if "loop" not in stored:
        # A chain begun by an older version.
        return Loop.model_validate(stored), awake
    return Loop.model_validate(stored["loop"]), tuple(stored["awake"])


def _player(
    house: LoopHouse, loop: Loop, request: LoopRequest
) -> Callable[[Stage], Awaitable[LoopResult]]:
    return lambda stage: LoopDriver(stage, house, loop, request).perform()


async def _agrees(stage: Stage, hop: str, name: str | None, request: LoopRequest) -> bool:
    if name is None or not request.is_interactive:
        return name is not None
    asked = f"The next loop would be {name}. Shall it be run?"
    choices = (GO_ON, STOP)
    return await stage.ask_human(f"{hop}/confirm", asked, choices=choices, default=STOP) == GO_ON


def _handed_on(request: LoopRequest, result: LoopResult) -> LoopRequest:
    inputs: Mapping[str, str] = {
        kind: result.artifacts[kind].id for kind in result.next_inputs if kind in result.artifacts
    }
    return LoopRequest(
        loop=result.next_loop or "",
        inputs=inputs,
        upstream=(*request.upstream, result.unit),
        awake=request.awake,
        brief=request.brief,
        is_interactive=request.is_interactive,
        policy=request.policy,
    )
