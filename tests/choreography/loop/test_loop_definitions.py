"""Loops as data: what is refused before anything runs, and what the registry says of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from loopkit import FOLDER, HARVEST, SPARK, Kit

from callboard.choreography.loop import (
    Loop,
    LoopInvalid,
    LoopRegistry,
    RaciRole,
    UnknownLoop,
    UnknownLoopStep,
    load_loops,
    read_loop,
)


def changed(text: str, **fields: object) -> str:
    """Return a loop with some of its fields replaced, or taken out by None."""
    tree = {**yaml.safe_load(text), **fields}
    return yaml.safe_dump({name: each for name, each in tree.items() if each is not None})


def step(number: int, **fields: object) -> list[dict[str, object]]:
    """Return the steps of Story Spark with one of them changed."""
    steps = yaml.safe_load(SPARK)["steps"]
    steps[number - 1] |= fields
    return steps


def refusal(text: str) -> str:
    with pytest.raises(LoopInvalid) as refused:
        read_loop(text, "spark.yaml")
    return refused.value.message


@pytest.mark.parametrize("field", ["purpose", "inputs", "outputs", "scope", "follows", "precedes"])
def test_a_loop_without_an_attribute_is_refused_by_file_and_field(field: str) -> None:
    assert f"spark.yaml: {field}: is missing" in refusal(changed(SPARK, **{field: None}))


@pytest.mark.parametrize("field", ["purpose", "inputs", "outputs", "follows"])
def test_an_empty_attribute_is_refused_too(field: str) -> None:
    empty = "" if field == "purpose" else []
    assert f"spark.yaml: {field}: " in refusal(changed(SPARK, **{field: empty}))


def test_an_unknown_field_is_refused_in_its_place() -> None:
    assert "spark.yaml: steps[1].when: is not known" in refusal(
        changed(SPARK, steps=step(2, when="later"))
    )


@pytest.mark.req("QF-100")
def test_a_ring_and_a_second_producer_are_refused() -> None:
    ring = changed(SPARK, steps=step(1, requires=["scene_drafts"]))
    told = "these steps need what each other makes: step_1_topology_draft, step_2_section_briefs"
    assert told in refusal(ring)
    twice = changed(SPARK, steps=step(2, produces=["topology_notes"]))
    assert "topology_notes is produced by two steps" in refusal(twice)


def test_a_step_names_only_roles_that_work_in_the_loop() -> None:
    told = refusal(changed(SPARK, steps=step(3, roles="illustrator")))
    assert "step step_3_prose_pass names illustrator, who is neither R, A nor C" in told
    loop = read_loop(SPARK, "spark.yaml")
    working = {RaciRole.RESPONSIBLE, RaciRole.ACCOUNTABLE, RaciRole.CONSULTED}
    assert all(loop.parts_of(role) & working for each in loop.steps for role in each.roles)


@pytest.mark.req("QF-05")
def test_a_role_may_be_several_things_to_a_loop_and_one_role_answers_for_it() -> None:
    loop = read_loop(HARVEST, "harvest.yaml")
    assert loop.parts_of("showrunner") == {RaciRole.RESPONSIBLE, RaciRole.ACCOUNTABLE}
    assert loop.roles_with(RaciRole.ACCOUNTABLE) == ("showrunner",)
    nobody = changed(HARVEST, raci={"lore_weaver": "R", "researcher": "C", "gatekeeper": "C"})
    assert "raci needs exactly one role with A, and has none" in refusal(nobody)


def test_what_a_step_needs_must_come_from_somewhere() -> None:
    told = refusal(changed(SPARK, steps=step(2, requires=["a_map"])))
    assert "step_2_section_briefs requires a_map, which no step produces" in told
    both = changed(HARVEST, entry_inputs=["hooks", "hook_intake"])
    assert "entry input hook_intake is produced by a step" in refusal(both)


@pytest.mark.req("QF-04")
def test_a_step_that_is_not_in_the_library_is_a_value_error_that_names_it() -> None:
    loop = read_loop(SPARK, "spark.yaml")
    with pytest.raises(ValueError, match="story_spark has no step 'step_9_dance'"):
        loop.step("step_9_dance")
    with pytest.raises(UnknownLoopStep):
        loop.step("step_")
    # The number alone is enough.
    assert loop.step("step_3") is loop.step("step_3_prose_pass")


def test_alternatives_and_optional_inputs_are_read() -> None:
    steps = [{"id": "one", "description": "x", "roles": "gatekeeper", "requires": ["hooks or x?"]}]
    text = changed(HARVEST, steps=steps, entry_inputs=["hooks or x"])
    need = read_loop(text, "h.yaml").steps[0].requires[0]
    assert (need.kinds, need.is_optional, str(need)) == (("hooks", "x"), True, "hooks or x?")


def test_yaml_that_is_none_is_refused_with_its_line() -> None:
    assert refusal("id: [").startswith("spark.yaml")
    assert "must be names with values" in refusal("- a list")


def test_a_loop_survives_its_own_copy() -> None:
    loop = read_loop(SPARK, "spark.yaml")
    assert Loop.model_validate(loop.model_dump(mode="json")) == loop


def many(count: int) -> LoopRegistry:
    """Return a registry of so many loops that follow each other in a ring."""
    names = [f"loop_{n}" for n in range(count)]
    return LoopRegistry(
        read_loop(
            changed(SPARK, id=name, follows=[names[n - 1]], precedes=[names[(n + 1) % count]]),
            name,
        )
        for n, name in enumerate(names)
    )


def test_thirteen_loops_are_ninety_one_lines_with_sorted_keys() -> None:
    text = many(13).rendered
    assert len(text.splitlines()) == 91
    tree = yaml.safe_load(text)
    assert list(tree) == sorted(tree)
    assert all(list(entry) == sorted(entry) for entry in tree.values())
    assert set(tree["loop_3"]) == {
        "purpose",
        "typical_inputs",
        "typical_outputs",
        "scope",
        "often_follows",
        "often_precedes",
    }


def test_a_loop_more_is_seven_lines_more_and_one_file(tmp_path: Path) -> None:
    for name in ("story_spark", "hook_harvest"):
        (tmp_path / f"{name}.yaml").write_text((FOLDER / f"{name}.yaml").read_text())
    two = LoopRegistry(load_loops([tmp_path]))
    (tmp_path / "own.yaml").write_text(changed(SPARK, id="own"))
    three = LoopRegistry(load_loops([tmp_path]))
    assert three.names() == ("hook_harvest", "own", "story_spark")
    assert len(three.rendered.splitlines()) == len(two.rendered.splitlines()) + 7
    (tmp_path / "own.yaml").write_text(changed(SPARK, id="own", purpose=None))
    with pytest.raises(LoopInvalid, match=r"own\.yaml: purpose: is missing"):
        load_loops([tmp_path])


@pytest.mark.req("QF-15")
def test_an_unknown_loop_is_told_with_the_closest(kit: Callable[..., Kit]) -> None:
    registry = kit().registry
    assert registry.names() == ("story_spark", "hook_harvest")
    assert registry.get("harvest") is registry.get("hook_harvest")
    with pytest.raises(ValueError, match="Unknown loop: story_sparc") as unknown:
        registry.get("story_sparc")
    assert isinstance(unknown.value, UnknownLoop)
    assert unknown.value.context["closest"] == ["story_spark"]


def test_two_loops_of_one_name_and_hints_that_lead_nowhere_are_found() -> None:
    spark = read_loop(SPARK, "a.yaml")
    with pytest.raises(LoopInvalid, match="two loops named 'story_spark'"):
        LoopRegistry([spark, spark])
    alone = LoopRegistry([spark])
    assert alone.dangling() == (
        "story_spark: follows names 'hook_harvest', which is no loop and no alias",
        "story_spark: precedes names 'hook_harvest', which is no loop and no alias",
    )
    aliased = read_loop(changed(SPARK, follows=["harvest"]), "b.yaml")
    assert LoopRegistry([aliased, read_loop(HARVEST, "h.yaml")]).dangling() == ()


@pytest.mark.req("QF-17")
def test_the_registry_answers_what_follows_what_takes_and_what_is_apt(
    kit: Callable[..., Kit],
) -> None:
    registry = kit().registry
    assert registry.successors("story_spark") == ("hook_harvest",)
    assert registry.consumers("hooks") == ("story_spark", "hook_harvest")
    assert "story_spark" in registry.consumers("hook_card")
    assert registry.is_apt("hook_harvest", after="story_spark")
    assert not registry.is_apt("story_spark", after="story_spark")
    assert registry.makers("hooks") == ("story_spark",)
