"""A loop that meets no trouble: every step once, in the order of the playbook."""

from collections.abc import Callable

import pytest
from loopkit import Kit

from callboard.core.vocabulary import RunState

pytestmark = pytest.mark.anyio


@pytest.mark.req("QF-33")
async def test_by_the_playbook_a_straight_pass_takes_eight_calls(kit: Callable[..., Kit]) -> None:
    made = kit()
    ran = await made.run(policy="playbook")
    assert ran.run.state is RunState.DONE, ran.run.error
    result = ran.result
    assert result.success
    assert len(made.company.calls) == 8
    assert made.company.asked(of="showrunner") == []
    assert set(result.artifacts) == {
        "topology_notes",
        "section_briefs",
        "scene_drafts",
        "hooks",
        "style_feedback",
        "feasibility_notes",
        "gatecheck_report",
    }
    assert result.next_loop == "hook_harvest"
    assert result.next_inputs == ("hooks",)


async def test_by_a_model_the_same_pass_takes_seventeen_calls_on_the_same_path(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    ran = await made.run(policy="llm")
    assert ran.run.state is RunState.DONE, ran.run.error
    assert len(made.company.calls) == 17
    assert ran.result.stats["showrunner_calls"] == 9
    assert ran.result.stats["role_calls"] == 8
    assert ran.result.stats["deviations"] == ran.result.stats["fallbacks"] == 0
