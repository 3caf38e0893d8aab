"""What agents are shown of the book, and that nobody answers without ground."""

import json
from typing import Any

import pytest
from control_room_stage import Backstage, Theatre, staff

from callboard.choreography.conference import Conferences
from callboard.models import Line, ModelRequest, Script
from callboard.prompts import load_prompt

pytestmark = pytest.mark.anyio

DRAFT = {"recipe_id": "creative_draft_scene", "description": "Draft scene 5, The Envoy"}
SMALL = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}


async def said(stage: Backstage, message: str, agent: str = "writer") -> Any:
    args = {"agent": agent, "message": message, "skip_tools": True}
    run = await stage.studio.start("control_room/chat", args)
    return await stage.studio.engine.wait(run.id)


async def test_the_writer_sees_the_scenes_around_the_cards_and_the_style(theatre: Theatre) -> None:
    script = Script(staff())
    async with theatre.serve(script) as stage:
        started = await stage.post("/runs", DRAFT, status=201)
        assert (await stage.run_over(started["run_id"]))["status"] == "done"
        by_type = {call.request.prompt_type: call.request for call in script.calls}
        drafting = by_type["draft_scene"]
        scene_4 = (theatre.root / "Story/Scenes/SCN-04-the-long-night.md").read_text()
        assert scene_4.strip().splitlines()[-1] in drafting.prompt_text
        assert "He speaks little and keeps promises longer" in drafting.prompt_text
        assert "No speeches." in drafting.prompt_text
        assert "Most of the book is told in the past tense." in drafting.prompt_text
        # Each page is a line of the bill, fenced, with the file it comes from.
        record = stage.studio.database.read(
            lambda connection: load_prompt(connection, str(drafting.prompt_id))
        )
        pages = {line.origin: line for line in record.bill if line.name.startswith("page ")}
        assert pages["file:Story/Scenes/SCN-04-the-long-night.md"].trust.value == "untrusted"
        assert "file:Compendium/Characters/CHAR-Kael.md" in pages
        # Continuity is shown what code found in the very text.
        assert "before it is written" in by_type["check_continuity"].prompt_text


async def test_pages_keep_to_their_budget(theatre: Theatre) -> None:
    theatre.flags = {"pipeline": {"page_tokens": {"medium": 200, "full": 200}}}
    script = Script(staff())
    async with theatre.serve(script) as stage:
        started = await stage.post("/runs", DRAFT, status=201)
        await stage.run_over(started["run_id"])
        prompt_ids = [str(call.request.prompt_id) for call in script.calls]
        for prompt_id in prompt_ids:
            record = stage.studio.database.read(
                lambda connection, each=prompt_id: load_prompt(connection, each)
            )
            pages = [line for line in record.bill if line.name.startswith("page ")]
            assert sum(line.tokens for line in pages) < 400


async def test_a_chat_knows_what_the_message_names(theatre: Theatre) -> None:
    script = Script(Line("Grey.", times=None))
    async with theatre.serve(script) as stage:
        await said(stage, "Which colour are Kael's eyes?")
        assert "Eyes: grey" in script.prompts[-1]
        await said(stage, "What is the zeppelin for?")
        assert "nothing was found" in script.prompts[-1]
        assert "Eyes: grey" not in script.prompts[-1]


async def test_a_small_model_points_at_a_line_or_says_that_there_is_none(theatre: Theatre) -> None:
    def pick(request: ModelRequest) -> Line:
        options = [line[2:] for line in request.prompt_text.splitlines() if line[:2] == "- "]
        return Line(json={"choice": options[0]})

    theatre.flags = SMALL
    script = Script(pick)
    async with theatre.serve(script) as stage:
        done = await said(stage, "Which colour are Kael's eyes?")
        assert "eyes" in done.result["text"].lower() and ".md)" in done.result["text"]
        calls = len(script.calls)
        unknown = await said(stage, "What is the zeppelin for?")
        assert "found nothing" in unknown.result["text"]
        assert len(script.calls) == calls


async def test_nobody_answers_with_a_fact_about_something_else(theatre: Theatre) -> None:
    """The Chief looks at canon; what it finds is not about the question, so all stay silent."""

    def play(request: ModelRequest) -> Line:
        schema = json.dumps(request.json_schema)
        options = request.json_schema["properties"]["choice"]["enum"]  # type: ignore[index]
        assert "zeppelin" not in schema
        return Line(json={"choice": options[0]})

    theatre.flags = SMALL
    async with theatre.serve(Script(play)) as stage:
        hall = Conferences(stage.studio, "control_room")
        run = await hall.hold_round("Does the zeppelin in scene 3 burn too early?")
        await stage.studio.engine.wait(run.id)
        held = hall.round(run.id)
        assert {each.status.value for each in held.replies} == {"abstained"}, held.replies
        run = await hall.hold_round("Are Kael's eyes right in scene 3?")
        await stage.studio.engine.wait(run.id)
        held = hall.round(run.id)
        accepted = [each for each in held.replies if each.status.value == "accepted"]
        assert accepted and all("eyes" in each.text for each in accepted)


@pytest.mark.parametrize("scene", ["scene 3", "Ashes"])
async def test_a_fault_of_the_scene_that_is_asked_about_is_spoken_to(
    theatre: Theatre, scene: str
) -> None:
    """The line of a fault names neither the number nor the title of the scene it stands in."""

    def play(request: ModelRequest) -> Line:
        options = request.json_schema["properties"]["choice"]["enum"]  # type: ignore[index]
        return Line(json={"choice": options[0]})

    theatre.flags = SMALL
    async with theatre.serve(Script(play)) as stage:
        hall = Conferences(stage.studio, "control_room")
        run = await hall.hold_round(f"What is wrong with {scene}?")
        await stage.studio.engine.wait(run.id)
        replies = hall.round(run.id).replies
    accepted = [each for each in replies if each.status.value == "accepted"]
    assert accepted and all("eyes" in each.text for each in accepted)


async def test_a_fault_is_spoken_to_by_those_whose_trade_it_is(theatre: Theatre) -> None:
    """What is wrong with the outline proves nothing to somebody who must quote a scene."""

    def play(request: ModelRequest) -> Line:
        options = request.json_schema["properties"]["choice"]["enum"]  # type: ignore[index]
        return Line(json={"choice": options[0]})

    theatre.flags = SMALL
    async with theatre.serve(Script(play)) as stage:
        hall = Conferences(stage.studio, "control_room")
        run = await hall.hold_round("What is wrong with the outline?")
        await stage.studio.engine.wait(run.id)
        spoke = {each.agent_id: each for each in hall.round(run.id).replies}
    accepted = {name for name, each in spoke.items() if each.status.value == "accepted"}
    assert {"chief", "planner"} <= accepted <= {"chief", "planner", "librarian"}
    assert all(
        "outline" in each.evidence or each.evidence.startswith("receipt_id: ")
        for name, each in spoke.items()
        if name in accepted
    )


async def test_nobody_has_a_view_on_what_is_as_it_should_be(theatre: Theatre) -> None:
    """Tools know a fact about her and no fault: a small model makes no fault of it."""

    def play(request: ModelRequest) -> Line:
        options = request.json_schema["properties"]["choice"]["enum"]  # type: ignore[index]
        return Line(json={"choice": options[0]})

    theatre.flags = SMALL
    async with theatre.serve(Script(play)) as stage:
        hall = Conferences(stage.studio, "control_room")
        run = await hall.hold_round("Is Mara believable in scene 1?")
        await stage.studio.engine.wait(run.id)
        assert {each.status.value for each in hall.round(run.id).replies} == {"abstained"}


async def test_a_true_quote_about_something_else_is_refused(theatre: Theatre) -> None:
    def view(request: ModelRequest) -> str:
        if request.prompt_type == "conference_view":
            quote = 'Story/Scenes/SCN-03-ashes.md "The cook brought him bread"'
            return f"Kael's eyes are right as they are.\n\nEvidence: {quote}"
        nonce = request.prompt_text.partition('"nonce": "')[2].partition('"')[0]
        return json.dumps({"action": "final", "nonce": nonce})

    async with theatre.serve(Script(view)) as stage:
        hall = Conferences(stage.studio, "control_room")
        run = await hall.hold_round("Is Kael himself?", agents=["writer"])
        await stage.studio.engine.wait(run.id)
        codes = {each.agent_id: each.code for each in hall.round(run.id).replies}
        assert codes["writer"] == "evidence_beside_the_point"
