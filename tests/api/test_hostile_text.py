"""Texts made to take long: each is answered, and others are answered while it is worked on."""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import httpx
import pytest
from front_door import Door, House

from callboard.packs import control_room
from callboard.packs.alfred.kitchen.recipes.reading.limits import MOST_BYTES, MOST_TEXT_BYTES
from callboard.studio.project import Project
from sizes import size

pytestmark = [pytest.mark.anyio, pytest.mark.chaos]

IMPORT = "/api/alfred/recipes/import"
IMPORT_BYTES = 6_000_000
HOSTILE = ["((a+))+$", "(a|a)*b$", r"((?:\w|\w\w)+)+#"]
MUCH = size(60_000, 290_000)
MORE = size(200_000, 1_900_000)


def recipe(**told: Any) -> str:
    return json.dumps({"@type": "Recipe", "name": "Soup", **told})


def filled(unit: str, most: int, head: str = "") -> str:
    return head + unit * ((most - len(head)) // len(unit))


def page(block: str, most: int) -> str:
    return filled(f"<script type='application/ld+json'>{block}</script>", most, "<html>")


IMPORTS = {
    "amounts": (filled("1 1/2 cups of (very) fresh milk, cold\n", MUCH, "Soup\n"), "text"),
    "nested list": (
        filled(
            "- some of the very freshest milk, please\n  - a\n", MUCH, "# Soup\n## Ingredients\n"
        ),
        "markdown",
    ),
    "marks": (
        filled("- 1 cup " + "*a " * 600 + "\n", MUCH, "# Soup\n## Ingredients\n"),
        "markdown",
    ),
    "brackets": (
        filled("- 1 cup " + "(a)" * 600 + "\n", MUCH, "# Soup\n## Ingredients\n"),
        "markdown",
    ),
    "quotes": (filled("> ", MUCH, "# Soup\n## Directions\n"), "markdown"),
    "many recipes": (
        f"[{','.join([recipe(recipeIngredient=['1 cup (a) or [b](c)'] * 250)] * (MORE // 6_300))}]",
        "jsonld",
    ),
    "many blocks": (page(f"[{','.join([recipe(recipeIngredient=['1 egg'])] * 50)}]", MORE), "html"),
    "one long text": (recipe(recipeInstructions="<br>a" * (MORE // 5)), "jsonld"),
    "entities": (recipe(description="&amp;lt;b&gt;" * (MORE // 14)), "jsonld"),
}
REFUSED = {
    "deep data": ("[" * MORE, "jsonld"),
    "deep objects": ('{"a":' * (MORE // 5), "jsonld"),
    "attributes": ("<html><script " + "a='b' " * (MORE // 6), "html"),
    "nested tags": (filled("<div>", MORE, "<html>"), "html"),
    "open scripts": (filled("<script ", MORE, "<html>"), "html"),
    "longer than a text may be": ("x" * (MOST_TEXT_BYTES + 1), "text"),
    "longer than data may be": ("[" + "1" * MOST_BYTES, "jsonld"),
}


async def answered_meanwhile(
    door: Door, work: Awaitable[httpx.Response]
) -> tuple[httpx.Response, int]:
    """Return the answer of some work, and how many others were answered before it."""
    working = asyncio.ensure_future(work)
    answered = 0
    while not working.done():
        assert (await door.client.get("/api/health")).status_code == 200
        answered += not working.done()
    return await working, answered


@pytest.mark.parametrize("shape", IMPORTS)
async def test_a_hostile_recipe_is_read(house: House, shape: str) -> None:
    text, kind = IMPORTS[shape]
    async with house.serve() as door:
        wanted = {"text": text, "kind": kind}
        read, answered = await answered_meanwhile(door, door.client.post(IMPORT, json=wanted))
        assert read.status_code == 200, read.text
        assert read.json()["report"]["recipes"][0]["name"] == "Soup"
        # Were it read where requests are answered, none would come before it.
        assert answered


@pytest.mark.parametrize("shape", REFUSED)
async def test_what_is_no_recipe_is_refused(house: House, shape: str) -> None:
    text, kind = REFUSED[shape]
    async with house.serve() as door:
        refused = await door.client.post(IMPORT, json={"text": text, "kind": kind})
        assert 400 <= refused.status_code < 500, refused.text
        said = refused.json()["error"]
        assert said["message"]
        if shape == "longer than a text may be":
            assert f"{MOST_TEXT_BYTES:,}" in said["message"]


async def test_no_body_is_longer_than_what_a_reader_takes(house: House) -> None:
    async with house.serve() as door:
        # Each character as an escape: the longest way to send what is read.
        longest = '{"kind":"jsonld","text":"' + "\\u00e9" * (MOST_BYTES // 2 - 2_000) + '"}'
        headers = {"Content-Type": "application/json"}
        read = await door.client.post(IMPORT, content=longest, headers=headers)
        assert read.status_code == 400, read.text
        assert read.json()["error"]["code"] == "recipe_unreadable"
        longer = await door.client.post(IMPORT, json={"text": "x" * 10_000_000})
        assert longer.status_code == 413
        assert longer.json()["error"]["details"]["limit_bytes"] == IMPORT_BYTES


@pytest.mark.parametrize("pattern", HOSTILE)
async def test_a_hostile_pattern_of_a_project_is_answered(house: House, pattern: str) -> None:
    shipped = Path(control_room.__file__).parent / "recipes" / "structural_canon.json"
    made = json.loads(shipped.read_text("utf-8"))
    made |= {"recipe_id": "hostile", "task_patterns": [f"draft scene {pattern}"]}
    folder = Project(house.root).recipes
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hostile.json").write_text(json.dumps(made), "utf-8")
    async with house.serve() as door:
        shown = await door.client.get("/api/recipes/hostile")
        assert shown.status_code == 200, shown.text
        asked = {"description": "draft scene " + "a" * size(3_000, 19_000) + "!"}
        found, _ = await answered_meanwhile(door, door.client.post("/api/route", json=asked))
        assert found.status_code == 200, found.text
        assert (await door.client.get("/api/health")).status_code == 200


@pytest.mark.parametrize("opening", ["[", '{"description":', '{"a":[', '[{"a":'])
@pytest.mark.parametrize("path", ["/api/route", IMPORT, "/api/factory/chat", "/api/alfred/read"])
async def test_a_body_nested_without_end_is_refused(house: House, path: str, opening: str) -> None:
    async with house.serve() as door:
        headers = {"Content-Type": "application/json"}
        for levels in (1_000, 9_000, 100_000):
            body = opening * levels
            refused = await door.client.post(path, content=body, headers=headers)
            assert 400 <= refused.status_code < 500, refused.text
            closed = body + "1" + "".join({"[": "]", "{": "}"}.get(x, "") for x in body[::-1])
            refused = await door.client.post(path, content=closed, headers=headers)
            assert 400 <= refused.status_code < 500, refused.text
        assert (await door.client.get("/api/health")).status_code == 200
