"""What code finds in the work of single loops, each as the specification words it."""

from pathlib import Path
from typing import Any

import pytest
from questkit import Company, House, Ran, changed, drafts, open_house
from test_qf_chain_of_loops import TITLES, canon, entries, harvest

from callboard.packs.questfoundry.formats.edition import pieces_of
from callboard.packs.questfoundry.foundry import _FOLDER as FOLDER
from callboard.studio.project import Project

pytestmark = pytest.mark.anyio
ART = {"id": "p1", "section_id": "room", "subject": "The great glass"}


def report_of(house: House, ran: Ran, *, first: bool = False) -> dict[str, Any]:
    """Return a gate report of a unit: the newest, or the first."""
    rows = house.foundry.shelf.all("gatecheck_report", ran.unit.id)
    return house.foundry.shelf.body(rows[0 if first else -1].sha256)


def found(report: dict[str, Any], bar: str = "") -> dict[str, str]:
    """Return what was found, and in which colour."""
    rows = [row for row in report["findings"] if bar in ("", row["bar"])]
    return {row["check"]: row["status"] for row in rows}


@pytest.mark.req("QF-94")
async def test_yellow_in_a_loop_is_a_wish_and_in_a_gatecheck_a_story_hook(tmp_path: Path) -> None:
    company = Company()
    notes = company.usual["topology_notes"]
    notes["sections"].append({"id": "attic", "title": "The attic"})
    notes["choices"].append({"id": "attic.down", "from": "attic", "to": "dark"})
    label = {"choice_id": "attic.down", "label": "Climb down again"}
    scrap = {"section_id": "attic", "text_md": "You see dust.", "choices": [label]}
    company.usual["scene_drafts"]["sections"].append(scrap)
    company.usual["section_briefs"]["briefs"].append({"section_id": "attic", "intent": "dust"})
    async with open_house(tmp_path / "book", company) as house:
        spark = await house.success("story_spark")
        report = report_of(house, spark)
        assert report["mode"] == "pre_gate" and report["decision"] == "conditional_pass"
        # Only the bars the loop presses are looked at.
        colours = {row["bar"]: row["status"] for row in report["bars"]}
        assert colours["style"] == colours["determinism"] == colours["accessibility"] == "na"
        assert colours["reachability"] == "yellow"
        wishes = [each for each in spark.events("revision") if each["severity"] == "should"]
        assert wishes and wishes[0]["target_step"] == "step_1_topology_draft"
        before = len(house.foundry.hooks.all())
        gate = await house.success("gatecheck", upstream=[spark.unit.id])
        whole = house.content(gate, "gatecheck_report")
        assert whole["mode"] == "gatecheck" and whole["decision"] == "conditional_pass"
        assert "na" not in {row["status"] for row in whole["bars"] if row["bar"] != "determinism"}
        filed = house.foundry.hooks.all()[before:]
        assert any("reachability is yellow at attic" in each.title for each in filed)
        bound = await house.success("binding_run")
        assert report_of(house, bound)["mode"] == "spot_check"


async def codex_report(house: House, company: Company, rows: dict[str, Any]) -> dict[str, Any]:
    company.usual["codex_entries"] = rows
    ran = await house.run("codex_expansion")
    return report_of(house, ran, first=True)


@pytest.mark.req("QF-113", "QF-114")
async def test_entries_are_cited_linked_plain_and_clear(tmp_path: Path) -> None:
    company = Company()
    company.usual["hooks"] = {"hooks": [{**h} for h in _hooks()]}
    good = entries("It burns. It is old.")
    for row in good["entries"]:
        row["overview"] = "It is old. It stands there."
        row["see_also"] = [each for each in ("lamp", "bolt", "tower", "oil") if each != row["slug"]]
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        harvest(house, company)
        await house.success("hook_harvest")
        canon([each.id for each in house.foundry.hooks.in_state("accepted")], company)
        await house.success("lore_deepening")
        clean = await codex_report(house, company, good)
        assert (clean["decision"], clean["findings"]) == ("pass", [])
        for path, value, check, bar in (
            (("citations",), [], "uncited", "integrity"),
            (("citations",), ["Q0", "Q99"], "uncited", "integrity"),
            (("see_also",), ["lamp", "bolt", "tower", "oil"], "self_link", "integrity"),
            (("see_also",), ["bolt", "tower", "moon"], "red_link", "integrity"),
            (("slug",), "bolt", "twin", "integrity"),
            (("reading_level",), "scholarly", "reading_level", "accessibility"),
        ):
            bad = changed(good, "entries", 0, *path, value=value)
            assert found(await codex_report(house, company, bad), bar)[check] == "red", check
        for path, value, check in (
            (("overview",), "Old.", "overview"),
            (("see_also",), ["bolt"], "see_also"),
        ):
            report = await codex_report(
                house, company, changed(good, "entries", 0, *path, value=value)
            )
            assert found(report, "style")[check] == "yellow"
        # The Lore Weaver's sweep has to be clear, whatever the words are.
        note = {"location": "lamp", "tag": "spoiler", "suggestion": "do not name her"}
        company.usual["spoiler_report"] = {"verdict": "revise", "findings": [note]}
        report = await codex_report(house, company, good)
        assert found(report, "presentation")["spoiler"] == "red"


def _hooks() -> list[dict[str, Any]]:
    from questkit import hook

    return [hook(each) for each in TITLES]


@pytest.mark.req("QF-114")
async def test_a_term_used_often_without_an_entry_is_a_red_link_and_a_story_hook(
    tmp_path: Path,
) -> None:
    company = Company()
    company.usual["hooks"] = {"hooks": _hooks()}
    company.usual["scene_drafts"] = drafts(
        pier="You stand on the pier. You see Marrow, you hear Marrow, you fear Marrow here.",
    )
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        harvest(house, company)
        await house.success("hook_harvest")
        canon([each.id for each in house.foundry.hooks.in_state("accepted")], company)
        await house.success("lore_deepening")
        company.usual["codex_entries"] = entries("It burns.")
        ran = await house.success("codex_expansion")
        links = house.content(ran, "coverage_report")["red_links"]
        assert [each["term"] for each in links] == ["Marrow"]
        filed = [
            each for each in house.foundry.hooks.in_state("proposed") if "Marrow" in each.title
        ]
        assert [each.kind for each in filed] == ["taxonomy"]


@pytest.mark.req("QF-117")
@pytest.mark.parametrize(
    ("answers", "status"),
    [(["n1"], "success"), (["n1: she would never say so"], "success"), (["n12"], "failed")],
)
async def test_a_note_that_must_be_applied_is_applied_or_refused_with_a_reason(
    tmp_path: Path, answers: list[str], status: str
) -> None:
    company = Company()
    company.usual["drift_report"] = {"sampled": ["pier", "cliff", "dark"]}
    note = {"id": "n1", "section_id": "pier", "issue": "too loud", "fix": "softer"}
    company.usual["edit_notes"] = {"notes": [{**note, "severity": "must"}]}
    company.usual["revised_prose"] = changed(
        drafts(), "sections", 0, "notes_applied", value=answers
    )
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        ran = await house.run("style_tune_up")
        assert ran.unit.outcome == status
        if status == "failed":
            assert "n1" in str(ran.run.error)


@pytest.mark.req("QF-117")
async def test_how_a_character_speaks_is_not_harmonised() -> None:
    from callboard.packs.questfoundry.bars.judging import judge
    from callboard.packs.questfoundry.book.model import Book, ProseStyle, Section, SectionKind
    from callboard.packs.questfoundry.verdict import Bar

    end = Section("a", "A", "You hear him say: quite so, quite so.", SectionKind.TERMINAL)
    for idiolects, is_told in (((), True), (("quite so",), False)):
        style = ProseStyle(banned=("quite",), idiolects=idiolects)
        report = judge(Book("T", "a", (end,), style=style), bars=[Bar.STYLE])
        assert any(each.check == "banned_word" for each in report.findings) is is_told


@pytest.mark.req("QF-128")
@pytest.mark.parametrize(
    ("alt", "check"),
    [
        ("A room. A glass. A box on the floor.", "alt_text"),
        ("x" * 201, "alt_text"),
        ("Image of a round room.", "alt_text"),
        ("A diffusion of light, seed and all.", "trade"),
        ("A round room under a great cold glass.", ""),
    ],
)
async def test_a_picture_is_told_in_a_sentence_or_two_without_its_making(
    tmp_path: Path, alt: str, check: str
) -> None:
    company = Company()
    company.usual["art_plans"] = {"plans": [ART]}
    company.usual["visual_descriptions"] = {"items": [{"plan_id": "p1", "alt_text": alt}]}
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        ran = await house.run("art_touch_up")
        report = report_of(house, ran, first=True)
        assert found(report).get(check, "red") == "red"
        assert (report["decision"] == "block") is bool(check)
        # Nothing of the prose or the structure was made here.
        assert not {"scene_drafts", "topology_notes"} & {*ran.unit.made}


@pytest.mark.req("QF-128", "QF-131")
async def test_what_is_promised_to_be_the_same_again_is_on_record(tmp_path: Path) -> None:
    company = Company()
    company.usual["art_plans"] = {"plans": [{**ART, "determinism": "promised"}]}
    words = {"plan_id": "p1", "alt_text": "A round room under a great cold glass."}
    company.usual["visual_descriptions"] = {"items": [words]}
    cue = {"cue_id": "q1", "kind": "foley", "purpose": "mood", "duration_s": 1}
    company.usual["audio_plans"] = {"cues": [cue]}
    caption = {"cue_id": "q1", "caption": "[a bell]", "text_equivalent": "A bell rings."}
    company.usual["captions"] = {"items": [caption]}
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        art = await house.success("art_touch_up", awake=["illustrator"])
        (made,) = house.content(art, "determinism_log")["runs"]
        for each in ("seed", "prompt", "model", "post", "sha256"):
            assert made[each] not in (None, ""), each
        assert made["params"] == {"width": 800, "height": 600, "steps": 0}
        sound = await house.success("audio_pass", awake=["audio_producer"])
        (run,) = house.content(sound, "repro_notes")["runs"]
        assert run["provider"] == "silence" and run["sha256"]
        assert run["params"] == {"version": "1", "sample_rate": 44_100, "loudness_target_lufs": -16}
        silent = await house.success("audio_pass")
        assert silent.unit.deferral_tags == ("deferred:audio",)
        assert house.content(silent, "cuelist")["deferral_tags"] == ["deferred:audio"]


SOUND = {"version": "1", "sample_rate": 44_100, "loudness_target_lufs": -16}


@pytest.mark.req("QF-131")
@pytest.mark.parametrize(
    ("params", "lufs", "told"),
    [
        (SOUND, -14, {}),
        (SOUND, -18, {}),
        (SOUND, -13.9, {"loudness": "red"}),
        (SOUND, -18.1, {"loudness": "red"}),
        ({**SOUND, "loudness_target_lufs": -23}, -21, {}),
        ({**SOUND, "loudness_target_lufs": -23}, -16, {"loudness": "red"}),
        ({"version": "1", "sample_rate": 44_100}, -16, {"unlogged": "red"}),
        ({"sample_rate": 44_100, "loudness_target_lufs": -16}, -16, {"unlogged": "red"}),
    ],
)
async def test_sounds_of_a_loop_of_your_own_are_held_to_their_record_and_loudness(
    tmp_path: Path, params: dict[str, Any], lufs: float, told: dict[str, str]
) -> None:
    root, company = tmp_path / "book", Company()
    # As in the pack, but what the producer hands in is not replaced by silence.
    text = (FOLDER / "loops" / "audio_pass.yaml").read_text("utf-8")
    own = text.replace("id: audio_pass", "id: recording", 1).replace(
        "    after: silent_sounds\n", ""
    )
    folder = Project.init(root, pack="questfoundry").folder / "loops"
    folder.mkdir()
    (folder / "recording.yaml").write_text(own, "utf-8")
    cue = {"cue_id": "q1", "kind": "foley", "purpose": "mood", "duration_s": 1}
    caption = {"cue_id": "q1", "caption": "[a bell]", "text_equivalent": "A bell rings."}
    asset = {"cue_id": "q1", "path": "audio/q1.wav", "sha256": "0" * 64, "loudness_lufs": lufs}
    run = {"plan_id": "q1", "provider": "studio", "sha256": "0" * 64, "params": params}
    company.usual |= {"audio_plans": {"cues": [cue]}, "captions": {"items": [caption]}}
    company.usual |= {"audio_assets": {"assets": [asset]}, "repro_notes": {"runs": [run]}}
    async with open_house(root, company) as house:
        await house.success("story_spark")
        ran = await house.run("recording", awake=["audio_producer"])
        report = report_of(house, ran, first=True)
        assert found(report) == told
        assert (report["decision"] == "block") is bool(told)


@pytest.mark.req("QF-129")
async def test_what_a_scene_does_not_say_is_raised_and_never_made_up(tmp_path: Path) -> None:
    company = Company()
    company.usual["art_plans"] = {"plans": [{**ART, "missing_details": ["what the glass shows"]}]}
    words = {"plan_id": "p1", "alt_text": "A round room under a great cold glass."}
    company.usual["visual_descriptions"] = {"items": [words]}
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        await house.success("art_touch_up")
        (raised,) = [h for h in house.foundry.hooks.all() if "what the glass shows" in h.title]
        assert raised.kind == "scene" and raised.raised_by == "art_director"
        assert raised.status == "proposed"


@pytest.mark.req("QF-132")
async def test_a_translation_whose_source_or_glossary_moved_is_done_again(tmp_path: Path) -> None:
    company = Company()
    company.usual["coverage_plan"] = {"locale": "de"}
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        await house.success("gatecheck")
        book = house.foundry.cold_book(house.foundry.snapshot_named(None))
        rows = {row["id"]: row for row in pieces_of(book)}
        box, cliff, pier = (rows[f"section:{name}"] for name in ("box", "cliff", "pier"))
        targets = {
            box["id"]: "Du hebst den Deckel. Eine Laterne liegt da.",
            cliff["id"]: "Ein Boot ohne Licht.",
            pier["id"]: "Du stehst auf dem Steg. Der Turm ist dunkel.",
        }
        said = [{**rows[name], "target": target} for name, target in targets.items()]
        company.usual["localized_surfaces"] = {"segments": said}
        term = {"source": "lantern", "target": "Laterne"}
        company.usual["glossary"] = {"terms": [term]}
        first = await house.success("translation_pass")
        await house.success("gatecheck", upstream=[first.unit.id])
        # The text of the cliff moves, and the lantern is called otherwise from now on.
        company.usual["scene_drafts"] = drafts(cliff="You look down. The boat is gone. You turn.")
        spark = await house.success("story_spark")
        await house.success("gatecheck", upstream=[spark.unit.id])
        company.usual["localized_surfaces"] = {"segments": []}
        company.usual["glossary"] = {"terms": [{**term, "target": "Lampe"}]}
        again = await house.run("translation_pass")
        (stored, *_) = house.foundry.shelf.all("localized_surfaces", again.unit.id)
        held = house.foundry.shelf.body(stored.sha256)["segments"]
        states = {row["id"]: row["status"] for row in held}
        assert states[cliff["id"]] == "outdated" and states[box["id"]] == "outdated"
        assert states[pier["id"]] == "done"
        moved = {row["id"]: row["source"] for row in held}
        assert moved[cliff["id"]] == "You look down. The boat is gone. You turn."


@pytest.mark.req("QF-135")
async def test_a_retro_cites_hears_everybody_reviews_and_blames_nobody(tmp_path: Path) -> None:
    company = Company()
    company.usual["retro_frame"] = {"scope": "the first spark", "questions": ["What helped?"]}
    roles = ("gatekeeper", "plotwright", "scene_smith", "lore_weaver", "style_lead")
    voices = [{"role": role, "well": ["briefs"]} for role in roles]
    fine = {"told": "Gates passed at once", "cites": "gates_by_loop"}
    item = {"id": "A1", "description": "Name the tide", "owner_role": "plotwright"}
    action = {**item, "target": "next spark", "success": "it is named", "priority": "high"}
    company.usual["role_feedback"] = {"voices": voices}
    company.usual["retro_findings"] = {"well": [fine] * 3, "poorly": [fine] * 3}
    company.usual["action_items"] = {"items": [action]}
    async with open_house(tmp_path / "book", company) as house:
        from callboard.packs.questfoundry.operations import begin_book, operations_on

        await operations_on(house.studio).perform(begin_book, "The Lamp", author="Ada Quill")
        spark = await house.success("story_spark")

        async def checks(**other: Any) -> dict[str, str]:
            kept = {kind: company.usual[kind] for kind in other}
            company.usual |= other
            ran = await house.run("post_mortem", upstream=[spark.unit.id])
            company.usual |= kept
            return found(report_of(house, ran, first=True))

        assert await checks() == {}
        assert await checks(role_feedback={"voices": voices[1:]}) == {"unheard": "red"}
        vague = {**fine, "cites": "a feeling"}
        vaguely = {"well": [fine, fine, vague], "poorly": [fine] * 3}
        assert await checks(retro_findings=vaguely) == {"uncited": "red"}
        blame = {**fine, "told": "Ada Quill was slow"}
        blaming = {"well": [fine] * 3, "poorly": [fine, fine, blame]}
        assert await checks(retro_findings=blaming) == {"blame": "red"}
        assert await checks(retro_findings={"well": [fine], "poorly": [fine] * 3}) == {
            "findings": "red"
        }
        # What was left open has to be looked at again.
        assert await checks(action_items={"items": []}) == {"unreviewed": "red"}
        six = [{**action, "id": f"A{n}"} for n in range(1, 7)]
        assert await checks(action_items={"items": six}) == {"actions": "red"}
