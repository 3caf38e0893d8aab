"""Modes: gates from what is stored, the writer's override, completion, the way back."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from bible_samples import RULES, THEME
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modes_stage import Book, found

from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.memory import Memory
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.modes import (
    ModeGated,
    Modes,
    ModesInvalid,
    ModeUnknown,
    Neighbours,
    WritersDecision,
)
from callboard.packs.writers_factory.voice import VoiceStatus
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio

ORDER = ("ARCHITECT", "VOICE_CALIBRATION", "DIRECTOR", "EDITOR", "COMPLETE")


@pytest.mark.req("WF-18", "WF-19", "WF-20", "WF-21", "WF-22", "WF-G08", "WF-G11")
async def test_a_book_goes_through_its_modes_in_order(open_studio: Any) -> None:
    book = Book()
    async with open_studio() as studio:
        modes = book.modes(studio)
        assert modes.table.ids == ORDER
        assert modes.current() == "ARCHITECT"
        await found(studio)
        await modes.advance("VOICE_CALIBRATION", by="agent")
        # A bundle alone moves nothing: the writer's word is missing.
        book.voice = VoiceStatus("p", "t", winner="w", bundle_ready=True)
        assert modes.gate("DIRECTOR").unmet == (
            "voice_lock: the writer has not confirmed the voice",
        )
        with pytest.raises(ModeGated):
            await modes.advance("DIRECTOR", by="agent")
        assert modes.current() == "VOICE_CALIBRATION"
        book.lock_voice()
        entered = await modes.advance("director", by="agent")
        assert entered.opens_with == "plan_scenes"
        assert modes.gate("EDITOR").unmet[0] == "outline: no scenes are planned"
        book.plan()
        book.draft(14)
        assert modes.gate("EDITOR").unmet == ("scenes: 1 to draft: ch1-sc15",)
        book.draft(15)
        await modes.advance("EDITOR", by="agent")
        assert book.effects == ["freeze_first_draft"]
        with pytest.raises(ModeGated, match="has not marked it as complete"):
            await modes.advance("COMPLETE", by="agent")
        with pytest.raises(ModeGated):
            await modes.mark_complete(by="agent")
        finished = await modes.mark_complete(by="writer")
        assert finished.left_undone == ("export_manuscript", "store_health_report")
        assert modes.is_complete()
        assert [move["to"] for move in modes.history()] == list(ORDER[1:])


@pytest.mark.req("WF-24", "WF-G07", "WF-23")
async def test_gate_and_override(open_studio: Any) -> None:
    book = Book()
    async with open_studio() as studio:
        modes = book.modes(studio)
        bible = await found(studio, rules=2)
        for insists in (False, True, False):
            with pytest.raises(ModeGated) as refused:
                await modes.advance("VOICE_CALIBRATION", by="agent", override=insists)
            assert refused.value.unmet == ("world_rules: 1 more",)
        # Not even the writer passes before being told once.
        with pytest.raises(ModeGated) as refused:
            await modes.advance("VOICE_CALIBRATION", by="writer", override=True)
        assert refused.value.unmet == ("world_rules: 1 more",)
        assert refused.value.context["unmet"] == ["world_rules: 1 more"]
        assert "override" in str(refused.value.fix)
        moved = await modes.advance(
            "VOICE_CALIBRATION", by="writer", override=True, risk_note="The sea may drift"
        )
        assert moved.override is not None
        assert moved.override.unmet == ("world_rules: 1 more",)
        line = (
            "ARCHITECT to VOICE_CALIBRATION without: world_rules: 1 more. Risk: The sea may drift"
        )
        assert modes.override_lines() == (line,)
        key = "gate_override_architect_voice_calibration"
        assert book.remembered == [("constraint", key, line, "writer_stated")]
    async with open_studio() as studio:
        again = book.modes(studio)
        assert again.current() == "VOICE_CALIBRATION"
        assert again.override_lines() == (line,)
        await again.settle()
        assert len(book.remembered) == 1
        # What was overridden stays so; what breaks later is another matter.
        bible = Bible(Workspace(studio))
        assert again.gate("VOICE_CALIBRATION").overridden == ("world_rules: 1 more",)
        await bible.write("theme", {"theme_statement": "About love"}, source="writer_stated")
        assert not again.gate("DIRECTOR").is_open
        assert any(told.startswith("theme:") for told in again.gate("DIRECTOR").unmet)


@pytest.mark.req("WF-23", "WF-G07")
async def test_the_next_mode_opens_the_moment_the_last_template_is_complete(
    open_studio: Any,
) -> None:
    async with open_studio() as studio:
        modes = Book().modes(studio)
        bible = await found(studio, rules=2)
        assert modes.unlocked() == ("ARCHITECT",)
        await bible.write("world_rules", {"rules": RULES}, source="writer_stated")
        assert modes.unlocked() == ("ARCHITECT", "VOICE_CALIBRATION")
        assert modes.current() == "ARCHITECT"
        moved = await modes.advance("VOICE_CALIBRATION", by="writer")
        assert moved.override is None
        assert modes.overrides() == ()


@pytest.mark.req("WF-G07")
async def test_a_refusal_names_everything_and_counts_only_for_what_it_named(
    open_studio: Any, root: Path
) -> None:
    async with open_studio() as studio:
        modes = Book().modes(studio)
        bible = await found(studio, rules=1)
        await bible.write("protagonist", {"fatal_flaw": "He is poor"}, source="writer_stated")
        (root / "content/Story Bible/Theme.md").write_text("---\nbroken: [\n---\n")
        with pytest.raises(ModeGated) as refused:
            await modes.advance("VOICE_CALIBRATION", by="writer")
        told = refused.value.unmet
        assert [each.split(":")[0] for each in told] == [
            "protagonist", "theme", "theme", "world_rules",
        ]  # fmt: skip
        assert any("Theme.md, line 2" in each for each in told)
        await bible.write("beat_sheet", {"beat_2": "TBD"}, source="writer_stated")
        with pytest.raises(ModeGated, match="beat_2"):
            await modes.advance("VOICE_CALIBRATION", by="writer", override=True)
        await modes.advance("VOICE_CALIBRATION", by="writer", override=True)
        assert modes.current() == "VOICE_CALIBRATION"


@pytest.mark.req("WF-G15")
async def test_minimal_rules_are_an_override_of_one_template(open_studio: Any) -> None:
    book = Book()
    async with open_studio() as studio:
        modes = book.modes(studio)
        bible = await found(studio, rules=1)
        await bible.write("beat_sheet", {"beat_2": "TBD"}, source="writer_stated")
        with pytest.raises(WritersDecision):
            await modes.waive("World Rules", by="agent")
        with pytest.raises(ModeGated) as refused:
            await modes.waive("World Rules", by="writer")
        assert refused.value.unmet == ("world_rules: 2 more",)
        waived = await modes.waive("World Rules", by="writer", risk_note="Small island")
        assert (waived.scope, modes.current()) == ("world_rules", "ARCHITECT")
        assert [each.split(":")[0] for each in modes.gate("VOICE_CALIBRATION").unmet] == [
            "beat_sheet"
        ]
        await bible.write(
            "beat_sheet", {"beat_2": "The boatman warns her once more"}, source="writer_stated"
        )
        moved = await modes.advance("VOICE_CALIBRATION", by="agent")
        assert moved.override is None
        assert "Small island" in modes.override_lines()[0]
        assert book.remembered[0][0] == "constraint"
        with pytest.raises(WritersDecision, match="nothing is missing"):
            await modes.waive("theme", by="writer")


@pytest.mark.req("WF-G07", "WF-20")
async def test_the_way_back_is_the_writers_and_keeps_everything(open_studio: Any) -> None:
    book = Book()
    async with open_studio() as studio:
        modes = book.modes(studio)
        bible = await found(studio, rules=2)
        with pytest.raises(ModeGated):
            await modes.advance("VOICE_CALIBRATION", by="writer")
        await modes.advance("VOICE_CALIBRATION", by="writer", override=True)
        book.lock_voice()
        await modes.advance("DIRECTOR", by="writer")
        with pytest.raises(WritersDecision):
            await modes.advance("ARCHITECT", by="agent")
        await modes.advance("ARCHITECT", by="writer")
        assert modes.current() == "ARCHITECT"
        assert len(bible.rules) == 2
        assert book.voice.locked
        # The gate counts again, and the override is history.
        assert modes.gate("VOICE_CALIBRATION").unmet == ("world_rules: 1 more",)
        assert modes.override_lines() == ()
        assert len(modes.overrides()) == 1
        await bible.write("world_rules", {"rules": RULES}, source="writer_stated")
        # The voice stays locked, so nothing else stands in the way.
        await modes.advance("DIRECTOR", by="agent")
        assert modes.current() == "DIRECTOR"


@pytest.mark.req("WF-22")
async def test_a_complete_manuscript_can_be_taken_up_again(open_studio: Any) -> None:
    book = Book()
    book.lock_voice()
    book.plan()
    book.draft(15)
    async with open_studio() as studio:
        modes = book.modes(studio)
        await found(studio)
        await modes.advance("EDITOR", by="writer")
        await modes.mark_complete(by="writer")
        assert modes.completion_pct() == 100
        with pytest.raises(WritersDecision):
            await modes.reopen(by="agent")
        await modes.reopen(by="writer")
        assert modes.current() == "EDITOR"
        assert not modes.is_complete()


@pytest.mark.req("WF-G10")
async def test_completion_in_every_mode(open_studio: Any) -> None:
    book = Book()
    async with open_studio() as studio:
        modes = book.modes(studio)
        bible = Bible(Workspace(studio))
        await bible.write("theme", THEME, source="writer_stated")
        four = {"fatal_flaw": "a", "the_lie": "b", "arc_start": "c", "arc_midpoint": "d"}
        await bible.write("protagonist", four, source="writer_stated")
        assert modes.completion_pct() == 45
        book.voice = VoiceStatus("passage", "tour-1", winner="winner")
        assert modes.completion_pct("VOICE_CALIBRATION") == 60
        assert modes.completion_pct("DIRECTOR") == 0
        book.plan()
        book.draft(5)
        assert modes.completion_pct("DIRECTOR") == 33
        book.draft(3, SceneStatus.POLISHED)
        assert modes.completion_pct("EDITOR") == 20
        assert modes.completion_pct("DIRECTOR") == 33
        assert modes.completion_pct("COMPLETE") == 0


@pytest.mark.req("WF-G09", "WF-G88", "WF-G90", "WF-G13")
async def test_no_claim_moves_the_book(open_studio: Any) -> None:
    book = Book()
    async with open_studio() as studio:
        modes = book.modes(studio)
        await found(studio, rules=0)
        report = await modes.update_status("World Rules", "complete")
        assert report.was_downgraded
        assert report.actual.value == "not_started"
        assert modes.unlocked() == ("ARCHITECT",)
        assert modes.current() == "ARCHITECT"
        await found(studio)
        await modes.advance("VOICE_CALIBRATION", by="writer")
        book.lock_voice()
        opened = await modes.update_status("theme", "in_progress")
        assert opened.reopened
        # Opened again, the template shuts the gate of ARCHITECT.
        assert modes.gate("VOICE_CALIBRATION").unmet == ("theme: the writer is revising it",)
        with pytest.raises(ModeGated):
            await modes.advance("DIRECTOR", by="agent")
        await modes.update_status("theme", "complete")
        await modes.advance("DIRECTOR", by="agent")
        assert modes.current() == "DIRECTOR"


async def test_the_same_mode_twice_is_no_move(open_studio: Any) -> None:
    async with open_studio() as studio:
        modes = Book().modes(studio)
        assert not (await modes.advance("architect", by="agent")).changed
        with pytest.raises(ModeUnknown, match="MARKETING"):
            await modes.advance("MARKETING", by="writer")
        assert modes.history() == ()


async def test_two_doors_at_once_move_the_book_once(open_studio: Any) -> None:
    async with open_studio() as studio:
        book = Book()
        await found(studio)
        doors = [book.modes(studio).advance("VOICE_CALIBRATION", by="writer") for _ in range(2)]
        await asyncio.gather(*doors, return_exceptions=True)
        assert len(book.modes(studio).history()) == 1


@pytest.mark.req("WF-G02", "WF-08")
async def test_a_project_adds_a_mode_without_code(open_studio: Any, root: Path) -> None:
    folder = root / ".callboard/prompts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "modes.yaml").write_text(
        "modes:\n  EDITOR: {gate: [scenes_drafted]}\n  BETA_READING:\n    order: 45\n"
        "    file: modes/editor\n    gate: [marked_complete]\n    completion: scenes_polished\n"
    )
    book = Book()
    book.lock_voice()
    book.plan()
    book.draft(15)
    async with open_studio() as studio:
        await found(studio)
        modes = book.modes(studio)
        assert modes.table.ids == (*ORDER[:4], "BETA_READING", "COMPLETE")
        assert modes.spec("Beta reading").title == "Beta Reading"
        assert modes.spec("EDITOR").on_enter == ("freeze_first_draft",)
        await modes.advance("BETA_READING", by="agent")
        with pytest.raises(ModeGated):
            await modes.advance("COMPLETE", by="agent")
        await modes.mark_complete(by="writer")
        assert modes.is_complete()


@pytest.mark.req("WF-G02")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("gate: [all_is_well]", "modes.X.gate: 'all_is_well' is no predicate"),
        ("completion: vibes", "modes.X.completion: 'vibes' is no measure"),
        ("on_enter: [party]", "modes.X.on_enter: 'party' is no effect"),
        ("order: 20", "modes.X.order: 20 is also the place of VOICE_CALIBRATION"),
        ("order: soon", "modes.X.order: "),
        ("colour: red", "modes.X.colour: "),
    ],
)
async def test_a_name_nobody_knows_stops_the_start_with_file_and_key(
    open_studio: Any, root: Path, text: str, key: str
) -> None:
    folder = root / ".callboard/prompts"
    folder.mkdir(parents=True, exist_ok=True)
    usual = {"order": "90", "file": "modes/editor", "completion": "finished"}
    name = text.split(":")[0]
    usual.pop(name, None)
    lines = [f"    {each}: {value}" for each, value in usual.items()]
    (folder / "modes.yaml").write_text("\n".join(["modes:", "  X:", *lines, f"    {text}"]))
    async with open_studio() as studio:
        with pytest.raises(ModesInvalid) as refused:
            Modes(Workspace(studio))
    assert key in refused.value.message
    assert ".callboard/prompts/modes.yaml" in refused.value.message


@pytest.mark.req("WF-G02")
async def test_a_file_that_is_no_yaml_is_named_with_its_line(open_studio: Any, root: Path) -> None:
    folder = root / ".callboard/prompts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "modes.yaml").write_text("modes:\n  X: [\n")
    async with open_studio() as studio:
        with pytest.raises(ModesInvalid, match=r"modes\.yaml: the file: .*line 3"):
            Modes(Workspace(studio))


moves = st.tuples(
    st.sampled_from(ORDER), st.sampled_from(["writer", "agent"]), st.booleans(), st.booleans()
)


@pytest.mark.req("WF-G07", "WF-G09")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(asked=st.lists(moves, max_size=12), rules=st.integers(0, 3), locked=st.booleans())
def test_no_sequence_of_requests_enters_a_gated_mode_without_an_override(
    tmp_path_factory: pytest.TempPathFactory,
    asked: list[tuple[str, Any, bool, bool]],
    rules: int,
    locked: bool,
) -> None:
    asyncio.run(wander(tmp_path_factory.mktemp("book"), asked, rules, locked))


async def wander(
    root: Path, asked: list[tuple[str, Any, bool, bool]], rules: int, locked: bool
) -> None:
    Project.init(root)
    book = Book()
    if locked:
        book.lock_voice()
    async with open_scripted(root) as studio:
        await found(studio, rules=rules)
        modes = book.modes(studio)
        for to, by, override, plans in asked:
            if plans:
                book.plan()
                book.draft(15)
            before, gate = modes.current(), modes.gate(to)
            held = len(modes.overrides())
            missing = [each for each in gate.unmet if "marked" not in each or by == "agent"]
            try:
                moved = await modes.advance(to, by=by, override=override)
            except (ModeGated, WritersDecision):
                assert modes.current() == before
                assert len(modes.overrides()) == held
                continue
            assert modes.current() == to
            is_forward = ORDER.index(to) > ORDER.index(before)
            if is_forward and missing:
                assert (by, override) == ("writer", True)
                assert moved.override is not None
                assert moved.override.unmet == tuple(missing)
            else:
                assert moved.override is None


@pytest.mark.req("WF-G07")
async def test_an_override_of_a_hundred_things_is_remembered_in_a_few_words(
    open_studio: Any,
) -> None:
    async with open_studio() as studio:
        bible = await found(studio)
        loose = [f"The island has a church with {number} windows" for number in range(150)]
        await bible.write("world_rules", {"rules": loose}, source="writer_stated")
        memory = Memory(Workspace(studio))
        modes = Modes(Workspace(studio), bible, Neighbours(remember=memory.save_decision))
        with pytest.raises(ModeGated) as refused:
            await modes.advance("VOICE_CALIBRATION", by="writer")
        assert len(refused.value.unmet) == 150
        moved = await modes.advance("VOICE_CALIBRATION", by="writer", override=True)
        assert moved.override is not None
        assert len(moved.override.unmet) == 150
        (kept,) = memory.decisions("constraint")
        assert kept.value == modes.override_lines()[0]
        assert "; and 138 more. " in kept.value
        # Nothing is owed that would hold up the next move.
        await modes.advance("ARCHITECT", by="writer")


@pytest.mark.req("WF-G07")
async def test_a_memory_that_fails_is_told_later(open_studio: Any) -> None:
    class Forgetful(Book):
        async def remember(self, *told: str) -> None:
            if not self.effects:
                self.effects.append("failed")
                raise RuntimeError("the memory is away")
            await Book.remember(self, *told)

    book = Forgetful()
    async with open_studio() as studio:
        modes = book.modes(studio)
        await found(studio, rules=2)
        with pytest.raises(ModeGated):
            await modes.advance("VOICE_CALIBRATION", by="writer")
        with pytest.raises(RuntimeError, match="away"):
            await modes.advance("VOICE_CALIBRATION", by="writer", override=True)
        # The move and its record are one; only the note is owed.
        assert modes.current() == "VOICE_CALIBRATION"
        assert len(modes.overrides()) == 1
        await modes.settle()
        await modes.settle()
        assert [told[0] for told in book.remembered] == ["constraint"]
