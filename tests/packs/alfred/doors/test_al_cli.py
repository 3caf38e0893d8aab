"""Alfred at the command line: a project of its own, talks, data, files and people."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from al_door_stage import TOAST

from callboard.cli import exits
from callboard.cli.main import main


@dataclass(frozen=True)
class Ended:
    """How a call of the command line ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Counter:
    """A kitchen in the current folder, and the command line in it."""

    root: Path
    patch: pytest.MonkeyPatch

    def call(self, *words: str, code: int = exits.OK, typed: str = "") -> Ended:
        self.patch.setattr(sys, "stdin", io.StringIO(typed))
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            ended = Ended(main(list(words)), out.getvalue(), err.getvalue())
        assert ended.code == code, (words, ended)
        return ended

    def alfred(self, *words: str, code: int = exits.OK) -> Ended:
        return self.call("alfred", *words, code=code)


def begin(root: Path, patch: pytest.MonkeyPatch) -> Counter:
    """Begin a kitchen in a new folder, with nothing of this machine."""
    root.mkdir()
    patch.chdir(root)
    patch.setenv("CALLBOARD_CACHE_DIR", str(root.parent / "cache"))
    patch.setenv("CALLBOARD_DATA_DIR", str(root.parent / "data"))
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        patch.delenv(name)
    counter = Counter(root, patch)
    assert "callboard chat" in counter.call("init", "--for", "alfred").out
    return counter


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter:
    (tmp_path / "staff.json").write_text(json.dumps({"replies": []}))
    monkeypatch.setenv("CALLBOARD_MODELS_DEFAULT", f"script:{tmp_path / 'staff.json'}")
    return begin(tmp_path / "kitchen", monkeypatch)


@pytest.mark.req("AL-157", "AL-71")
def test_one_thing_is_said_and_the_rest_looked_at(counter: Counter) -> None:
    assert (
        "Added eggs to the shopping list."
        in counter.call("chat", "-m", "add 6 eggs to the shopping list", "--mode", "quick").out
    )
    told = counter.alfred("send", "add milk to the shopping list", "--json", "--mode", "quick").json
    assert (told["turn"], told["action"], told["mode"]) == (2, "respond", "quick")
    listed = counter.alfred("list", "shopping_items")
    assert "- eggs (6)" in listed.out and "- milk" in listed.out
    rows = counter.alfred("list", "shopping_items", "--search", "milk", "--json").json
    assert [row["name"] for row in rows["rows"]] == ["milk"]
    why = counter.alfred("why")
    assert "You said: add milk to the shopping list" in why.out and "write" in why.out
    assert counter.alfred("why", "1", "--json").json["turn"] == 1
    assert counter.alfred("why", "9", code=exits.NOT_FOUND).err
    assert "milk" in counter.alfred("undo").out
    assert "milk" not in counter.alfred("list", "shopping_items").out
    assert counter.alfred("entities", "--json").json == []
    refused = counter.alfred("send", "add eggs", "--mode", "fast", code=exits.USAGE)
    assert "quick" in refused.err
    unknown = counter.alfred("list", "spoons", code=exits.NOT_FOUND)
    assert "spoons" in unknown.err


@pytest.mark.req("AL-157")
def test_a_conversation_is_typed_with_its_commands(counter: Counter) -> None:
    counter.alfred("seed")
    talk = counter.call(
        "chat",
        typed="\n".join(
            [
                "/mode quick",
                "add eggs to the shopping list",
                "/why",
                "/undo",
                "show me the recipe for hummus",
                "/entities",
                "/nonsense",
                "/mode slow",
                "clear the shopping list",
                "no",
                "/end",
                "/quit",
                "add salt to the shopping list",
            ]
        ),
    )
    assert "Mode: quick" in talk.err
    assert "Added eggs to the shopping list." in talk.out
    assert "You said: add eggs to the shopping list" in talk.out
    assert "Undone: eggs" in talk.out
    assert "recipe     Hummus" in talk.out
    assert "There is no /nonsense" in talk.err and "slow" in talk.err
    assert "Nothing is saved yet" in talk.out and "nothing was saved" in talk.out
    assert "summed up" in talk.err
    assert "salt" not in counter.alfred("list", "shopping_items").out


@pytest.mark.req("AL-157")
def test_a_kitchen_is_seeded_once(counter: Counter) -> None:
    first = counter.alfred("seed", "--json").json
    assert first["recipes"] >= 40 and first["inventory_items"] >= 45
    assert counter.alfred("seed", "--json").json == first


@pytest.mark.req("AL-157")
def test_recipes_and_lists_go_in_and_out_of_files(counter: Counter) -> None:
    (counter.root / "toast.md").write_text(TOAST)
    (counter.root / "noise.md").write_text("nothing to eat here")
    read = counter.alfred("import", "toast.md")
    assert "Toast: 2 ingredients" in read.out and "--write" in read.err
    assert counter.alfred("list", "recipes").out == "There is nothing.\n"
    stored = counter.alfred("import", ".", "--write")
    assert "1 recipe stored" in stored.out and "noise.md" in stored.err
    assert counter.alfred("import", "gone.md", code=exits.NOT_FOUND).err
    assert "- 2 slices bread" in counter.alfred("export", "markdown", "Toast").out
    data = counter.alfred("export", "jsonld", "--json").json
    assert json.loads(data["Toast"])["@type"] == "Recipe"
    counter.alfred("send", "add 2 cans of beans to the shopping list", "--mode", "quick")
    assert "[ ] 2 cans beans" in counter.alfred("export", "shopping").out
    counter.alfred("send", "plan toast for dinner tomorrow", "--mode", "quick")
    calendar = counter.alfred("export", "calendar").out
    assert calendar.startswith("BEGIN:VCALENDAR") and "Toast" in calendar
    assert "shopping" in counter.alfred("export", "pdf", code=exits.USAGE).err


@pytest.mark.req("AL-157")
def test_people_join_and_are_asked_once(counter: Counter) -> None:
    assert "me" in counter.alfred("people").out
    counter.alfred("people", "--add", "ann", "--timezone", "Europe/Berlin")
    people = counter.alfred("people", "--json").json
    assert {each["id"]: each["timezone"] for each in people} == {
        "me": "UTC",
        "ann": "Europe/Berlin",
    }
    assert counter.alfred("people", "--add", "bo", "--timezone", "Mars", code=exits.USAGE).err
    counter.alfred("send", "add wine to the shopping list", "--user", "ann", "--mode", "quick")
    assert "wine" in counter.alfred("list", "shopping_items", "--user", "ann").out
    assert "wine" not in counter.alfred("list", "shopping_items").out
    before = counter.alfred("onboard")
    assert "days: How many days" in before.out
    after = counter.alfred("onboard", "--answer", "days=4", "--answer", "when=", "--json").json
    assert after["answered"] == {"days": "3-5", "when": "skip"}
    assert counter.alfred("onboard", "--answer", "purple", code=exits.USAGE).err
    assert counter.alfred("send", "hi", "--user", "zoe", code=exits.NOT_FOUND).err


@pytest.mark.local_model
@pytest.mark.req("AL-157")
def test_a_home_cook_gets_along_with_the_embedded_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = begin(tmp_path / "kitchen", monkeypatch)
    monkeypatch.delenv("CALLBOARD_CACHE_DIR")
    counter.alfred("seed")
    counter.alfred("onboard", "--answer", "days=4", "--answer", "when=both")
    typed = [
        "I'm allergic to peanuts",
        "Make me a weeknight pasta",
        "save that and add what's missing to shopping",
        "/mode plan",
        "Plan 3 dinners for next week",
        "yes",
        "asdf qwer",
    ]
    talk = counter.call("chat", "--model", "local", typed="\n".join(typed))
    assert "Noted in your profile: allergies: peanuts." in talk.out
    assert "Draft: " in talk.out and "to your recipes." in talk.out
    assert "Nothing is saved yet" in talk.out and "Planned dinner on" in talk.out
    assert "so nothing was changed" in talk.out
    plans = counter.alfred("list", "meal_plans", "--json").json["rows"]
    assert len(plans) == 3
    recipes = {
        row["id"]: row
        for row in counter.alfred("list", "recipes", "--limit", "200", "--json").json["rows"]
    }
    chosen = [recipes[plan["recipe_id"]] for plan in plans]
    foods = [str(line["name"]) for recipe in chosen for line in recipe["ingredients"]]
    assert foods and not [food for food in foods if "peanut" in food]


DRAFTING = """\
replies:
  - {prompt_type: understand, json: {}, times: always}
  - prompt_type: think
    times: always
    json:
      goal: A pasta
      steps:
        - description: Draft a pasta
          step_type: generate
          subdomain: recipes
          content_type: recipe
  - prompt_type: act/generate
    times: always
    json:
      name: Lemon Pasta
      servings: 2
      ingredients: [{name: pasta, quantity: 200, unit: g}]
      steps: [{text: Boil it.}]
  - {text: " ", times: always}
"""


@pytest.mark.req("AL-158")
def test_drafts_are_kept_and_dropped_by_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = begin(tmp_path / "kitchen", monkeypatch)
    (counter.root / "replies.yaml").write_text(DRAFTING)
    typed = [
        "/mode create",
        "/keep",
        "Invent a pasta for tonight",
        "/keep Nothing Like It",
        "/drop lemon pasta",
        "Invent a pasta for tomorrow",
        "/keep",
    ]
    talk = counter.call("chat", "--model", "script:replies.yaml", typed="\n".join(typed))
    assert "There are: none." in talk.err and "There are: Lemon Pasta." in talk.err, talk
    assert "Dropped “Lemon Pasta”." in talk.out
    rows = counter.alfred("list", "recipes", "--json").json
    assert [row["name"] for row in rows["rows"]] == ["Lemon Pasta"]
