"""Whatever a writer or the Foreman causes leaves a receipt: done, failed or refused."""

from pathlib import Path
from typing import Any

import pytest
from foreman_stage import action, make_project, message, open_factory, say

from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Receipt
from callboard.models import Script
from callboard.operations import AGENT, USER
from callboard.packs.writers_factory.factory import factory_of
from callboard.packs.writers_factory.memory import Memory
from callboard.packs.writers_factory.operations import declared
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.studio import Studio
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio


def receipts(studio: Studio) -> list[Receipt]:
    return studio.database.read(list_receipts)


def example(schema: Any, known: Any) -> Any:
    """Return the plainest value a schema allows, with everything that is required."""
    if "$ref" in schema:
        return example(known[schema["$ref"].rpartition("/")[2]], known)
    if "enum" in schema or "const" in schema:
        return schema.get("const") or schema["enum"][0]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], known)
    match schema.get("type"):
        case "object":
            return {
                name: example(schema["properties"][name], known)
                for name in schema.get("required", ())
            }
        case "array":
            return []
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case _:
            return "salt"


async def test_every_operation_that_changes_anything_leaves_a_receipt(tmp_path: Path) -> None:
    changing = [each for each in declared().values() if each.leaves_receipt]
    assert len(changing) > 60
    async with open_factory(make_project(tmp_path / "book"), Script()) as studio:
        operations = factory_of(studio).operations
        for wanted in changing:
            before = len(receipts(studio))
            schema = wanted.arguments.model_json_schema()
            given = example(schema, schema.get("$defs", {}))
            refused = ""
            try:
                await operations.perform(wanted, **given)
            except CallboardError as error:
                refused = error.code
            left = sorted(receipts(studio), key=lambda each: each.created_at)[before:]
            assert [each.tool for each in left] == [f"factory.{wanted.name}"], wanted.name
            if wanted.who == {AGENT}:
                assert (refused, left[0].outcome.value) == ("tool_refused", "refused"), wanted.name
            else:
                told = "failed" if refused else "succeeded"
                assert left[0].outcome.value == told, (wanted.name, refused, left[0].error)
        assert all(studio.tools.is_signature_valid(each) for each in receipts(studio))


async def test_whatever_the_foreman_asks_for_is_on_record(tmp_path: Path) -> None:
    asked = message(
        "Trying all of it. What else?",
        action("save_decision", category="world", key="tide", value="turns"),
        action("register_notebook", notebook_id="n", title="N", role="nonsense", path="nowhere"),
        action("apply_edit", target="ch1-sc1", new_text="x", reason="y"),
        action("resolve_conflict", conflict_id="c1", decision="accept_new"),
        action("save_decision", category="weather", key="tide", value="turns"),
        action("launch_rocket", where="up"),
        '<content_update target="ch1-sc1">Prose.</content_update>',
    )
    async with open_factory(make_project(tmp_path / "book"), Script(asked)) as studio:
        turn = await say(studio, "The tide turns. All of it.")
        statuses = [each["status"] for each in turn["actions"]]
        assert statuses == ["executed", "failed", "denied", "denied", "invalid", "unknown_type"]
        left = receipts(studio)
        assert [(each.tool, each.outcome.value) for each in left] == [
            ("factory.save_decision", "succeeded"),
            ("factory.register_notebook", "failed"),
            ("factory.apply_edit", "refused"),
            ("factory.resolve_conflict", "refused"),
            ("factory.save_decision", "refused"),
            ("factory.launch_rocket", "refused"),
            ("factory.propose_text", "failed"),
        ]
        assert {each.agent_id for each in left} == {"foreman"}
        assert left[0].args["value"] == "turns"
        assert len({each.run_id for each in left}) == 1
        assert all(studio.tools.is_signature_valid(each) for each in left)
        assert [each.key for each in Memory(Workspace(studio)).decisions()] == ["tide"]


def test_what_is_the_writers_is_no_action() -> None:
    for name in ("confirm_voice_lock", "override_gate", "mark_complete", "resolve_conflict"):
        assert declared()[name].who == {USER}
