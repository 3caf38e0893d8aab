"""Plans are checked before they run: whatever a planner writes, what comes out can be executed."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tiny_domain import SUBDOMAINS, TinyDomain

from callboard.choreography.turn.requests import ReadRequest, WriteOp, WriteRequest
from callboard.choreography.turn.shapes import StepType, ThinkOutput, ThinkStep
from callboard.choreography.turn.thinking.references import needed_steps
from callboard.choreography.turn.thinking.validation import CheckedPlan, check_plan

DOMAIN = TinyDomain()
INPUTS = ["g0.s0", "g1.s0", "g5.s5", "?"]
NAMES = [each.name for each in SUBDOMAINS]


def step(kind: str, subdomain: str = "files", group: int = 0, **more) -> ThinkStep:
    given = {"description": f"{kind} {subdomain}", "step_type": kind, "subdomain": subdomain}
    return ThinkStep.model_validate({**given, "group": group, **more})


def check(*steps: ThinkStep, most: int = 8) -> CheckedPlan:
    return check_plan(ThinkOutput(goal="g", steps=list(steps)), DOMAIN, most)


@st.composite
def plans(draw: st.DrawFn) -> list[ThinkStep]:
    steps: list[ThinkStep] = []
    for number in range(draw(st.integers(0, 14))):
        group = draw(st.integers(0, 12))
        named = draw(st.sampled_from(["g0.s0.id", "g1.s0.id", "x", "g9.s9"]))
        steps.append(
            step(
                draw(st.sampled_from([each.value for each in StepType])),
                draw(st.sampled_from([*NAMES, "cellar"])),
                group,
                description=f"step {number}",
                inputs=draw(st.lists(st.sampled_from(INPUTS), max_size=2)),
                referenced_entities=[named],
                compute=draw(st.sampled_from([None, None, "missing_tasks", "guess"])),
            )
        )
    return steps


@pytest.mark.req("AL-43", "AL-49", "AL-50")
@given(plans(), st.integers(1, 12))
def test_every_plan_comes_out_sound(steps: list[ThinkStep], most: int):
    checked = check(*steps, most=most)
    out = checked.plan.steps
    groups = sorted({each.group for each in out})
    assert groups == list(range(len(groups)))
    assert [each.id for each in out] == [
        f"g{each.group}.s{[o.id for o in out if o.group == each.group].index(each.id)}"
        for each in out
    ]
    assert {each.subdomain for each in out} <= set(NAMES)
    assert {each.compute for each in out} <= {None, "missing_tasks"}
    added = sum(each.description.startswith("Read ") for each in out)
    assert len(out) - added <= most
    by_id = {each.id: each for each in out}
    for each in out:
        assert all(by_id[name].group < each.group for name in each.inputs)
        if each.step_type is StepType.ANALYZE:
            assert any(other.group < each.group for other in out)
        for other in out:
            if other.id == each.id or other.group != each.group:
                continue
            kinds = {other.step_type, each.step_type}
            is_clash = StepType.WRITE in kinds and kinds <= {StepType.WRITE, StepType.READ}
            assert not (is_clash and other.subdomain == each.subdomain)


@given(plans(), st.integers(1, 12))
def test_a_plan_that_was_checked_is_left_alone(steps: list[ThinkStep], most: int):
    once = check(*steps, most=most).plan
    assume(len(once.steps) <= 12)
    assert check(*once.steps, most=12).plan.steps == once.steps


@pytest.mark.req("AL-49", "AL-44")
def test_a_read_beside_a_write_of_the_same_table_moves_behind_it():
    checked = check(
        step("write", "calendar"), step("read", "calendar"), step("generate", "files", 1)
    )
    assert [(each.step_type.value, each.id) for each in checked.plan.steps] == [
        ("write", "g0.s0"),
        ("read", "g1.s0"),
        ("generate", "g2.s0"),
    ]
    assert checked.problems == ()


@pytest.mark.req("AL-50")
def test_references_follow_steps_that_move():
    write = WriteRequest(
        op=WriteOp.CREATE, table="tasks", records=[{"description": "x", "document_id": "g0.s1.id"}]
    )
    checked = check(
        step("write", "files"),
        step("read", "files"),
        step("write", "calendar", 1, write=write, inputs=["g0.s1"]),
    )
    moved = checked.plan.steps
    assert [each.id for each in moved] == ["g0.s0", "g1.s0", "g2.s0"]
    assert moved[2].write is not None
    assert moved[2].write.records[0]["document_id"] == "g1.s0.id"
    assert moved[2].inputs == ["g1.s0"]
    assert needed_steps(moved[2]) == {"g1.s0"}


@pytest.mark.req("AL-49")
def test_too_many_steps_are_cut_with_a_notice():
    checked = check(*(step("read", "files", n, description=f"s{n}") for n in range(5)), most=2)
    assert len(checked.plan.steps) == 2
    assert "5 steps are too many" in checked.problems[0]
    assert list(checked.notices) == ["s2", "s3", "s4"]


@pytest.mark.req("AL-49")
def test_analysis_without_anything_to_look_at_is_a_problem():
    checked = check(step("analyze", "files"))
    assert checked.plan.steps == []
    assert "nothing is read before it" in checked.problems[0]
    moved = check(step("read", "files"), step("analyze", "files"))
    assert [each.group for each in moved.plan.steps] == [0, 1]


@pytest.mark.req("AL-49", "AL-142")
def test_what_deletes_or_changes_much_is_marked():
    delete = WriteRequest(op=WriteOp.DELETE, table="tasks", filters=[])
    many = WriteRequest(op=WriteOp.CREATE, table="tasks", records=[{}] * 5)
    one = WriteRequest(op=WriteOp.CREATE, table="tasks", records=[{}])
    marks = [
        check(step("write", "calendar", write=each)).plan.steps[0].requires_confirmation
        for each in (delete, many, one)
    ]
    assert marks == [True, True, False]


@pytest.mark.req("AL-154", "AL-63")
def test_what_a_function_needs_is_read_first_and_unknown_functions_are_refused():
    checked = check(
        step("read", "files", query=ReadRequest(table="documents")),
        step("analyze", "files", 1, compute="missing_tasks"),
    )
    reads = [each.query.table for each in checked.plan.steps if each.query is not None]
    assert sorted(reads) == ["documents", "tasks"]
    analyze = checked.plan.steps[-1]
    assert analyze.group == 1
    assert len(analyze.inputs) == 2
    unknown = check(step("read", "files"), step("analyze", "files", 1, compute="guess"))
    assert "unknown function 'guess'" in unknown.problems[0]
    assert unknown.plan.steps[1].compute is None


@pytest.mark.req("AL-43", "AL-49")
def test_who_needs_what_another_of_its_group_brings_moves_behind_it():
    save = WriteRequest(op=WriteOp.CREATE, table="documents", from_content="g0.s1")
    checked = check(
        step("write", "files", write=save),
        step("generate", "files"),
        step("read", "calendar", 1),
    )
    assert [(each.step_type.value, each.id) for each in checked.plan.steps] == [
        ("generate", "g0.s0"),
        ("write", "g1.s0"),
        ("read", "g2.s0"),
    ]
    assert checked.plan.steps[1].write is not None
    assert checked.plan.steps[1].write.from_content == "g0.s0"


@pytest.mark.req("AL-49", "AL-50")
def test_a_function_that_waits_for_data_takes_those_who_wait_for_it_along():
    write = WriteRequest(op=WriteOp.CREATE, table="contacts", from_result="g0.s0.missing")
    checked = check(
        step("analyze", "files", compute="missing_tasks"),
        step("write", "communications", 1, write=write),
    )
    kinds = [(each.step_type.value, each.group) for each in checked.plan.steps]
    assert kinds == [("read", 0), ("read", 0), ("analyze", 1), ("write", 2)]
    assert checked.plan.steps[-1].write is not None
    assert checked.plan.steps[-1].write.from_result == "g1.s0.missing"


@pytest.mark.req("AL-49", "AL-50")
def test_a_write_of_what_no_step_brings_is_left_out_and_never_takes_anothers():
    write = WriteRequest(op=WriteOp.CREATE, table="tasks", from_result="g1.s0.rows")
    checked = check(
        step("read", "files"),
        step("analyze", "cellar", 1),
        step("read", "communications", 2),
        step("write", "calendar", 3, write=write, description="Note them"),
    )
    assert [each.step_type.value for each in checked.plan.steps] == ["read", "read"]
    assert "Note them" in checked.notices
    assert any("g1.s0" in each for each in checked.problems)
