"""What is talked about: drafts wait for a word, what is rejected stays out of every prompt."""

from typing import Any

import pytest
from tiny_domain import TinyDomain
from turn_parlour import Parlours, words_of

from callboard.testing import Line

pytestmark = pytest.mark.anyio
LISTEN = Line(json={}, prompt_type="understand", times=None)
CHAT = Line(json={"steps": []}, prompt_type="quick", times=None)
REPLY = Line("Done.", prompt_type="reply", times=None)
GENERATE = {
    "goal": "Write it",
    "steps": [
        {
            "description": "Draft a letter",
            "step_type": "generate",
            "subdomain": "files",
            "content_type": "document",
        }
    ],
}


def draft(name: str, body: str = "Dear all", **more: Any) -> Line:
    return Line(json={"name": name, "body": body}, prompt_type="act/generate", **more)


def making(times: int | None = 1, **more: Any) -> Line:
    steps = [{**GENERATE["steps"][0], **more}]
    return Line(json={**GENERATE, "steps": steps}, prompt_type="think", times=times)


@pytest.mark.req("AL-03", "AL-15", "AL-16", "AL-55", "AL-59", "AL-64", "AL-105", "AL-14")
async def test_generate_keep_save(domain, parlour_of: Parlours):
    words = words_of(domain)
    letter = Line(json=dict(words.content), prompt_type="act/generate")
    think = {"content_type": words.content_type, "subdomain": words.content_subdomain}
    async with parlour_of(domain, LISTEN, making(**think), letter, REPLY) as parlour:
        made = await parlour.say("write me a letter", mode="create")
        if made.action == "clarify":
            made = await parlour.say("go on")
        assert parlour.states() == {"Letter": "pending"}
        assert [each["id"] for each in made.entities] == [f"temp_{words.content_type}_1"]
        assert "draft" in made.message.casefold()
        assert "save that" in made.message
        table = words.content_table
        assert await parlour.names(table) == []
        saved = await parlour.say("save that")
        assert "Letter" in saved.message
        assert parlour.states() == {"Letter": "active"}
        assert await parlour.names(table) == ["Letter"]
        (entity,) = parlour.talk.entities(parlour.session)
        assert entity.persisted
        assert not entity.id.startswith("temp_")
        (row,) = (await domain.read(parlour.who, _all(table))).rows
        plain = {name: value for name, value in words.content.items() if isinstance(value, str)}
        assert {name: row[name] for name in plain} == plain
        assert row["id"] == entity.id


def _all(table: str) -> Any:
    from callboard.choreography.turn.requests import ReadRequest

    return ReadRequest(table=table)


@pytest.mark.req("AL-65", "AL-33")
async def test_content_that_breaks_a_rule_is_made_again_and_refused_in_the_end(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.forbidden = ("nuts",)
    tiny.pinned = "Allergic to nuts."
    lines = (
        making(times=None),
        draft("Cake", "with nuts"),
        draft("Cake", "plain", matching="it holds nuts"),
        draft("Tart", "with nuts", times=None),
    )
    async with parlour_of(tiny, LISTEN, *lines, REPLY) as parlour:
        await parlour.say("write a cake", mode="create")
        assert parlour.states() == {"Cake": "pending"}
        refused = await parlour.say("write a tart")
        assert "Not done" in refused.message
        assert "nuts" in refused.message
        assert parlour.states() == {"Cake": "pending"}
        generated = [c for c in parlour.script.calls if c.request.prompt_type == "act/generate"]
        assert len(generated) == 5
        assert all("Allergic to nuts." in call.prompt for call in generated)


@pytest.mark.req("AL-34", "AL-17")
async def test_no_ingredient_makes_the_draft_again_in_its_place(
    tiny: TinyDomain, parlour_of: Parlours
):
    lines = (making(), draft("Soup", "with leeks"), draft("Soup", "with peas", matching="leeks"))
    async with parlour_of(tiny, LISTEN, *lines, REPLY) as parlour:
        await parlour.say("write a soup", mode="create")
        await parlour.say("no leeks")
        (old, new) = parlour.talk.entities(parlour.session)
        assert (old.state.value, new.state.value) == ("inactive", "pending")
        assert old.slot == new.slot
        assert parlour.talk.constraints(parlour.session) == ["avoid:leeks"]


@pytest.mark.req("AL-13", "AL-23", "AL-33", "AL-35", "AL-06", "AL-57")
async def test_what_is_rejected_is_in_no_later_prompt_until_it_is_wanted_again(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "documents", "Greek Salad", "Bean Salad", "Soup")
    reads = {
        "goal": "Look",
        "steps": [
            {
                "description": "Read",
                "step_type": "read",
                "subdomain": "files",
                "query": {"table": "documents"},
            },
            {"description": "Judge", "step_type": "analyze", "subdomain": "files", "group": 1},
        ],
    }
    judged = Line(json={"analysis": "Fine.", "matches": []}, prompt_type="act/analyze", times=None)
    lines = (Line(json=reads, prompt_type="think", times=None), judged)
    async with parlour_of(tiny, LISTEN, *lines, REPLY) as parlour:
        await parlour.say("show documents", mode="quick")
        said = await parlour.say("no salads")
        assert "Greek Salad" in said.message
        assert parlour.states() == {
            "Greek Salad": "inactive",
            "Bean Salad": "inactive",
            "Soup": "active",
        }
        before = len(parlour.script.calls)
        await parlour.say("what fits tonight", mode="plan")
        await parlour.say("and what fits tomorrow")
        for call in parlour.script.calls[before:]:
            assert "Salad" not in call.prompt.replace("salads", "")
        prompts = [c.prompt for c in parlour.script.calls[before:]]
        assert any("Soup" in each for each in prompts)
        assert any("avoid: salads" in each for each in prompts)
        assert len(tiny.names("documents")) == 3


@pytest.mark.req("AL-35", "AL-06")
async def test_what_was_rejected_comes_back_when_it_is_named(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "documents", "Greek Salad", "Soup")
    async with parlour_of(tiny) as parlour:
        await parlour.say("show documents", mode="quick")
        await parlour.say("no salads")
        back = await parlour.say("actually, that first document")
        assert "Greek Salad" in back.message
        assert parlour.states()["Greek Salad"] == "active"
        await parlour.say("add document Stew")
        found = await parlour.say("actually, the stew instead")
        assert "Stew" in found.message


@pytest.mark.req("AL-07", "AL-08", "AL-37", "AL-106", "AL-16", "AL-40")
async def test_ageing_over_turns(tiny: TinyDomain, parlour_of: Parlours):
    async with parlour_of(tiny, CHAT, REPLY) as parlour:
        await parlour.say("add document First", mode="quick")
        await parlour.say("add document Second")
        states: dict[int, str | None] = {}
        for turn in range(3, 9):
            if turn == 3:
                await parlour.say("no second")
            else:
                await parlour.say("hello again friend")
            states[turn] = parlour.states().get("First")
            if turn == 4:
                assert parlour.states()["Second"] == "inactive"
            if turn == 5:
                assert "Second" not in parlour.states()
        assert states[5] == "active"
        assert states[6] == "inactive"
        assert states[7] == "inactive"
        assert states[8] is None
        changes = [each.change for each in parlour.talk.entity_events(parlour.session)]
        assert changes.count("collected") == 2


@pytest.mark.req("AL-04")
async def test_going_on_in_a_mode_that_just_does_things_is_a_yes(
    tiny: TinyDomain, parlour_of: Parlours
):
    async with parlour_of(tiny, LISTEN, making(), draft("Letter"), CHAT, REPLY) as parlour:
        await parlour.say("write me a letter", mode="create")
        await parlour.say("add task Post it", mode="quick")
        assert parlour.states()["Letter"] == "active"
        assert await parlour.names("documents") == []


@pytest.mark.req("AL-33", "AL-109")
async def test_what_is_avoided_ends_with_the_conversation(tiny: TinyDomain, parlour_of: Parlours):
    summed = Line(
        json={"engagement_summary": "They avoid fish.", "key_decisions": []},
        prompt_type="summarize",
    )
    async with parlour_of(tiny, summed) as parlour:
        await parlour.say("no fish", mode="quick")
        assert parlour.talk.constraints(parlour.session) == ["avoid:fish"]
        ended = await parlour.talk.end(parlour.session, parlour.who)
        assert ended["summary"]["engagement_summary"] == "They avoid fish."
        assert parlour.talk.constraints(parlour.session) == []
        await parlour.say("no fish")
        await parlour.say("fish are fine again")
        assert parlour.talk.constraints(parlour.session) == []


@pytest.mark.req("AL-15", "AL-145")
async def test_what_was_saved_and_undone_is_a_draft_again_and_can_be_saved_again(
    domain, parlour_of: Parlours
):
    words = words_of(domain)
    letter = Line(json=dict(words.content), prompt_type="act/generate")
    think = {"content_type": words.content_type, "subdomain": words.content_subdomain}
    async with parlour_of(domain, LISTEN, making(**think), letter, REPLY) as parlour:
        made = await parlour.say("write me a letter", mode="create")
        if made.action == "clarify":
            await parlour.say("go on")
        await parlour.say("save that")
        undone = await parlour.say("undo that")
        assert "Letter can be saved again" in undone.message
        assert await parlour.names(words.content_table) == []
        (draft,) = parlour.talk.entities(parlour.session)
        assert (draft.id, draft.state.value) == (f"temp_{words.content_type}_1", "pending")
        assert not draft.persisted
        await parlour.say("save that")
        assert await parlour.names(words.content_table) == ["Letter"]
        assert parlour.states() == {"Letter": "active"}


class Pairs(TinyDomain):
    """A domain whose drafts come together and are kept as two rows each."""

    def content_schema(self, content_type: str) -> Any:
        items = {"type": "array", "items": super().content_schema(content_type)}
        return {"type": "object", "properties": {"items": items}, "required": ["items"]}

    def content_to_write(self, content_type: str, content: Any) -> Any:
        request = super().content_to_write(content_type, content)
        (record,) = request.records
        copy = {**record, "name": f"{record['name']} (copy)"}
        return request.model_copy(update={"records": [record, copy]})


@pytest.mark.req("AL-15", "AL-64")
async def test_each_draft_gets_the_id_of_its_own_row(parlour_of: Parlours):
    keep = {
        "description": "Keep them",
        "step_type": "write",
        "subdomain": "files",
        "group": 1,
        "write": {"op": "create", "table": "documents", "from_content": "g0.s0"},
    }
    think = {**GENERATE, "steps": [*GENERATE["steps"], keep]}
    items = [{"name": name, "body": "Dear all"} for name in ("Long", "Short")]
    lines = (
        Line(json=think, prompt_type="think"),
        Line(json={"items": items}, prompt_type="act/generate"),
    )
    pairs = Pairs()
    async with parlour_of(pairs, LISTEN, *lines, REPLY) as parlour:
        await parlour.say("write me two letters and keep them", mode="create")
        assert pairs.names("documents") == ["Long", "Long (copy)", "Short", "Short (copy)"]
        by_id = {each.id: each.label for each in parlour.talk.entities(parlour.session)}
        assert by_id == {row["id"]: row["name"] for row in pairs.rows["documents"].values()}
