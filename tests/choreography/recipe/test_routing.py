"""Routing: the words decide, always the same way."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from little_house import PACK, bundled

from callboard.choreography.recipe import RecipeLibrary, Router

LITTLE = Router(RecipeLibrary(PACK / "recipes", None))


@pytest.mark.req("CR-150", "CR-151", "CR-155")
@pytest.mark.parametrize(
    ("request_text", "recipe_id", "pattern"),
    [
        ("Write Scene 21", "draft", "(draft|write) scenes? \\d+"),
        ("Draft a scene", "draft", "draft scene"),
        ("please WRITE the next scene", "draft", "write scene"),
        ("Consistency check (scenes 21–22 vs canon)", "report", "consistency check"),
        ("are there contradictions?", "report", "contradictions"),
    ],
)
def test_requests_find_their_recipe(request_text: str, recipe_id: str, pattern: str) -> None:
    routing = LITTLE.route(request_text)
    assert routing.recipe_id == recipe_id
    assert pattern in routing.reason


@pytest.mark.req("CR-152")
def test_nothing_fits_and_nothing_is_guessed() -> None:
    routing = LITTLE.route("make it better")
    assert routing.to_json()["routable"] is False
    assert routing.recipe_id is None
    assert "Draft a scene" in routing.reason


@pytest.mark.req("CR-152")
def test_the_longest_match_wins_and_the_losers_are_named(tmp_path: Path) -> None:
    for name, patterns in (
        ("zeta", ["check scene"]),
        ("beta", ["check"]),
        ("alpha", ["check"]),
        ("gamma", [r"check scene \d+ now"]),
    ):
        recipe = bundled() | {"recipe_id": name, "task_patterns": patterns}
        (tmp_path / f"{name}.json").write_text(json.dumps(recipe))
    router = Router(RecipeLibrary(tmp_path, None))
    assert router.route("check scene 3 now").recipe_id == "gamma"
    routing = router.route("check the scene")
    assert routing.recipe_id == "zeta"
    assert "alpha" in routing.reason
    assert "beta" in routing.reason
    assert router.route("check").recipe_id == "alpha"


@pytest.mark.req("CR-154")
def test_seeds_become_arguments_and_the_rest_is_missing() -> None:
    seeds: dict[str, Any] = {"scene_path": "a.md"}
    router = Router(RecipeLibrary(PACK / "recipes", None), lambda _text, _recipe: seeds)
    assert router.route("draft scene 5").initial_args == seeds
    assert router.route("draft scene 5").missing_args == ()
    seeds.clear()
    assert router.route("draft scene 5").missing_args == ("scene_path",)


@given(st.text(max_size=200))
def test_routing_is_deterministic_and_never_crashes(text: str) -> None:
    first = LITTLE.route(text)
    again = Router(RecipeLibrary(PACK / "recipes", None)).route(text)
    assert first == again
    assert first.routable == (first.recipe_id is not None)
    assert first.reason


@given(st.sampled_from(["draft scene", "write scene", "contradictions"]), st.text(max_size=40))
def test_a_pattern_is_found_wherever_it_stands(pattern: str, noise: str) -> None:
    assert LITTLE.route(f"{noise} {pattern} {noise}").routable


def test_a_long_request_with_a_hostile_pattern_ends(tmp_path: Path) -> None:
    patterns = ["(x+x+)+y", "a" * 500, r"(\w+\s?)*#", "((x+))+!$", "(x|x)*b$", r"((?:\w|\w\w)+)+#"]
    recipe = bundled() | {"task_patterns": patterns}
    (tmp_path / "r.json").write_text(json.dumps(recipe))
    assert not Router(RecipeLibrary(tmp_path, None)).route("x" * 5000).routable
