"""What all eight story tools promise: true quotes, the same answer twice, errors with codes."""

import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from storytelling import (
    NAMES,
    call,
    calls_for,
    check_promises,
    context_of,
    copy_fortress,
    tool_named,
)

from callboard.core.canonical import digest
from callboard.core.clock import SystemClock
from callboard.core.errors import CallboardError
from callboard.core.ids import IdMaker
from callboard.core.vocabulary import ReceiptOutcome
from callboard.library.story.index import story_index
from callboard.library.story.model import Severity
from callboard.library.story.thresholds import Thresholds, bundled_thresholds, read_thresholds
from callboard.library.story.tools.report import make_finding
from callboard.store.database import Durability
from callboard.store.sqlite.database import SqliteDatabase
from callboard.tools import (
    FileMissing,
    PathOutsideProject,
    Policy,
    ToolCall,
    ToolRegistry,
    ToolService,
)
from callboard.tools.audit import Trail


@pytest.fixture
def fortress(tmp_path: Path) -> Path:
    return copy_fortress(tmp_path / "project")


@pytest.fixture
def service(fortress: Path) -> Iterator[ToolService]:
    (fortress / ".callboard").mkdir()
    database = SqliteDatabase.open(
        fortress / ".callboard/callboard.db", durability=Durability.NORMAL
    )
    clock = SystemClock()
    registry = ToolRegistry(map(tool_named, NAMES))
    yield ToolService(
        database,
        fortress,
        registry,
        trail=Trail(fortress / ".callboard/audit", fortress.parent / "key"),
        kept=fortress / ".callboard",
        ids=IdMaker(clock),
        clock=clock,
    )
    database.close()


def paths_of(root: Path) -> tuple[list[str], list[str]]:
    index = story_index(context_of(root))
    return [file.path for file in index.scenes], [file.path for file in index.canon]


@pytest.mark.req("CR-43")
def test_the_eight_tools_are_on_the_shelf() -> None:
    assert sorted(NAMES) == [
        "canon_checker",
        "consistency_checker",
        "file_locator",
        "outline_analyzer",
        "prose_analyzer",
        "reader_experience_simulator",
        "scene_draft_validator",
        "stakes_mapper",
    ]


@pytest.mark.req("CR-45", "CR-46")
@pytest.mark.parametrize("which", ["project", "clean"])
def test_every_quote_stands_at_its_lines_and_a_second_run_says_the_same(
    tmp_path: Path, which: str
) -> None:
    root = copy_fortress(tmp_path / "project", which)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    looked_at = 0
    for name, args in calls_for(*paths_of(root)):
        result = call(name, context_of(root), **args)
        looked_at += check_promises(root, result)
        again = call(name, context_of(root), **args)
        assert digest(again.payload) == digest(result.payload), name
        assert again.summary == result.summary
    assert looked_at > 100
    assert before == {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.req("CR-46")
def test_every_contradiction_has_two_quotes_from_different_places(fortress: Path) -> None:
    context = context_of(fortress)
    scenes, cards = paths_of(fortress)
    payloads = [
        call("canon_checker", context, scene_path=scenes[2], canon_paths=cards).payload,
        call("consistency_checker", context, file_paths=[*scenes, *cards]).payload,
    ]
    found = [
        each for payload in payloads for each in payload.get("findings", payload.get("conflicts"))
    ]
    conflicts = [each for each in found if each["severity"] == "major"]
    assert len(conflicts) > 2
    for each in conflicts:
        places = {(quote["path"], quote["line_start"]) for quote in each["quotes"]}
        assert len(places) >= 2, each


NAMES_USED = st.sampled_from(["Kael", "Mira", "the Fortress", "Orla Venn", "brass key"])
SENTENCES = st.builds(
    str.format,
    st.sampled_from(
        [
            "{0} had grey eyes.", "{0} had green eyes.", "“If {0} falls, we will die,” said {0}.",
            "{0} died before dawn.", "Three days later {0} came back.", "Where was {0}?",
            "{0} ran and ran and ran through the cold, cold snow.", "He was thirty-four years old.",
            "TODO: more about {0}.", "It was Monday, 3 March 1204.", "“No!” {0} cried.", "{0}…",
            "Suddenly, quietly, {0} felt that she was watched.", "*{0}* fell.", "— {0} spoke.",
        ]
    ),
    NAMES_USED,
)  # fmt: skip
PARAGRAPHS = st.lists(SENTENCES, max_size=6).map(" ".join)
BODIES = st.lists(PARAGRAPHS, max_size=5).flatmap(
    lambda parts: st.sampled_from(["\n\n", "\r\n\r\n", "\n", "\r\r"]).map(
        lambda gap: gap.join(parts)
    )
)
FRONTS = st.sampled_from(
    [
        "",
        "---\npov: Kael\nscene: 3\nwhen: 1204-03-01\n---\n",
        "---\ntitle: [x\n---\n",
        "\ufeff# X\n",
    ]
)
PATHS = st.sampled_from(
    [
        "Story/SCN-outline.md", "Story/Scenes/SCN-01-a.md", "Story/Scenes/SCN-02-b.md",
        "Story/Scenes/c.md", "Compendium/Characters/CHAR-Kael.md", "Compendium/LOC-Fortress.md",
        "Notes/x.md",
    ]
)  # fmt: skip
OUTLINES = st.sampled_from(
    [
        "",
        "# B\n\n## Act\n\n### Scene 1: A\n\n- Kael runs\n\n### Scene 1: B\nPOV: Kael\n",
        "1. One\n2. Two\n",
    ]
)
PROJECTS = st.dictionaries(PATHS, st.tuples(FRONTS, BODIES, OUTLINES), max_size=5)


@pytest.mark.req("CR-45", "CR-46")
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(PROJECTS)
def test_the_promises_hold_on_any_small_project(project: dict[str, tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, (front, body, outline) in project.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            text = outline if "outline" in path else front + body
            target.write_bytes(text.encode())
        context = context_of(root)
        for name, args in calls_for(*paths_of(root)):
            try:
                result = call(name, context, **args)
            except CallboardError as error:
                assert (name, error.code) == ("outline_analyzer", "no_outline")
                continue
            check_promises(root, result)
            assert digest(call(name, context_of(root), **args).payload) == digest(result.payload)


@pytest.mark.req("CR-42")
def test_other_languages_get_structure_and_no_lexicon_findings(tmp_path: Path) -> None:
    told = (
        "Der alte Müller ging langsam durch den Wald, und der Schnee fiel leise auf das Dach. „Wenn"
        " die Mauer fällt“, sagte Greta, „sterben wir alle.“ Niemand antwortete ihm. Dann schlief"
        " er ein, und die Nacht war lang und kalt und ohne Mond. "
    )
    for number in (1, 2, 3):
        path = tmp_path / f"Story/Scenes/SCN-0{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Szene {number}\n\n" + "\n\n".join([told] * 8))
    context = context_of(tmp_path)
    first = "Story/Scenes/SCN-01.md"
    for name, args in (
        ("prose_analyzer", {"scene_path": first}),
        ("stakes_mapper", {}),
        ("reader_experience_simulator", {}),
        ("consistency_checker", {"file_paths": [first]}),
        ("canon_checker", {"scene_path": first}),
        ("scene_draft_validator", {"scene_path": first}),
        ("file_locator", {"search_criteria": "Greta", "scan_mode": "DEEP_SCAN"}),
    ):
        result = call(name, context, **args)
        assert result.payload["language_supported"] is False, name
        check_promises(tmp_path, result)
    assert call("file_locator", context, search_criteria="Szene 2").payload["matches"]


@pytest.mark.anyio
@pytest.mark.req("CR-44", "CR-47", "CR-48")
@pytest.mark.parametrize("name", NAMES)
async def test_unknown_keys_are_named_and_leave_a_receipt(service: ToolService, name: str) -> None:
    ran = await service.run(ToolCall(name, {"no_such_key": 1}, "sess_one"), Policy())
    assert ran.receipt.outcome is ReceiptOutcome.REFUSED
    assert ran.execution.error is not None
    assert ran.execution.error.code == "invalid_args"
    assert "no_such_key" in ran.execution.error.message


@pytest.mark.anyio
@pytest.mark.req("CR-45", "CR-47")
@pytest.mark.parametrize("name", NAMES)
async def test_a_dry_run_lists_what_would_be_read(
    service: ToolService, fortress: Path, name: str
) -> None:
    scenes, cards = paths_of(fortress)
    args = next(args for each, args in calls_for(scenes, cards) if each == name)
    planned = await service.run(ToolCall(name, {**args, "dry_run": True}, "sess_one"), Policy())
    reads = planned.execution.unwrap().payload["reads"]
    assert reads
    real = await service.run(ToolCall(name, args, "sess_one"), Policy())
    result = real.execution.unwrap()
    assert real.receipt.session_id == "sess_one"
    assert {ref.path for ref in result.file_refs} <= set(reads)


PATH_ARGS = [
    ("canon_checker", {"scene_path": "Story/Scenes/SCN-01-the-gate.md", "canon_paths": ["@"]}),
    ("consistency_checker", {"file_paths": ["@"]}),
    ("prose_analyzer", {"scene_path": "@"}),
    ("stakes_mapper", {"scene_paths": ["@"]}),
    ("reader_experience_simulator", {"scene_paths": ["@"]}),
    ("scene_draft_validator", {"scene_path": "@"}),
    ("outline_analyzer", {"outline_path": "@"}),
]


def filled(args: dict[str, Any], path: str) -> dict[str, Any]:
    return {
        key: [path] if value == ["@"] else path if value == "@" else value
        for key, value in args.items()
    }


@pytest.mark.req("CR-36", "CR-48")
@pytest.mark.parametrize(("name", "args"), PATH_ARGS)
def test_bad_paths_have_their_own_codes(fortress: Path, name: str, args: dict[str, Any]) -> None:
    context = context_of(fortress)
    with pytest.raises(PathOutsideProject):
        call(name, context, **filled(args, "../elsewhere.md"))
    with pytest.raises(FileMissing) as missing:
        call(name, context, **filled(args, "Story/Scenes/SCN-03-ash.md"))
    assert "Story/Scenes/SCN-03-ashes.md" in missing.value.context["near"]
    assert len(missing.value.context["near"]) <= 3


def test_a_files_bad_days_do_not_stop_the_others(fortress: Path) -> None:
    (fortress / "Story/Scenes/SCN-05-huge.md").write_text("A long line. " * 500_000)
    (fortress / "Story/Scenes/SCN-06-image.md").write_bytes(b"\x89PNG\x00\x01")
    (fortress / "Story/Scenes/SCN-07-empty.md").write_bytes(b"")
    outside = fortress.parent / "outside.md"
    outside.write_text("Secret.")
    (fortress / "Story/Scenes/SCN-08-link.md").symlink_to(outside)
    for name, args in calls_for(*paths_of(fortress)):
        result = call(name, context_of(fortress), **args)
        check_promises(fortress, result)
        warnings = " ".join(result.payload["warnings"])
        for each in ("huge.md", "image.md", "link.md"):
            assert each in warnings
        assert "Secret" not in digest(result.payload) + result.summary


@pytest.mark.parametrize("name", ["stakes_mapper", "reader_experience_simulator"])
def test_an_empty_project_is_no_error_and_not_checked(tmp_path: Path, name: str) -> None:
    result = call(name, context_of(tmp_path))
    check_promises(tmp_path, result)
    assert result.preview.startswith("Not checked")
    assert result.payload.get("flow_assessment", "Not checked") == "Not checked"


def test_many_scenes_the_outline_forgot_are_one_finding(tmp_path: Path) -> None:
    (tmp_path / "outline.md").write_text("# Outline\n\n### Scene 1: The Gate\n- They meet\n")
    (tmp_path / "scenes").mkdir()
    for number in range(1, 12):
        (tmp_path / f"scenes/SCN-{number:02d}.md").write_text(f"# Scene {number}\n\nIt rained.\n")
    findings = call("outline_analyzer", context_of(tmp_path)).payload["findings"]
    (told,) = [each for each in findings if each["type"] == "file_without_entry"]
    assert told["message"].startswith("10 scenes are not in the outline")
    assert len(told["quotes"]) == 10


def test_every_section_of_the_thresholds_is_complete() -> None:
    told = yaml.safe_load(files("callboard.library.story").joinpath("settings.yaml").read_text())
    assert list(told) == list(Thresholds.model_fields)
    assert bundled_thresholds().model_dump() == told


@pytest.mark.parametrize("value", ["-1", "true", "0.5", "many", "[2]", "null"])
def test_a_threshold_that_does_not_fit_is_left_out(tmp_path: Path, value: str) -> None:
    (tmp_path / ".callboard").mkdir()
    (tmp_path / ".callboard/story.yaml").write_text(
        f"summary:\n  max_chars: {value}\n  max_quote_chars: 7\n"
    )
    read = read_thresholds(context_of(tmp_path))
    assert read.values.summary.max_chars == bundled_thresholds().summary.max_chars
    assert read.values.summary.max_quote_chars == 7
    assert ["summary.max_chars" in each for each in read.warnings] == [True]


def test_a_project_overrides_a_threshold_and_mistakes_are_told(fortress: Path) -> None:
    (fortress / ".callboard").mkdir()
    scene = "Story/Scenes/SCN-02-the-breach.md"
    before = call("prose_analyzer", context_of(fortress), scene_path=scene)
    assert any(each["type"] == "long_sentence" for each in before.payload["findings"])
    settings_file = fortress / ".callboard/story.yaml"
    settings_file.write_text(
        "prose:\n  long_sentence_words: 90\n  no_such: 1\nnowhere: {}\nnames: 3\n"
    )
    context = context_of(fortress)
    after = call("prose_analyzer", context, scene_path=scene)
    assert not any(each["type"] == "long_sentence" for each in after.payload["findings"])
    told = " ".join(after.payload["warnings"])
    assert "prose.no_such" in told
    assert "nowhere" in told
    assert "names" in told
    settings_file.write_text("prose: [not, a, mapping")
    broken = call("prose_analyzer", context, scene_path=scene)
    assert broken.payload["findings"] == before.payload["findings"]
    assert ".callboard/story.yaml" in " ".join(broken.payload["warnings"])


def test_a_finding_needs_a_quote() -> None:
    with pytest.raises(ValueError, match="rests on no quote"):
        make_finding("t", "k", Severity.INFO, "m", [])


def test_tools_know_their_arguments() -> None:
    for name in NAMES:
        tool = tool_named(name)
        assert tool.description
        assert tool.schema()["additionalProperties"] is False
