"""What may happen to a plan, whatever order it happens in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Plan, PlanState, RunState, Task, TaskState
from callboard.studio.plan_changes import (
    PlanConflict,
    RoutedTask,
    answer,
    edit,
    find_cycle,
    first_inversion,
    force,
    in_dependency_order,
    pause,
    remove,
    reorder,
    resume,
    routed,
    start,
    unblocked,
)
from callboard.studio.plan_progress import next_task, settled, started

READY = RoutedTask("creative_draft_scene", {"scene_path": "Story/Scenes/a.md"})


def plan_of(*deps: tuple[int, ...], scoping: int | None = None) -> Plan:
    tasks = tuple(
        routed(Task(number, f"task {number}", deps=needed), READY)
        if number != scoping
        else routed(Task(number, "?", deps=needed, scoping_question="Which one?"), READY)
        for number, needed in enumerate(deps, start=1)
    )
    return unblocked(Plan("sp_1", "sess_1", tasks))


def states(plan: Plan) -> list[str]:
    return [task.state.value for task in plan.tasks]


@pytest.mark.req("CR-159", "CR-163")
def test_tasks_follow_what_they_wait_for_and_one_runs_at_a_time() -> None:
    plan = plan_of((), (1,), (1, 2), scoping=None)
    assert states(plan) == ["pending", "blocked", "blocked"]
    assert next_task(plan) is None  # nothing runs before the user approves
    plan = start(plan)
    first = next_task(plan)
    assert first is not None and first.id == 1
    plan = started(plan, 1, "run_1")
    assert next_task(plan) is None
    plan = settled(plan, 1, RunState.DONE, {})
    assert states(plan) == ["done", "pending", "blocked"]
    plan = settled(started(plan, 2, "run_2"), 2, RunState.FAILED, {})
    assert states(plan) == ["done", "failed", "blocked"]
    assert plan.state is PlanState.FAILED


@pytest.mark.req("CR-163")
def test_a_cancelled_run_leaves_its_task_waiting_and_the_plan_paused() -> None:
    plan = settled(started(start(plan_of((), ())), 1, "run_1"), 1, RunState.CANCELLED, {})
    assert states(plan) == ["pending", "pending"]
    assert plan.state is PlanState.PAUSED
    assert next_task(plan) is None


@pytest.mark.req("CR-162")
def test_a_pause_lets_the_run_finish_and_starts_nothing_new() -> None:
    plan = pause(started(start(plan_of((), ())), 1, "run_1"))
    plan = settled(plan, 1, RunState.DONE, {})
    assert states(plan) == ["done", "pending"]
    assert next_task(plan) is None
    following = next_task(resume(plan))
    assert following is not None and following.id == 2


@pytest.mark.req("CR-161", "CR-164")
def test_reordering_before_a_dependency_names_the_pair() -> None:
    plan = plan_of((), (1,), ())
    assert [task.id for task in reorder(plan, [3, 1, 2]).tasks] == [3, 1, 2]
    with pytest.raises(PlanConflict) as caught:
        reorder(plan, [2, 1, 3])
    assert caught.value.context == {"task": 2, "dependency": 1}
    with pytest.raises(CallboardError):
        reorder(plan, [1, 2])


@pytest.mark.req("CR-164")
def test_removing_what_others_wait_for_lists_them() -> None:
    plan = plan_of((), (1,), (1,))
    with pytest.raises(PlanConflict) as caught:
        remove(plan, 1)
    assert caught.value.context["dependents"] == [2, 3]
    assert states(remove(plan, 1, drop_deps=True)) == ["pending", "pending"]


@pytest.mark.req("CR-164")
def test_a_running_plan_is_not_edited() -> None:
    plan = start(plan_of((), ()))
    for change in (
        lambda: reorder(plan, [2, 1]),
        lambda: remove(plan, 2),
        lambda: edit(plan, 2, "other words", READY),
    ):
        with pytest.raises(PlanConflict):
            change()


@pytest.mark.req("CR-160", "CR-163")
def test_a_question_holds_a_task_until_it_is_answered() -> None:
    plan = plan_of((), (), scoping=2)
    assert states(plan) == ["pending", "needs_scoping"]
    with pytest.raises(PlanConflict):
        force(plan, 2)
    lacking = answer(plan, 2, "the key", RoutedTask("x", reason="it needs themes"))
    assert lacking.tasks[1].state is TaskState.NEEDS_SCOPING
    assert lacking.tasks[1].reason == "it needs themes"
    assert states(answer(plan, 2, "the key", READY)) == ["pending", "pending"]


@pytest.mark.req("CR-161", "CR-163")
def test_a_blocked_task_can_be_forced_and_is_marked() -> None:
    plan = force(plan_of((), (1,)), 2)
    assert plan.tasks[1].forced and plan.tasks[1].state is TaskState.PENDING
    with pytest.raises(PlanConflict):
        force(started(plan, 1, "run_1"), 2)


_DEPS = st.integers(1, 8).flatmap(
    lambda size: st.tuples(
        *(
            st.sets(st.integers(1, max(1, number - 1)), max_size=3).map(
                lambda found, n=number: tuple(sorted(each for each in found if each < n))
            )
            for number in range(1, size + 1)
        )
    )
)


@given(_DEPS, st.lists(st.sampled_from([RunState.DONE, RunState.FAILED]), min_size=8, max_size=8))
def test_every_plan_comes_to_rest_and_nothing_runs_before_its_time(
    deps: tuple[tuple[int, ...], ...], ends: list[RunState]
) -> None:
    plan = start(plan_of(*deps))
    for end in ends:
        task = next_task(plan)
        if task is None:
            break
        done = {each.id for each in plan.tasks if each.state is TaskState.DONE}
        assert set(task.deps) <= done
        plan = settled(started(plan, task.id, f"run_{task.id}"), task.id, end, {})
    assert next_task(plan) is None
    assert plan.state in (PlanState.DONE, PlanState.FAILED)
    assert (plan.state is PlanState.DONE) == all(t.state is TaskState.DONE for t in plan.tasks)


@given(_DEPS, st.randoms(use_true_random=False))
def test_any_shuffled_list_can_be_put_in_order(deps: tuple[tuple[int, ...], ...], random) -> None:
    tasks = list(plan_of(*deps).tasks)
    random.shuffle(tasks)
    ordered = in_dependency_order(tasks)
    assert sorted(task.id for task in ordered) == sorted(task.id for task in tasks)
    assert first_inversion(ordered) is None


def test_a_ring_is_named() -> None:
    assert find_cycle({1: (2,), 2: (3,), 3: (2,)}) == (2, 3, 2)
    assert find_cycle({1: (), 2: (1,), 3: (1, 2)}) == ()
