"""No text that contradicts a card or a scene enters the book in silence, by whichever door."""

from dataclasses import replace
from typing import Any

import pytest
from scene_stage import SceneStage, staff, update

from callboard.core.vocabulary import RunState
from callboard.operations import AGENT
from callboard.packs.writers_factory.manuscript import TextUnproven
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.operations import operations_in
from callboard.packs.writers_factory.revision import operations as revising
from callboard.packs.writers_factory.revision.editing.requests import EditRequest
from callboard.packs.writers_factory.revision.revision import Revision
from callboard.packs.writers_factory.scenes.acceptance.operations import accept_text
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio

FALSE = "Danny’s eyes were green, and they did not leave the table."
REST = (
    "Ines put the brass key on the table. Danny looked at the flood marks on the wall and said"
    " nothing.\n\nShe counted the votes twice, and they came out wrong, and she wrote them down as"
    " they should have been. Outside, the bell of the harbour rang for nobody at all.\n\nThe rain"
    " had come in under the door and stood in a line along the boards. Somebody had laid a sack"
    " against it. Ines stepped over the sack and opened the window, and the smell of salt and wet"
    " rope came into the room with the noise of the boats below."
)
TRUE = "Danny’s eyes were brown, and they did not leave the table."
CARD = "# Danny\n\nAge: 31\nEyes: brown\n"
PATH = "content/Characters/Danny.md"


def crew(line: str) -> Any:
    return staff(scene_variant=lambda _request: update(f"{line}\n\n{REST}"))


async def drafted(stage: SceneStage) -> None:
    stage.workspace.files.write_text(PATH, CARD)
    await stage.brief()
    await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["BALANCED"])


async def accepted(stage: SceneStage) -> Revision:
    """Accept a text that contradicts nothing, and return what revises it."""
    await drafted(stage)
    await stage.result("accept", scene_id="ch4-sc2", variant_id="BALANCED")
    return Revision(stage.workspace)


async def test_a_false_text_is_not_accepted_unless_the_writer_insists(story: Any) -> None:
    async with story(crew(FALSE)) as stage:
        await drafted(stage)
        # It may be looked at, analyzed and mended: taking it is not accepting it.
        await stage.scenes.select("ch4-sc2", "BALANCED")
        run = await stage.run("accept", scene_id="ch4-sc2")
        assert run.state is RunState.FAILED and run.error is not None
        assert "green" in run.error.message and PATH in run.error.message
        assert stage.book.scene("ch4-sc2").status is SceneStatus.SELECTED
        told = await stage.result("accept", scene_id="ch4-sc2", force=True)
        assert "green" in told["against"][0]
        version = stage.book.versions("ch4-sc2")[-1]
        assert version.reason == "accepted by the writer" and "green" in version.against[0]
        assert stage.book.scene("ch4-sc2").status is SceneStatus.DRAFTED


async def test_a_refusal_and_an_override_are_on_record(story: Any) -> None:
    async with story(crew(FALSE)) as stage:
        await drafted(stage)
        operations = operations_in(stage.studio)
        with pytest.raises(TextUnproven):
            await operations.perform(accept_text, "ch4-sc2", "BALANCED")
        await operations.perform(accept_text, "ch4-sc2", "BALANCED", force=True)
        every = stage.studio.database.read(list_receipts)
        found = {each.outcome.value: each for each in every if each.tool == "factory.accept_text"}
        assert set(found) == {"failed", "succeeded"}
        assert found["succeeded"].args["force"] is True and not found["failed"].args.get("force")


async def test_a_text_that_contradicts_another_scene_is_not_accepted(story: Any) -> None:
    dead = "Marek Vale died on the pier that night. They buried Marek Vale in the morning."
    alive = "Marek Vale walked in and sat down. “You look bad,” Marek Vale said to Ines."
    async with story(crew(alive)) as stage:
        meta = replace(stage.book.scene("ch4-sc1"), status=SceneStatus.DRAFTED)
        await stage.book.save("ch4-sc1", dead, meta, reason="typed")
        await drafted(stage)
        run = await stage.run("accept", scene_id="ch4-sc2", variant_id="BALANCED")
        assert run.state is RunState.FAILED and run.error is not None
        assert "Marek" in run.error.message


async def test_an_edit_of_an_accepted_scene_brings_no_contradiction_in(story: Any) -> None:
    async with story(crew(TRUE)) as stage:
        revision = await accepted(stage)
        before = stage.book.text("ch4-sc2")
        wish = EditRequest("green", "a wish", old_text="brown", target="ch4-sc2")
        with pytest.raises(TextUnproven):
            await revision.edits.apply(wish)
        assert stage.book.text("ch4-sc2") == before and not revision.edits.history("ch4-sc2")
        forced = EditRequest("green", "a wish", old_text="brown", force=True, target="ch4-sc2")
        made = await revision.edits.apply(forced)
        assert "green" in made.against[0]
        # What stands there by the writer's will does not block work elsewhere.
        again = EditRequest("key of brass", "plain", old_text="brass key", target="ch4-sc2")
        assert (await revision.edits.apply(again)).against == ()
        for _ in range(2):
            await revision.edits.undo("ch4-sc2")
        assert stage.book.text("ch4-sc2") == before


def test_no_agent_has_a_way_to_insist() -> None:
    assert AGENT not in accept_text.who and AGENT in revising.apply_edit.who
    assert "force" not in revising.apply_edit.arguments.model_fields


async def test_an_offered_text_or_card_that_contradicts_is_not_put_in_place(story: Any) -> None:
    async with story(crew(TRUE)) as stage:
        revision = await accepted(stage)
        for target, text in (
            ("ch4-sc2", f"{FALSE}\n\n{REST}"),
            (PATH, CARD.replace("brown", "green")),
        ):
            offered = await revision.proposals.propose(target, text, mode="DIRECTOR")
            with pytest.raises(TextUnproven):
                await revision.proposals.accept(offered.id, mode="DIRECTOR")
            assert revision.proposals.get(offered.id).state == "pending"
        assert stage.workspace.files.read_text(PATH).text == CARD
        assert FALSE not in stage.book.text("ch4-sc2")
        taken = await revision.proposals.accept(offered.id, mode="DIRECTOR", force=True)
        assert taken.state == "accepted"


async def test_a_text_nobody_can_judge_is_accepted(story: Any) -> None:
    """Without a card, and with nobody named elsewhere, there is nothing to hold it against."""
    async with story(crew("Olga’s eyes were green.")) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["BALANCED"])
        told = await stage.result("accept", scene_id="ch4-sc2", variant_id="BALANCED")
        assert told["against"] == []
