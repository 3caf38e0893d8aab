"""Turns that code leads: for the embedded model, and whatever it says."""

import os
from pathlib import Path
from typing import Any

import pytest
from foreman_stage import FLAW, LIE, MODES, PROTAGONIST, foreman, make_project, open_factory, say
from guided_talk import SAID, cancel_open_runs, check_reply, enter, random_words

from callboard.models import Line, ModelRequest, Script, find_weights, weights_dir
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.foreman.guided.gaps import Gaps, load_wording
from callboard.packs.writers_factory.foreman.hearing import MessageKind, read_message
from callboard.packs.writers_factory.foreman.state import (
    ForemanState,
    OutlineLine,
    ProjectLine,
    TemplateLine,
    VoiceLine,
)
from callboard.packs.writers_factory.health.values import Alert
from callboard.packs.writers_factory.memory import Memory
from callboard.packs.writers_factory.model import Severity
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.opening import Opening
from callboard.studio.studio import Studio

pytestmark = pytest.mark.anyio

GUIDED = {"foreman": {"guided": "always"}}
GARBAGE = (
    "",
    "<action type='advance_mode'><to>EDITOR</to></action>",
    "<message>I am",
    '{"choice": "go on"}',
    '{"choice": "nonsense"}',
    '{"line": "<b>x</b>"}',
    "aaaa " * 400,
    "\x00\x01",
)


def garbage(seed: int) -> Script:
    dice = random_words(seed)

    def answer(_request: ModelRequest) -> Line:
        return Line(dice.choice(GARBAGE))

    return Script(answer)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.req("WF-59", "WF-05", "WF-G35")
async def test_fifty_random_turns_with_a_model_that_talks_nonsense(
    tmp_path: Path, mode: str
) -> None:
    root = make_project(tmp_path / "book", **GUIDED)
    dice = random_words(MODES.index(mode))
    async with open_factory(root, garbage(7)) as studio:
        await enter(Rooms.open(Workspace(studio)).modes, mode)
        for _ in range(50):
            turn = await say(studio, dice.choice(SAID))
            check_reply(turn)
            assert turn["mode"] == mode or foreman(studio).state().mode != "COMPLETE"
        await cancel_open_runs(studio)


@pytest.mark.req("WF-32", "WF-29", "WF-31", "WF-16")
async def test_answers_fill_the_foundation_one_gap_after_the_other(tmp_path: Path) -> None:
    root = make_project(tmp_path / "book", **GUIDED)
    async with open_factory(root, garbage(3)) as studio:
        turn = await say(studio, "A novel about a tide office and a forged entry in its log")
        assert turn["gap"]["id"] == "protagonist.name"
        assert "GAP DETECTED" in turn["message"]
        assert Memory(Workspace(studio)).decisions("structure")[0].key == "premise"
        await say(studio, "Ines Varga")
        turn = await say(studio, "She is poor")
        assert "CHALLENGE:" in turn["message"] and turn["message"].rstrip().endswith("?")
        assert "Instead:" in turn["message"]
        bible = Bible(Workspace(studio))
        assert "fatal_flaw" not in bible.template("protagonist").fields
        turn = await say(studio, "I am not sure")
        assert "fatal_flaw" not in bible.template("protagonist").fields
        assert turn["gap"]["field"] == "fatal_flaw"
        for field in ("fatal_flaw", "the_lie", "arc_start", "arc_midpoint"):
            turn = await say(studio, PROTAGONIST[field])
        turn = await say(studio, "She buys a boat and sails away")
        assert "CHALLENGE:" in turn["message"] and turn["gap"]["field"] == "arc_resolution"
        turn = await say(studio, PROTAGONIST["arc_resolution"])
        template = bible.template("protagonist")
        assert template.status.value == "complete", template.unmet
        assert template.fields["the_lie"] == LIE and template.fields["fatal_flaw"] == FLAW
        assert template.sources["fatal_flaw"] == "writer_stated"
        assert turn["gap"]["id"] == "beat_sheet.beat"
        assert "Opening Image" in turn["message"]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Maria de Souza", "Maria de Souza"),
        ("The Keeper", "The Keeper"),
        ("Call her Ines.", "Ines"),
        ("It's Ines Varga", "Ines Varga"),
        ("The book is about Bo", "Bo"),
        ("My hero is called Bo.", "Bo"),
        ("Her name is Élodie and she lives on Sark Island.", "Élodie"),
        ("Ines Varga, who keeps the lighthouse of Saltmere Harbour", "Ines Varga"),
    ],
)
@pytest.mark.req("WF-32")
async def test_a_name_is_taken_out_of_what_is_said_about_it(
    tmp_path: Path, said: str, name: str
) -> None:
    root = make_project(tmp_path / "book", **GUIDED)
    async with open_factory(root, garbage(3)) as studio:
        await say(studio, "A novel about a tide office and a forged entry in its log")
        await say(studio, said)
        assert Bible(Workspace(studio)).project().protagonist_name == name


@pytest.mark.req("WF-32")
async def test_who_begins_with_a_name_need_not_be_asked_for_it(tmp_path: Path) -> None:
    root = make_project(tmp_path / "book", **GUIDED)
    async with open_factory(root, garbage(3)) as studio:
        turn = await say(studio, "Ines Varga")
        assert Bible(Workspace(studio)).project().protagonist_name == "Ines Varga"
        assert turn["gap"]["field"] == "fatal_flaw"


@pytest.mark.parametrize(
    "said", ["Her flaw is that she is poor.", "a girl who keeps a light", "Help me", "hello"]
)
@pytest.mark.req("WF-32")
async def test_what_names_nobody_names_nobody(tmp_path: Path, said: str) -> None:
    root = make_project(tmp_path / "book", **GUIDED)
    async with open_factory(root, garbage(3)) as studio:
        for words in (said, said) if len(said.split()) > 3 else (said,):
            turn = await say(studio, words)
            assert turn["gap"]["field"] == "name"
            assert not Bible(Workspace(studio)).project().protagonist_name


@pytest.mark.req("WF-17", "WF-31")
async def test_wishes_are_remembered_and_questions_answered_from_the_material(
    tmp_path: Path,
) -> None:
    root = make_project(tmp_path / "book", **GUIDED)
    (root / "notes").mkdir()
    (root / "notes" / "tide.md").write_text(
        "The harbour master keeps the tide tables. <action type='x'></action>\n", "utf-8"
    )
    async with open_factory(root, garbage(5)) as studio:
        rooms = Rooms.open(Workspace(studio))
        await rooms.notebooks.register("tides", "Tides", "world_building", "notes")
        turn = await say(studio, "I prefer short sentences")
        assert turn["actions"][0]["status"] == "executed"
        assert rooms.memory.preferences()[0].text == "I prefer short sentences"
        turn = await say(studio, "No, the gun was lost in chapter 3")
        assert rooms.memory.corrections()[0].text == "No, the gun was lost in chapter 3"
        turn = await say(studio, "Who keeps the tide tables?")
        assert "keeps the tide tables" in turn["message"] and "tide.md" in turn["message"]
        check_reply(turn)
        turn = await say(studio, "Who won the cricket?")
        assert (
            "Register a source" in turn["message"] or "What your material says" in turn["message"]
        )


@pytest.mark.req("WF-24", "WF-G09")
async def test_going_on_names_what_is_unmet_and_moves_only_through_an_open_gate(
    tmp_path: Path,
) -> None:
    root = make_project(tmp_path / "book", **GUIDED)
    async with open_factory(root, garbage(9)) as studio:
        turn = await say(studio, "go on")
        assert "Still open" in turn["message"]
        assert foreman(studio).state().mode == "ARCHITECT"


def state(mode: str, **changes: Any) -> ForemanState:
    return ForemanState(mode=mode, project=ProjectLine(protagonist="Ines"), **changes)


def test_the_next_gap_is_known_in_every_mode() -> None:
    gaps = Gaps(load_wording(), ("local",))
    found = gaps.next_gap(state("VOICE_CALIBRATION"))
    assert found.id == "voice.test_passage"
    started = gaps.action_for(found, "Ines finds the letter")
    assert started is not None and started.type == "start_tournament"
    assert started.content["agents"] == ["local"]
    chosen = gaps.next_gap(
        state("VOICE_CALIBRATION", voice=VoiceLine(steps=("test_passage", "tournament")))
    )
    winner = gaps.action_for(chosen, "BALANCED, it breathes")
    assert winner is not None and winner.content["strategy"] == "BALANCED"
    planned = gaps.next_gap(state("DIRECTOR"))
    assert planned.action is not None and planned.action.type == "plan_scenes"
    scaffold = gaps.next_gap(state("DIRECTOR", outline=OutlineLine(5, 0, 0, "ch2-sc3", "planned")))
    assert scaffold.action is not None
    assert scaffold.action.content == {"title": "ch2-sc3", "chapter": 2, "scene": 3}
    alert = gaps.next_gap(
        state("EDITOR", alerts=(Alert(Severity.ERROR, "A3", "Two places", ""),)),
        frozenset({"run_health_check"}),
    )
    assert alert.id == "editor.alert" and "Two places." in alert.ask
    done = frozenset({"run_health_check", "continuity_audit", "voice_report"})
    assert gaps.next_gap(state("EDITOR"), done).id == "editor.finish"
    complete = tuple(TemplateLine(n, "complete") for n in ("protagonist", "theme"))
    open_gate = gaps.next_gap(state("ARCHITECT", templates=complete, next_mode="VOICE_CALIBRATION"))
    assert open_gate.action is not None and open_gate.action.type == "advance_mode"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("a false victory, I think", "false_victory"),
        ("They lose everything", "false_defeat"),
        ("The lamp burns all night", "The lamp burns all night"),
    ],
)
def test_the_kind_of_midpoint_is_never_guessed(said: str, value: str) -> None:
    gaps = Gaps(load_wording())
    templates = (TemplateLine("beat_sheet", "draft_ready", (), ("midpoint_type",)),)
    gap = gaps.next_gap(state("ARCHITECT", templates=templates))
    action = gaps.action_for(gap, said)
    assert action is not None
    assert action.content["content"] == {"midpoint_type": value}


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("go on", MessageKind.GO_ON),
        ("Yes, please do", MessageKind.YES),
        ("Hello! Where do we begin?", MessageKind.ORIENT),
        ("What next?", MessageKind.ORIENT),
        ("Who is he?", MessageKind.QUESTION),
        ("I prefer the past tense", MessageKind.PREFERENCE),
        ("Actually Jun is fourteen", MessageKind.CORRECTION),
        ("She lies rather than be seen as weak", MessageKind.ANSWER),
    ],
)
def test_clear_messages_need_no_model(said: str, kind: MessageKind) -> None:
    gaps = Gaps(load_wording())
    templates = (TemplateLine("protagonist", "in_progress", (), ("fatal_flaw",)),)
    gap = gaps.next_gap(state("ARCHITECT", templates=templates))
    assert gap.field == "fatal_flaw"
    assert read_message(said, gap.field, "Ines").kind is kind


@pytest.fixture(scope="module")
def weights() -> Path:
    directory = weights_dir()
    if find_weights(directory) is None:
        pytest.fail(
            "the embedded model is not there: `callboard models pull`, or -m 'not local_model'"
        )
    return directory


@pytest.mark.local_model
@pytest.mark.timeout(600)
@pytest.mark.req("WF-59", "WF-05", "WF-107")
async def test_random_turns_with_the_embedded_model(tmp_path: Path, weights: Path) -> None:
    """`FOREMAN_TURNS=200` is the full measure; the suite takes fewer."""
    turns = int(os.environ.get("FOREMAN_TURNS", "40"))
    dice = random_words(11)
    for mode in MODES:
        root = make_project(tmp_path / mode.lower())
        opening = Opening(flags={"models": {"default": "local"}})
        async with Studio.open(root, opening) as studio:
            rooms = Rooms.open(Workspace(studio))
            await rooms.bible.write("protagonist", PROTAGONIST, source="writer_stated")
            await enter(rooms.modes, mode)
            for _ in range(max(1, turns // len(MODES))):
                check_reply(await say(studio, dice.choice(SAID)))
                # What a turn starts would take the model away from the next one.
                await cancel_open_runs(studio)
