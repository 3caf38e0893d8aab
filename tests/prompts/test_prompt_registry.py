import json
import os
from pathlib import Path

import pytest

from callboard.core.vocabulary import ModelTier
from callboard.prompts import (
    TemplateInvalid,
    TemplateLayer,
    TemplateNotFound,
    TemplateRegistry,
    TemplateVariant,
    Tier,
    bundled_layer,
    variant_for,
)
from callboard.prompts.passages import TemplatePassage


def text_of(passage: TemplatePassage) -> str:
    return "".join(
        piece if isinstance(piece, str) else f"<{piece.name}>" for piece in passage.pieces
    )


@pytest.fixture
def roots(tmp_path: Path) -> dict[str, Path]:
    found = {name: tmp_path / name for name in ("bundled", "user", "project")}
    for root in found.values():
        root.mkdir()
    return found


@pytest.fixture
def registry(roots: dict[str, Path]) -> TemplateRegistry:
    return TemplateRegistry([TemplateLayer(name, root) for name, root in roots.items()])


def body(registry: TemplateRegistry, name: str, tier: Tier = None) -> str:
    return text_of(registry.get(name, tier).body)


@pytest.mark.parametrize(
    ("tier", "variant"),
    [
        *[(1, "t1"), (2, "t1"), (3, "t3"), (4, "t3"), (5, "t5"), (9, "t5")],
        *[(None, "t3"), ("4", "t3"), ("full", "t5"), ("T5", "t5")],
        *[(ModelTier.MEDIUM, "t3"), (ModelTier.MINIMAL, "t1")],
    ],
)
def test_every_notation_of_a_tier_means_one_variant(tier: Tier, variant: str) -> None:
    assert variant_for(tier) is TemplateVariant(variant)


@pytest.mark.parametrize("tier", [0, -1, "huge", "0"])
def test_an_unknown_tier_is_refused(tier: Tier) -> None:
    with pytest.raises(TemplateInvalid):
        variant_for(tier)


@pytest.mark.parametrize(
    ("present", "tier", "expected"),
    [
        ("t1 t3 t5", 1, "t1"),
        ("t3 t5", 1, "t3"),
        ("t5", 1, "t5"),
        ("t1 t5", 3, "t1"),
        ("t5", 3, "t5"),
        ("t1 t3", 5, "t3"),
        ("t1", 5, "t1"),
        ("t1 t3 t5", None, "t3"),
    ],
)
def test_a_missing_variant_falls_back_to_the_closest(
    registry: TemplateRegistry,
    roots: dict[str, Path],
    present: str,
    tier: int | None,
    expected: str,
) -> None:
    for variant in present.split():
        (roots["bundled"] / f"draft.{variant}.md").write_text(variant)
    assert body(registry, "draft", tier) == expected
    assert registry.get("draft", tier).origin.variant is TemplateVariant(expected)


def test_named_and_numbered_variants_are_the_same_slot(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    (roots["bundled"] / "identity.md").write_text("whole")
    (roots["bundled"] / "identity.minimal.md").write_text("short")
    assert body(registry, "identity", "t1") == "short"
    # The plain file serves every tier without a variant of its own, before any other variant.
    assert body(registry, "identity", ModelTier.MEDIUM) == "whole"
    assert registry.get("identity", 3).origin.variant is None
    (roots["bundled"] / "identity.t1.md").write_text("twice")
    with pytest.raises(TemplateInvalid, match="same variant"):
        registry.get("identity", 1)


@pytest.mark.req("CR-142")
def test_layers_override_each_other_per_file_and_variant(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    (roots["bundled"] / "draft.t1.md").write_text("bundled t1")
    (roots["bundled"] / "draft.t3.md").write_text("bundled t3")
    (roots["user"] / "draft.t3.md").write_text("user t3")
    assert body(registry, "draft", 3) == "user t3"
    (roots["project"] / "draft.t3.md").write_text("project t3")
    assert body(registry, "draft", 3) == "project t3"
    assert body(registry, "draft", 1) == "bundled t1"
    origin = registry.get("draft", 3).origin
    assert (origin.layer, origin.path) == ("project", "draft.t3.md")
    (entry,) = registry.entries()
    assert [str(each) for each in entry.origins] == ["bundled:draft.t1.md", "project:draft.t3.md"]


@pytest.mark.req("CR-141", "CR-142")
def test_an_index_declares_files_and_is_looked_up_downwards(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    (roots["bundled"] / "templates").mkdir()
    (roots["bundled"] / "templates" / "brief_small.md").write_text("small brief")
    (roots["bundled"] / "refine_brief.t3.md").write_text("by name")
    declared = {"label": "Refine", "variants": {"t1": "templates/brief_small.md"}}
    index = {"pipeline_templates": {"refine_brief": declared}}
    (roots["user"] / "prompts.json").write_text(json.dumps(index))
    assert body(registry, "refine_brief", 1) == "small brief"
    assert registry.get("refine_brief", 1).front.label == "Refine"
    assert body(registry, "refine_brief", 3) == "by name"
    (roots["project"] / "templates").mkdir()
    (roots["project"] / "templates" / "brief_small.md").write_text("of a higher layer")
    assert body(registry, "refine_brief", 1) == "small brief"


@pytest.mark.parametrize(
    ("index", "key"),
    [
        ('{"templates": {}}', "templates"),
        ('{"pipeline_templates": {"a": {"files": {}}}}', "files"),
        ('{"pipeline_templates": {"a": {"variants": {"t9": "x.md"}}}}', "t9"),
        ('{"pipeline_templates": {"a": {"variants": {"t1": "../x.md"}}}}', "t1"),
        ('{"pipeline_templates": {"a": {"variants": {"t1": "/etc/passwd"}}}}', "t1"),
        ("{", "JSON"),
    ],
)
def test_a_bad_index_is_reported_with_its_key(
    registry: TemplateRegistry, roots: dict[str, Path], index: str, key: str
) -> None:
    (roots["project"] / "prompts.json").write_text(index)
    with pytest.raises(TemplateInvalid, match=key) as caught:
        registry.get("a")
    assert "project:prompts.json" in caught.value.message
    assert len(registry.problems()) == 1


def test_a_declared_file_that_is_missing_says_so(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    index = {"pipeline_templates": {"a": {"variants": {"t3": "a/b.md"}}}}
    (roots["project"] / "prompts.json").write_text(json.dumps(index))
    with pytest.raises(TemplateNotFound, match=r"declares 'a/b\.md'"):
        registry.get("a")


def test_a_changed_file_is_read_again(registry: TemplateRegistry, roots: dict[str, Path]) -> None:
    path = roots["project"] / "draft.md"
    path.write_text("one")
    first = registry.get("draft")
    assert registry.get("draft") is first
    path.write_text("two")
    os.utime(path, ns=(1, 1))
    assert body(registry, "draft") == "two"
    path.unlink()
    with pytest.raises(TemplateNotFound):
        registry.get("draft")


def test_a_missing_template_lists_where_it_was_looked_for(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    (roots["user"] / "draft_scene.t3.md").write_text("x")
    with pytest.raises(TemplateNotFound) as caught:
        registry.get("draft_scen")
    assert caught.value.code == "template_not_found"
    for root in roots.values():
        assert f"{root}/draft_scen.md" in caught.value.context["looked"]
        assert f"{root}/draft_scen.t1.md" in caught.value.context["looked"]
    assert str(roots["user"]) not in caught.value.message
    assert "draft_scene" in (caught.value.fix or "")


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "/etc/passwd",
        "a/../b",
        "a//b",
        "",
        ".",
        "a.b",
        "a\\b",
        "a\0b",
        "a/",
        "ä",
        "x" * 201,
    ],
)
def test_names_that_could_leave_the_folder_are_refused(
    registry: TemplateRegistry, name: str
) -> None:
    with pytest.raises(TemplateInvalid):
        registry.get(name)


def test_a_link_out_of_the_folder_is_refused(
    registry: TemplateRegistry, roots: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (roots["project"] / "draft.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(TemplateInvalid, match="leads out"):
        registry.get("draft")


def test_tier_blocks_are_kept_for_the_tiers_they_name(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    (roots["bundled"] / "map.md").write_text(
        "Always.\n<!-- tier: full -->\nLong.\n<!-- tier: medium|minimal -->\nShort.\n"
        "<!-- /tier -->\nEnd."
    )
    assert body(registry, "map", "full") == "Always.\nLong.\nEnd."
    assert body(registry, "map", "medium") == body(registry, "map", 1) == "Always.\nShort.\nEnd."


def test_a_tier_left_without_text_gets_the_closest_text(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    (roots["bundled"] / "map.md").write_text(
        "<!-- tier: full -->\nLong.\n<!-- tier: minimal -->\nTiny.\n"
    )
    assert body(registry, "map", "medium") == "Tiny."


def test_micro_parts_share_the_opening_text(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    (roots["bundled"] / "judge.t1.md").write_text(
        "Task: {{task}}\n<!-- micro: triage -->\nYes or no?\n<!-- micro: finding -->\n"
        "You said {{triage}}. What?\n<!-- micro: evidence -->\nWhere is {{finding}}?\n"
    )
    parts = registry.get("judge", 1).parts
    assert [part.name for part in parts] == ["triage", "finding", "evidence"]
    assert text_of(parts[1].body) == "Task: <task>\nYou said <triage>. What?"
    assert [p.line for p in parts[1].body.placeholders] == [1, 5]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a\n<!-- tier: big -->\nb", 2),
        ("a <!-- tier: full --> b", 1),
        ("<!-- micro: a -->\nx\n<!-- micro: a -->\ny", 3),
        ("<!-- micro: -->\nx", 1),
        ("a\n\n{{slot name}}", 3),
        ("{{}}", 1),
        ("a {{ b", 1),
        ("---\nlabel: x\n", 1),
        ("---\nslots: [a]\n---\n{{b}}", 4),
    ],
)
def test_a_broken_template_names_file_and_line(
    registry: TemplateRegistry, roots: dict[str, Path], source: str, line: int
) -> None:
    (roots["project"] / "t.md").write_text(source)
    with pytest.raises(TemplateInvalid, match=rf"project:t\.md:{line}:"):
        registry.get("t")
    assert [error.context["path"] for error in registry.problems()] == ["project:t.md"]


def test_front_matter_is_read_and_unknown_keys_are_refused(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    path = roots["project"] / "t.md"
    path.write_text("---\nlabel: Draft\ndescription: A scene.\nslots: [a]\n---\nHello {{a}}")
    template = registry.get("t")
    assert (template.front.label, template.front.description) == ("Draft", "A scene.")
    assert body(registry, "t") == "Hello <a>"
    path.write_text("---\nlabel: x\nrun: rm\n---\nHello")
    with pytest.raises(TemplateInvalid, match=r"project:t\.md.*'run'"):
        registry.get("t")


def test_a_file_that_is_not_utf8_is_reported(
    registry: TemplateRegistry, roots: dict[str, Path]
) -> None:
    (roots["project"] / "t.md").write_bytes(b"\xff\xfe")
    with pytest.raises(TemplateInvalid, match="not UTF-8"):
        registry.get("t")


def test_everything_bundled_is_in_order() -> None:
    registry = TemplateRegistry([bundled_layer()])
    assert registry.problems() == ()
    assert {entry.name for entry in registry.entries()} >= {"reminders/reply_format"}
