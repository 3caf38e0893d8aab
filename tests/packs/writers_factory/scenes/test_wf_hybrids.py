"""Hybrids keep the origin of every paragraph, and what a scene establishes enters the graph."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene_stage import callback_text, staff, strategy_in, update

from callboard.core.vocabulary import RunState
from callboard.knowledge import Edge
from callboard.library.story.contradiction import ScenePoint, value_at
from callboard.packs.writers_factory.memory.consolidation import Consolidator
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.scenes.drafts import HybridInvalid, VariantUnknown
from callboard.packs.writers_factory.scenes.hybrids import (
    HybridPart,
    assemble,
    read_hybrid,
    read_parts,
    trace,
)
from callboard.packs.writers_factory.scenes.rooms import SceneRooms
from callboard.packs.writers_factory.scenes.variants import SceneVariant

pytestmark = pytest.mark.anyio

A = SceneVariant("s:A:1", "ch1-sc1", "A", text="One a.\n\nTwo a.\n\nThree a.")
B = SceneVariant("s:B:1", "ch1-sc1", "B", text="One b.\n\nTwo b.")
BOTH = {A.id: A, B.id: B}


@pytest.mark.req("WF-G74")
def test_parts_are_put_together_word_for_word() -> None:
    parts = read_parts([{"variant": A.id, "paragraphs": "2-"}, f"{B.id}#1"])
    mosaic = assemble(parts, BOTH)
    assert mosaic.text == "Two a.\n\nThree a.\n\nOne b."
    assert mosaic.provenance == ("s:A:1#2", "s:A:1#3", "s:B:1#1")
    assert trace(mosaic.text, BOTH) == mosaic.provenance
    assert trace("Quite something else entirely stands here now.", BOTH) == ("new",)


@pytest.mark.parametrize(
    "given_parts",
    [
        [{"variant": "s:A:1", "paragraphs": "0"}],
        [{"variant": "s:A:1", "paragraphs": "3-2"}],
        [{"variant": "s:A:1", "paragraphs": "1-9"}],
        [{"variant": "s:C:1"}],
        [{"paragraphs": "1"}],
        ["s:A:1#one"],
    ],
)
def test_parts_that_are_none_are_refused(given_parts: list[Any]) -> None:
    with pytest.raises(HybridInvalid):
        assemble(read_parts(given_parts), BOTH)


@given(
    st.lists(st.tuples(st.sampled_from([A, B]), st.integers(1, 3), st.integers(1, 3)), min_size=1)
)
def test_every_paragraph_of_a_hybrid_has_an_origin(
    named: list[tuple[SceneVariant, int, int]],
) -> None:
    parts = [HybridPart(each.id, low, high) for each, low, high in named if low <= high]
    try:
        mosaic = assemble(parts, BOTH)
    except HybridInvalid:
        return
    paragraphs = mosaic.text.split("\n\n")
    assert len(paragraphs) == len(mosaic.provenance)
    for paragraph, origin in zip(paragraphs, mosaic.provenance, strict=True):
        name, _, number = origin.partition("#")
        assert BOTH[name].text.split("\n\n")[int(number) - 1] == paragraph


def test_words_that_name_no_part_are_a_wish() -> None:
    assert read_hybrid("ch1-sc1", "the quarrel of B, the end of A").wishes
    order = read_hybrid("ch1-sc1", "s:A:1#1-2; s:B:1#2")
    assert order.parts == (HybridPart("s:A:1", 1, 2), HybridPart("s:B:1", 2, 2))
    with pytest.raises(HybridInvalid, match="parts or a wish"):
        read_hybrid("ch1-sc1", [])


@pytest.mark.req("WF-98", "WF-G74")
async def test_a_wish_is_merged_by_the_writer_under_the_same_rules(story: Any) -> None:
    texts: dict[str, str] = {}

    def draft(request: Any) -> str:
        name = strategy_in(request)
        texts[name] = callback_text(1000 * len(name))
        return update(texts[name])

    def merge(request: Any) -> str:
        first = texts["ACTION"].split("\n\n")[0]
        second = texts["CHARACTER"].split("\n\n")[1]
        assert "Keep the quarrel" in request.prompt_text
        return update(f"{first}\n\n{second}\n\nIt was done with cold precision.")

    answer = staff(
        scene_variant=draft, scene_hybrid=merge, scene_variant_sentences="1. It was done by lamp."
    )
    async with story(answer) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2")
        made = await stage.result(
            "hybrid", scene_id="ch4-sc2", parts=None, wishes="Keep the quarrel"
        )
        missing = await stage.run("hybrid", scene_id="ch4-sc2", parts=[{"variant": "NONE"}])
    assert made["text"].endswith("It was done by lamp.")
    assert made["provenance"][1:] == ["ch4-sc2:CHARACTER_DEPTH:1#2", "new"]
    assert made["strategy"] == "HYBRID"
    assert missing.state is RunState.FAILED
    assert missing.error.code == "variant_unknown"


async def test_what_cannot_be_chosen_or_accepted_is_refused(story: Any) -> None:
    async with story() as stage:
        await stage.brief()
        with pytest.raises(VariantUnknown):
            await stage.scenes.select("ch4-sc2", "BALANCED")
        empty = await stage.run("accept", scene_id="ch4-sc2")
        assert empty.error.code == "nothing_to_accept"
        assert stage.book.scene("ch4-sc2").status is SceneStatus.SCAFFOLDED


@pytest.mark.req("WF-G75")
async def test_what_a_scene_establishes_enters_the_graph_and_contradictions_wait(
    story: Any,
) -> None:
    found = (
        '{"nodes": [{"type": "character", "name": "Danny", "attrs": {"alive": "dead"}},'
        ' {"type": "location", "name": "Salt cellar"}],'
        ' "edges": [{"src": "Ines", "dst": "Danny", "type": "loves"},'
        ' {"src": "Ines", "dst": "Olga", "type": "loves"}]}'
    )
    text = callback_text(5) + "\n\nDanny was dead in the Salt cellar. Ines loves Danny and Olga."
    async with story(staff(scene_variant=update(text), memory__extract=found)) as stage:
        await stage.graph.merge([], [Edge("character:ines", "character:danny", "hates")])
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["balanced"])
        done = await stage.result("accept", scene_id="ch4-sc2", variant_id="BALANCED")
        assert stage.graph.find("Salt cellar", "location") is not None
        assert stage.graph.edges(src="character:ines", dst="character:olga", type="loves")
        assert not stage.graph.edges(src="character:ines", dst="character:danny", type="loves")
        assert done["extracted"]["conflicts"] == 1
        assert len(Consolidator(stage.workspace).conflicts()) == 1
        danny = stage.graph.node("character:danny")
        assert value_at(danny.attrs, "alive", ScenePoint(4, 1)) is None
        assert value_at(danny.attrs, "alive", ScenePoint(5, 1)) is not None
        assert not SceneRooms(stage.workspace).people(5, 1)[0].is_alive
        assert SceneRooms(stage.workspace).people(4, 1)[0].is_alive
