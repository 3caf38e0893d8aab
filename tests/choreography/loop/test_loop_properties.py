"""Any loop, whatever its roles and its gate do: it ends within its limits, never out of turn."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopkit import Company, Kit, block

from callboard.choreography.loop import Loop, LoopSettings, LoopStatus, read_loop
from callboard.choreography.loop.board import LoopBoard, Standing
from callboard.choreography.loop.ports import StoredArtifact

pytestmark = pytest.mark.anyio
KINDS = ("topology_notes", "section_briefs", "scene_drafts", "style_addendum", "hook_intake")


@st.composite
def loops(draw: st.DrawFn) -> str:
    """Draw a loop whose steps need some of what earlier ones make, with a gate over all of it."""
    count = draw(st.integers(1, 5))
    steps: list[dict[str, Any]] = []
    for n in range(count):
        needs = draw(st.lists(st.sampled_from(KINDS[:n]), unique=True)) if n else []
        required = n == 0 or draw(st.booleans())
        steps.append(
            {
                "id": f"step_{n + 1}",
                "description": "x",
                "roles": "plotwright",
                "requires": [f"{kind}?" if draw(st.booleans()) else kind for kind in needs],
                "produces": [KINDS[n]],
                "required": required,
            }
        )
    gate = {
        "id": f"step_{count + 1}",
        "description": "x",
        "roles": "gatekeeper",
        "requires": [KINDS[0], *(f"{kind}?" for kind in KINDS[1:count])],
        "produces": ["gatecheck_report"],
        "gate": True,
    }
    tree = {
        "id": "drawn",
        "name": "Drawn",
        "purpose": "x",
        "inputs": ["x"],
        "outputs": ["x"],
        "scope": {"summary": "x", "can": ["x"], "cannot": ["y"]},
        "follows": ["drawn"],
        "precedes": ["drawn"],
        "goal": "x",
        "raci": {"showrunner": "A", "plotwright": "R", "gatekeeper": "C"},
        "steps": [*steps, gate],
    }
    return json.dumps(tree)


class Moody(Company):
    """Says what fits, what does not, or blocks, as it is drawn."""

    def __init__(self, moods: list[int]) -> None:
        super().__init__()
        self._moods = moods

    def made(self, kinds: Any, role: str) -> Any:
        mood = self._moods[len(self.calls) % len(self._moods)]
        if mood == 0:
            return {}
        if kinds == ("gatecheck_report",) and mood == 1:
            return {"gatecheck_report": block(target=f"step_{mood}")}
        # New words half of the time, so that some work is stale afterwards and some is not.
        number = len(self.calls) if mood % 2 else 0
        return {kind: self._make(kind, role, number) for kind in kinds}

    def _decide(self, parts: list[str], prompt: str) -> str:
        mood = self._moods[len(self.calls) % len(self._moods)]
        if parts[-1] in ("next", "again") and mood < 3:
            return json.dumps({"step": f"step_{mood + 1}", "reason": "a whim"})
        if parts[-1] == "stable" and mood == 2:
            return json.dumps({"goal_achieved": False, "missing": ["more"]})
        return super()._decide(parts, prompt)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=loops(), moods=st.lists(st.integers(0, 7), min_size=1, max_size=12), policy=st.booleans()
)
async def test_any_loop_ends_within_its_limits_and_takes_no_step_without_its_inputs(
    text: str, moods: list[int], policy: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = Kit(
            Path(folder),
            loops=(text,),
            company=Moody(moods),
            settings=LoopSettings(repairs=1, iterations=12),
        )
        ran = await made.run("drawn", policy="playbook" if policy else "llm")
    loop = made.registry.get("drawn")
    taken = [each["step"] for each in ran.events("step.started")]
    assert len(taken) <= 12
    assert ran.closed["status"] in {each.value for each in LoopStatus}
    there: set[str] = set()
    for name, data in ran.told:
        if name == "step.started":
            for need in loop.by_id[data["step"]].requires:
                assert need.is_optional or there.intersection(need.kinds), data["step"]
        if name == "artifact.stored":
            there.add(data["kind"])
        if name == "step.finished" and data["status"] == "skipped":
            there -= {*loop.by_id[data["step"]].produces}
    if ran.closed["status"] == "success":
        steps = ran.closed["steps"]
        assert "stale" not in steps.values()
        assert all(steps[each.id] == "done" for each in loop.steps if each.required is True)
        assert ran.events("gate")[-1]["decision"] != "block"


def stored(kind: str, number: int) -> StoredArtifact:
    return StoredArtifact(kind, f"{kind}-{number}", f"{number:064}")


def take(board: LoopBoard, loop: Loop, step_id: str, number: int) -> None:
    step = loop.by_id[step_id]
    board.settle(step, Standing.DONE, [stored(kind, number) for kind in step.produces])


@settings(max_examples=100, deadline=None)
@given(text=loops(), order=st.lists(st.integers(0, 5), max_size=25))
def test_a_step_is_stale_exactly_if_something_it_rests_on_is_newer(
    text: str, order: list[int]
) -> None:
    loop = read_loop(text, "drawn.yaml")
    board = LoopBoard(loop)
    read: dict[str, dict[str, str]] = {}
    for number, pick in enumerate(order):
        offered = board.offered(3)
        step = offered[pick % len(offered)]
        read[step.id] = board.hashes_of(step)
        take(board, loop, step.id, number)
        for each in loop.steps:
            if each.id not in read or each.gate:
                continue
            is_behind = read[each.id] != board.hashes_of(each)
            rests_on = [board.loop.producers[kind] for kind in read[each.id]]
            is_stale = is_behind or any(
                board.standing(other) is Standing.STALE for other in rests_on
            )
            assert (board.standing(each) is Standing.STALE) is is_stale
