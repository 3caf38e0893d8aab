"""Scenarios 5 and 6: what must be in a prompt stays in it, on every tier, within its budget."""

from pathlib import Path
from typing import Any

import pytest
from acceptance_stage import (
    PROTAGONIST,
    VOICES,
    Novel,
    action,
    message,
    open_novel,
    reply,
    settle,
    staff,
)

from callboard.core.vocabulary import ModelTier
from callboard.knowledge import Node
from callboard.models import Script
from callboard.packs.writers_factory.model import PlannedScene
from callboard.prompts import FittingOutcome

pytestmark = pytest.mark.anyio

MODELS = {
    "openai:gpt-4o": (ModelTier.FULL, 8400),
    "openai:deepseek-chat": (ModelTier.MEDIUM, 5000),
    "ollama:llama3.2:3b": (ModelTier.MINIMAL, 1850),
}


def entries(text: str) -> list[str]:
    """Return the lines of the knowledge in a prompt."""
    if "<knowledge_context>" not in text:
        return []
    inner = text.split("<knowledge_context>")[1].split("</knowledge_context>")[0]
    return [line for line in inner.split("<entry ")[1:] if line.strip()]


@pytest.mark.req("WF-78", "WF-79", "WF-80", "WF-59", "WF-G50", "WF-G51", "WF-G32")
async def test_scenario_5_two_hundred_decisions(tmp_path: Path) -> None:
    day_one = message(
        "Both stand. What does she do on the first page?",
        *(
            action(
                "save_decision",
                category="character",
                key=f"ines_{name}",
                value=PROTAGONIST[name],
                source="writer_stated",
            )
            for name in ("fatal_flaw", "the_lie")
        ),
    )
    async with open_novel(settle(tmp_path / "book"), Script(reply(day_one))) as novel:
        await novel.rooms.bible.describe(protagonist_name="Ines Varga")
        await novel.say(f"{PROTAGONIST['fatal_flaw']}. {PROTAGONIST['the_lie']}.")
        memory = novel.rooms.memory
        for number in range(200):
            await memory.save_decision("structure", f"turn_{number}", f"volatile {number}", "x")
        for number in range(25):
            await memory.save_decision("character", f"guest{number}_job", f"keeper {number}", "x")

        # At 10 and at 20 the foundation is more than the limit: no slot is left for the rest.
        for limit in (10, 20):
            lines = memory.context(limit)
            assert [line.key for line in lines[:2]] == ["ines_fatal_flaw", "ines_the_lie"]
            assert not [line for line in lines if line.category == "structure"]
            assert len(lines) == 27
        capped = memory.context(10, all_foundational=False)
        assert len(capped) == 10 and capped[0].key == "ines_fatal_flaw"

        count = novel.studio.counter.count
        for model, (tier, most) in MODELS.items():
            turn = await novel.hear(message("Which beat is next?"), "Go on.", model=model)
            record = novel.prompt(turn)
            assert record.tier is tier
            assert count(record.text) <= most
            shown = entries(record.text)
            assert "ines_fatal_flaw" in shown[0] and PROTAGONIST["fatal_flaw"] in shown[0]
            assert "ines_the_lie" in shown[1]
            assert not [line for line in shown if "volatile" in line]


LONG = "The tide table hangs behind the clock and nobody has wound it since the flood. " * 6
WORDS = "I want the hearing to begin with the bell and to end with the log on the table. " * 3


async def furnish(novel: Novel) -> None:
    """Bring a book to the middle of its draft, with everything a prompt can hold."""
    await novel.found()
    await novel.insist("VOICE_CALIBRATION")
    await novel.calibrate()
    await novel.insist("DIRECTOR")
    rooms = novel.rooms
    await rooms.memory.graph.merge(
        [
            Node("character:ines", "character", "Ines", ("Ines Varga",)),
            Node("character:danny", "character", "Danny"),
            Node("location:tide-office", "location", "Tide office"),
        ],
        [],
    )
    await rooms.manuscript.set_outline(
        [PlannedScene(c, s, f"Scene {c}-{s}", 9, "Ines and Danny.") for c in (1, 2) for s in (1, 2)]
    )
    await novel.run("scaffold", chapter=1, scene=1, title="The Bell")
    await rooms.scenes.approve_scaffold("ch1-sc1")
    for number in range(20):
        await rooms.memory.save_decision("character", f"danny_trait{number}", LONG[:200], "x")
        await rooms.memory.save_decision("world", f"fact_{number}", LONG[:200], "x")
        await rooms.memory.save_decision("correction", f"fix_{number}", LONG[:120], "x")


SCAFFOLD: dict[str, Any] = {
    "characters_present": ["Ines", "Danny"],
    "pov_character": "Ines",
    "location": "Tide office",
    "time_of_day": "dusk",
    "weather": "rain",
    "protagonist_constraint": "She may not ask for help.",
    "scene_goal": "Ines wants the vote; Danny stands in the way; she wins it by a lie.",
    "conflict": "Danny knows the log.",
    "outcome": "She wins and is bound by it.",
    "emotional_note": "brittle triumph",
}


@pytest.mark.req("WF-01", "WF-37", "WF-44", "WF-55", "WF-56", "WF-57", "WF-58", "WF-59")
@pytest.mark.req("WF-51", "WF-52", "WF-G18", "WF-G29", "WF-G33", "WF-G34", "WF-G35")
async def test_scenario_6_three_tiers_same_turn(tmp_path: Path) -> None:
    script = Script(staff({**VOICES, "scene_scaffold": SCAFFOLD}))
    async with open_novel(settle(tmp_path / "book"), script) as novel:
        await furnish(novel)
        for number in range(14):
            await novel.hear(message(f"Reply {number}. {WORDS} What now?"), f"{number}: {WORDS}")
        count = novel.studio.counter.count
        orders: set[tuple[str, ...]] = set()
        texts: dict[str, str] = {}
        for model, (tier, most) in MODELS.items():
            turn = await novel.hear(message("Which scene is next?"), "Same turn.", model=model)
            record = novel.prompt(turn)
            assert (record.tier, turn["mode"]) == (tier, "DIRECTOR")
            assert count(record.text) <= most, model
            assert record.total_tokens <= most
            assert record.text.rstrip().endswith("User: Same turn.")
            orders.add(tuple(line.name for line in record.bill))
            texts[model] = record.text
            by_name = {line.name: line for line in record.bill}
            is_small = tier is ModelTier.MINIMAL
            assert (by_name["process_map"].outcome is FittingOutcome.EMPTY) is is_small
            assert by_name["identity"].tokens and by_name["protocols"].tokens
        # One order for all: identity, map, mode, state, protocols, history, message.
        (order,) = orders
        wanted = ["identity", "process_map", "mode_rules", "session_state", "protocols"]
        assert [name for name in order if name in wanted] == wanted
        full, medium, small = texts.values()
        for text in texts.values():
            for name in ("generate_scaffold", "write_scene", "plan_scenes", "save_decision"):
                assert name in text
            assert "ch1-sc1" in text
        assert "Rain fell on the office." in full
        assert "Rain fell on the office." not in small
        reminder = "Shape of your reply"
        assert reminder not in full and reminder in medium and reminder in small
        gemini = await novel.hear(
            message("The bell. Who rings it?"), "Once more.", model="google:gemini-2.0-flash"
        )
        text = novel.prompt(gemini).text
        note = "Do not answer with a JSON object"
        assert text.index(reminder) < text.index(note)
        assert note not in full + medium + small
