"""Priorities as numbers: who gets which."""

import pytest

from callboard.models.traffic.priority import (
    Priority,
    effective,
    is_interactive,
    priority_of,
    queue_priority,
)


@pytest.mark.req("LLM-46")
def test_the_five_steps_have_their_numbers() -> None:
    assert {each.name: each.value for each in Priority} == {
        "USER": 100,
        "PLANNING": 80,
        "EXECUTION": 60,
        "VALIDATION": 40,
        "BACKGROUND": 20,
    }


@pytest.mark.req("LLM-47")
@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("architect", 80),
        ("engineer", 60),
        ("designer", 60),
        ("inspector", 40),
        ("tester", 40),
        ("archivalist", 20),
        ("Librarian", 20),
        ("somebody else", 60),
    ],
)
def test_an_agents_work_has_its_step_and_the_users_is_always_first(
    agent: str, expected: int
) -> None:
    assert priority_of(agent) == expected
    assert priority_of(agent, user_invoked=True) == 100


def test_a_request_without_priority_is_execution() -> None:
    assert effective(0) == 60
    assert effective(20) == 20


@pytest.mark.req("LLM-106")
@pytest.mark.parametrize(
    "agent", ["guide", "architect", "orchestrator", "librarian", "archivalist", "academic"]
)
def test_standalone_agents_are_interactive_unless_in_the_background(agent: str) -> None:
    assert is_interactive(queue_priority(agent))
    assert not is_interactive(queue_priority(agent, is_background=True))
    assert queue_priority(agent, is_background=True) == priority_of(agent)
    assert is_interactive(queue_priority(agent, user_invoked=True, is_background=True))


@pytest.mark.req("LLM-106")
def test_pipeline_agents_are_interactive_only_for_the_user() -> None:
    for agent in ("engineer", "designer", "inspector", "tester", "somebody else"):
        assert not is_interactive(queue_priority(agent))
        assert queue_priority(agent, user_invoked=True) == 100


def test_within_the_interactive_class_the_order_of_steps_is_kept() -> None:
    ranked = [
        queue_priority("engineer", user_invoked=True),
        queue_priority("architect"),
        queue_priority("guide"),
        queue_priority("librarian"),
    ]
    assert ranked == sorted(ranked, reverse=True)
    assert len(set(ranked)) == len(ranked)
