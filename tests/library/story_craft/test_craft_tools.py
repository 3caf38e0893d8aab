"""prose_analyzer, stakes_mapper and reader_experience_simulator over folders of Markdown."""

from typing import Any

import pytest
from craft_project import TOOLS, CraftProject
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callboard.core.canonical import digest
from callboard.library.story.text.document import Document
from callboard.tools import FileMissing, InvalidArgs, PathOutsideProject

pytestmark = pytest.mark.anyio

SCENES = "Story/Scenes"
GERMAN = (
    "Der Mann ging langsam durch das Tor und sah den Schnee. Er dachte an seine Mutter. "
    "Sie hatte ihm einen Schlüssel gegeben. Der Schlüssel war kalt. Er nahm den Schlüssel. "
    "Wenn die Mauer fällt, werden wir alle sterben. Warum hatte niemand das Tor bewacht? "
)


def quotes_in(value: Any) -> list[dict[str, Any]]:
    """Collect every quote of a payload, however deep."""
    if isinstance(value, dict):
        if {"path", "line_start", "line_end", "text"} <= value.keys():
            return [value]
        return [quote for each in value.values() for quote in quotes_in(each)]
    if isinstance(value, list):
        return [quote for each in value for quote in quotes_in(each)]
    return []


def assert_verbatim(project: CraftProject, payload: dict[str, Any]) -> int:
    """Assert that every quote stands at its lines in the file; return how many there are."""
    quotes = quotes_in(payload)
    for quote in quotes:
        lines = (project.root / quote["path"]).read_text(encoding="utf-8").split("\n")
        assert quote["text"].strip()
        assert quote["text"] in "\n".join(lines[quote["line_start"] - 1 : quote["line_end"]])
    return len(quotes)


@pytest.mark.req("CR-69", "CR-71")
async def test_the_sentence_of_60_words_is_quoted(fortress: CraftProject) -> None:
    result = await fortress.run("prose_analyzer", scene_path=f"{SCENES}/SCN-02-the-breach.md")
    (found,) = [each for each in result.payload["findings"] if each["type"] == "long_sentence"]
    (quote,) = found["quotes"]
    assert quote["text"].startswith("He ran, and while he ran he heard the horns")
    assert len(quote["text"].split()) == 60
    assert result.payload["metrics"]["sentence_words"]["longest"]["quote"] == quote
    assert quote["text"] in result.payload["content"]
    assert quote["text"][:60] in result.summary


@pytest.mark.req("CR-76")
async def test_the_brass_key_is_never_heard_of_again(
    fortress: CraftProject,
) -> None:
    found = await fortress.findings("reader_experience_simulator")
    assert [each["type"] for each in found] == ["setup_without_payoff"]
    assert "brass key" in found[0]["message"]
    assert all(quote["path"].endswith("SCN-01-the-gate.md") for quote in found[0]["quotes"])


@pytest.mark.req("CR-76")
async def test_the_clean_fortress_reads_smoothly(clean_fortress: CraftProject) -> None:
    result = await clean_fortress.run("reader_experience_simulator")
    assert result.payload["findings"] == []
    assert result.payload["flow_assessment"] == "Smooth"
    path = f"{SCENES}/SCN-02-the-breach.md"
    assert await clean_fortress.findings("prose_analyzer", scene_path=path, focus="rhythm") == []


@pytest.mark.req("CR-72", "CR-73")
async def test_the_stakes_are_a_curve_with_quotes(fortress: CraftProject) -> None:
    result = await fortress.run("stakes_mapper")
    scenes = result.payload["scenes"]
    assert [scene["title"] for scene in scenes] == [
        "The Gate",
        "The Breach",
        "Ashes",
        "The Long Night",
    ]
    assert result.payload["curve"] == [scene["score"] for scene in scenes]
    assert all(scene["quotes"] for scene in scenes)
    assert [scene["escalation"] for scene in scenes] == [None, "Higher", "Lower", "Higher"]
    top = max(scenes, key=lambda scene: scene["raw"])
    for scene in scenes:
        raw = 2 * scene["external"] + 1.5 * scene["internal"] + 3 * scene["pressure"]
        assert scene["raw"] == pytest.approx(1000 * raw / scene["word_count"], abs=0.001)
        assert scene["score"] == pytest.approx(100 * scene["raw"] / max(top["raw"], 10), abs=0.1)


@pytest.mark.req("CR-72")
async def test_the_outline_has_a_curve_too(fortress: CraftProject) -> None:
    result = await fortress.run("stakes_mapper", outline_path="Story/SCN-outline.md")
    scenes = result.payload["scenes"]
    assert len(scenes) == 8
    assert scenes[0]["declared_stakes"] == "If the gate falls, the valley starves."
    assert {scene["path"] for scene in scenes} == {"Story/SCN-outline.md"}
    assert_verbatim(fortress, result.payload)


@pytest.mark.req("CR-74")
async def test_themes_are_followed_with_their_synonyms(fortress: CraftProject) -> None:
    result = await fortress.run(
        "stakes_mapper", themes=["key", {"name": "cold", "synonyms": ["snow", "ice"]}, "dragon"]
    )
    status = {thread["theme"]: thread["status"] for thread in result.payload["threads"]}
    assert status == {"key": "planted_unpaid", "cold": "planted_and_paid", "dragon": "absent"}
    assert "planted_unpaid" in [each["type"] for each in result.payload["findings"]]


@pytest.mark.req("CR-46")
@pytest.mark.parametrize("tool_id", ["stakes_mapper", "reader_experience_simulator"])
async def test_every_quote_is_verbatim(fortress: CraftProject, tool_id: str) -> None:
    result = await fortress.run(tool_id, themes=["wall"])
    assert assert_verbatim(fortress, result.payload) > 3
    assert all(finding["quotes"] for finding in result.payload["findings"])


@pytest.mark.req("CR-45")
@pytest.mark.parametrize(
    ("tool_id", "args"),
    [
        ("prose_analyzer", {"scene_path": f"{SCENES}/SCN-03-ashes.md"}),
        ("stakes_mapper", {"themes": ["wall"]}),
        ("reader_experience_simulator", {}),
    ],
)
async def test_the_same_folder_gives_the_same_payload(
    fortress: CraftProject, tool_id: str, args: dict[str, Any]
) -> None:
    first = await fortress.run(tool_id, **args)
    again = await fortress.run(tool_id, **args)
    fresh = await CraftProject(fortress.root).run(tool_id, **args)
    assert digest(first.payload) == digest(again.payload) == digest(fresh.payload)
    assert first.file_refs
    assert first.preview


@pytest.mark.req("CR-45")
async def test_an_edited_scene_is_read_again(project: CraftProject) -> None:
    project.scenes("All was well.", "All was well.")
    path = f"{SCENES}/SCN-01-part.md"
    before = (await project.run("stakes_mapper")).payload["scenes"][0]["external"]
    project.write({path: "# Scene 1\n\nThe murderer killed the captain.\n"})
    after = (await project.run("stakes_mapper")).payload["scenes"][0]["external"]
    assert (before, after) == (0, 2)


@pytest.mark.req("CR-42")
@pytest.mark.parametrize("tool_id", ["stakes_mapper", "reader_experience_simulator"])
async def test_another_language_is_counted_and_not_judged(
    project: CraftProject, tool_id: str
) -> None:
    project.scenes(*[GERMAN * 3] * 5)
    payload = (await project.run(tool_id)).payload
    assert payload["language_supported"] is False
    assert payload["findings"] == []


@pytest.mark.req("CR-42")
async def test_prose_in_another_language_has_structure_only(project: CraftProject) -> None:
    project.scenes(GERMAN * 5)
    payload = (await project.run("prose_analyzer", scene_path=f"{SCENES}/SCN-01-part.md")).payload
    assert payload["language_supported"] is False
    assert payload["findings"] == []
    assert payload["metrics"]["sentences"] == 35
    assert "tense" not in payload["metrics"]


@pytest.mark.req("CR-71")
async def test_a_project_sets_its_own_thresholds(fortress: CraftProject) -> None:
    path = f"{SCENES}/SCN-02-the-breach.md"
    fortress.write({".callboard/story.yaml": "prose:\n  long_sentence_words: 60\n"})
    found = await fortress.findings("prose_analyzer", scene_path=path)
    assert "long_sentence" not in [each["type"] for each in found]
    fortress.write({".callboard/story.yaml": "reader:\n  setup_mentions: 5\n"})
    assert await fortress.findings("reader_experience_simulator") == []


@pytest.mark.req("CR-69")
@pytest.mark.parametrize(
    ("focus", "types"),
    [
        ("all", {"long_sentence", "repeated_word"}),
        ("rhythm", {"long_sentence"}),
        ("voice", {"repeated_word"}),
        ("pacing", set()),
    ],
)
async def test_the_focus_chooses_the_findings(
    project: CraftProject, focus: str, types: set[str]
) -> None:
    long = "The river ran " + "under the old bridge and " * 12 + "away."
    project.scenes(f"{long} A lantern swung. He took the lantern. The lantern went out.")
    found = await project.findings(
        "prose_analyzer", scene_path=f"{SCENES}/SCN-01-part.md", focus=focus
    )
    assert {each["type"] for each in found} == types


@pytest.mark.req("CR-47")
@pytest.mark.parametrize(
    ("tool_id", "args"),
    [
        ("prose_analyzer", {"scene_path": "a.md", "fokus": "all"}),
        ("prose_analyzer", {"scene_path": "a.md", "focus": "plot"}),
        ("prose_analyzer", {}),
        ("stakes_mapper", {"scenes": []}),
        ("stakes_mapper", {"scene_paths": ["a.md"], "outline_path": "b.md"}),
        ("reader_experience_simulator", {"themes": [{"nam": "x"}]}),
    ],
)
async def test_arguments_are_checked(
    project: CraftProject, tool_id: str, args: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgs):
        await project.run(tool_id, **args)


@pytest.mark.req("CR-47")
@pytest.mark.parametrize(
    ("tool_id", "args", "reads"),
    [
        ("prose_analyzer", {"scene_path": f"{SCENES}/SCN-03-ashes.md"}, 1),
        ("stakes_mapper", {}, 4),
        ("stakes_mapper", {"outline_path": "Story/SCN-outline.md"}, 1),
        ("reader_experience_simulator", {"scene_paths": [f"{SCENES}/SCN-01-the-gate.md"]}, 1),
    ],
)
async def test_a_dry_run_lists_what_would_be_read(
    fortress: CraftProject, tool_id: str, args: dict[str, Any], reads: int
) -> None:
    tool = TOOLS[tool_id]
    assert tool.dry_run is not None
    planned = await tool.dry_run(fortress.context, tool.parse(args))
    result = await fortress.run(tool_id, **args)
    assert len(planned.reads) == reads
    assert planned.reads == tuple(ref.path for ref in result.file_refs)
    assert planned.writes == ()


@pytest.mark.req("CR-48")
async def test_missing_files_and_paths_out_of_the_project(fortress: CraftProject) -> None:
    with pytest.raises(FileMissing):
        await fortress.run("prose_analyzer", scene_path=f"{SCENES}/SCN-02-the-breech.md")
    with pytest.raises(FileMissing):
        await fortress.run("stakes_mapper", scene_paths=["Story/none.md"])
    with pytest.raises(PathOutsideProject):
        await fortress.run("reader_experience_simulator", scene_paths=["../secret.md"])


@pytest.mark.req("CR-48")
@pytest.mark.parametrize("tool_id", ["stakes_mapper", "reader_experience_simulator"])
async def test_a_folder_without_scenes_is_no_error(project: CraftProject, tool_id: str) -> None:
    result = await project.run(tool_id)
    assert result.payload["findings"] == []


@pytest.mark.req("CR-75")
async def test_the_reader_keeps_what_was_read(project: CraftProject) -> None:
    project.write({"Compendium/Characters/CHAR-Ada.md": "# Ada\n\nRole: the miller\n"})
    project.scenes(
        "Ada came to the mill. Who had burned the northern bridge?",
        "It rained. Ada slept.",
        "The bridge was burned by the flood.",
    )
    payload = (await project.run("reader_experience_simulator")).payload
    states = payload["states"]
    assert [state["new_names"] for state in states] == [["Ada"], [], []]
    assert [state["questions_open"] for state in states] == [1, 1, 0]
    assert [state["known_names"] for state in states] == [1, 1, 1]
    (ada,) = payload["known_entities"]
    assert (ada["first_scene"], ada["last_scene"], ada["times"]) == (0, 1, 2)


async def reader_types(project: CraftProject) -> list[str]:
    return [each["type"] for each in await project.findings("reader_experience_simulator")]


def cards(*names: str) -> dict[str, str]:
    return {f"Compendium/Characters/CHAR-{name}.md": f"# {name}\n" for name in names}


@pytest.mark.req("CR-76")
async def test_more_than_five_new_names_in_one_scene(project: CraftProject) -> None:
    crowd = ["Ada", "Bram", "Cora", "Dirk", "Edda", "Falk"]
    project.write(cards(*crowd))
    meeting = " ".join(f"{name} came in. {name} sat down." for name in crowd)
    project.scenes("It rained on the mill.", meeting, "The rain stopped.")
    assert await reader_types(project) == ["many_new_names"]
    project.scenes(meeting, "It rained on the mill.", "The rain stopped.")
    assert await reader_types(project) == []


@pytest.mark.req("CR-76")
@pytest.mark.parametrize(
    ("entrance", "types"),
    [
        ("Bram stood in the yard. Bram waited. It rained.", ["return_without_reminder"]),
        ("Bram, the ferryman's brother, stood in the yard. Bram waited.", []),
        ("The ferryman stood in the yard. Bram waited. Bram knocked.", []),
    ],
)
async def test_somebody_back_after_long(
    project: CraftProject, entrance: str, types: list[str]
) -> None:
    project.write({"Compendium/Characters/CHAR-Bram.md": "# Bram\n\nRole: ferryman\n"})
    gap = ["It rained on the mill."] * 5
    project.scenes("Bram rowed. Bram sang. Bram slept.", *gap, entrance, "It rained.")
    assert await reader_types(project) == types


@pytest.mark.req("CR-76")
async def test_a_card_for_a_thing_named_once(project: CraftProject) -> None:
    project.write({"Compendium/Items/ITEM-moonblade.md": "# Moonblade\n"})
    project.scenes("He drew the Moonblade.", "It rained.", "It rained.", "It stopped.")
    assert await reader_types(project) == ["setup_without_payoff"]
    project.scenes("He drew the Moonblade.", "It rained.", "It rained.", "The Moonblade broke.")
    assert await reader_types(project) == []


@pytest.mark.req("CR-76")
async def test_somebody_out_of_nowhere_at_the_end(project: CraftProject) -> None:
    project.write(cards("Falk"))
    quiet = ["It rained on the mill."] * 3
    project.scenes(*quiet, "Falk came. Falk saw it. Falk fixed the wheel.")
    assert await reader_types(project) == ["payoff_without_setup"]
    project.scenes("Falk was away.", *quiet[1:], "Falk came. Falk saw it. Falk fixed the wheel.")
    assert await reader_types(project) == []


@pytest.mark.req("CR-76")
@pytest.mark.parametrize(
    ("opening", "types"),
    [
        ("The wheels turned and turned.", ["disorienting_transition"]),
        ("In the harbour the wheels turned.", []),
        ("The next morning the wheels turned.", []),
        ("Ada watched the wheels.", []),
    ],
)
async def test_a_change_the_first_words_do_not_name(
    project: CraftProject, opening: str, types: list[str]
) -> None:
    project.write(cards("Ada"))
    front = {
        1: "pov: Ada\nlocation: The mill\nwhen: Monday",
        2: "pov: Ada\nlocation: The harbour\nwhen: Tuesday",
    }
    project.scenes("Ada sat by the mill on Monday.", opening, front=front)
    assert await reader_types(project) == types


PIECES = (
    'he|she|Kael|Mira|saw|the|key|lantern|unless|if|will|die|quickly|was|opened|thought|TODO|“|”|"'
    "|—|. |? |! |\n\n|; |*so*|> |’s|e.g.|über|# x\n"
)
WORDS = st.sampled_from(PIECES.split("|"))


@pytest.mark.req("CR-45", "CR-46")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(st.lists(WORDS, max_size=80).map(" ".join), min_size=1, max_size=4))
async def test_whatever_is_written_quotes_are_verbatim(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    project = CraftProject(tmp_path_factory.mktemp("story"))
    project.scenes(*texts)
    payloads = [
        (await project.run("stakes_mapper", themes=["key"])).payload,
        (await project.run("reader_experience_simulator")).payload,
        (await project.run("prose_analyzer", scene_path=f"{SCENES}/SCN-01-part.md")).payload,
    ]
    for payload in payloads:
        assert_verbatim(project, payload)
        assert all(finding["quotes"] for finding in payload["findings"])
    fresh = CraftProject(project.root)
    assert digest((await fresh.run("reader_experience_simulator")).payload) == digest(payloads[1])


def test_narration_of_a_tale_told_aloud_is_narration() -> None:
    from callboard.library.story.tools.prose.voice import narration_of

    text = "\n\n".join(f"“I walked on, day {day}. ‘Stop!’ he said." for day in range(6))
    narration = narration_of(Document("scene.md", text))
    assert narration.word_count > 30
    assert "stop" not in {word for told in narration.told for word in told.words}
