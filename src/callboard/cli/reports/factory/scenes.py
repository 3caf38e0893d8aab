"""The scenes of the book: outline, scaffolds, variants, and what was accepted."""

from collections.abc import Sequence
from typing import Any

from callboard.cli.output import clean, counted, echo, echo_json, echo_table, moment, number, remark
from callboard.core.canonical import Json
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.manuscript import Version, outline_to_json, uncovered_beats
from callboard.packs.writers_factory.manuscript.facts import meta_to_json
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta
from callboard.packs.writers_factory.scenes import SceneVariant, SmartScaffold


def outline_report(factory: Factory, *, as_json: bool) -> None:
    """Show the outline with how far each scene has come, and a proposal that waits."""
    book, waiting = factory.rooms.manuscript, factory.rooms.scenes.outline_proposal()
    outline, scenes = book.outline(), book.scenes()
    if as_json:
        proposal = None if waiting is None else proposal_shape(*waiting)
        shape: dict[str, Json] = {
            "outline": outline_to_json(outline),
            "scenes": [meta_to_json(each) for each in scenes],
            "proposal": proposal,
            "drafted_words": book.drafted_words(),
            "planned_words": book.planned_words(),
        }
        echo_json(shape)
        return
    if scenes:
        echo_scenes(scenes)
        echo(f"\n{number(book.drafted_words())} of {number(book.planned_words())} words.")
    elif waiting is None:
        remark("No outline yet: callboard factory outline --propose")
    if waiting is not None and waiting[0] != outline:
        remark("A proposed outline waits:")
        proposal_report(*waiting)


def echo_scenes(scenes: Sequence[SceneMeta]) -> None:
    """List scenes with how far each has come."""
    rows = [
        (
            each.scene_id,
            each.status.value,
            str(each.beat_number or ""),
            f"{each.word_count}",
            each.title,
        )
        for each in scenes
    ]
    echo_table(("SCENE", "STATUS", "BEAT", "WORDS", "TITLE"), rows)


def proposal_report(scenes: Sequence[PlannedScene], notes: Sequence[str]) -> None:
    """Show a proposed outline; nothing is planned by it yet."""
    rows = [(s.id, str(s.beat_number or ""), s.title, s.summary) for s in scenes]
    echo_table(("SCENE", "BEAT", "TITLE", "SUMMARY"), rows)
    for note in notes:
        remark(clean(f"  note: {note}"))
    missing = uncovered_beats(scenes)
    if missing:
        remark(f"  no scene for beat {', '.join(map(str, missing))}")
    remark("Take it: callboard factory outline --approve")
    remark("Your own: callboard factory outline --json, change it, --from FILE")


def proposal_shape(scenes: Sequence[PlannedScene], notes: Sequence[str]) -> dict[str, Json]:
    """Return a proposed outline for programs."""
    return {"scenes": outline_to_json(scenes), "notes": list(notes)}


def approved_report(scenes: Sequence[PlannedScene], before: int, *, as_json: bool) -> None:
    """Say which outline is in force now."""
    if as_json:
        echo_json({"outline": outline_to_json(scenes), "replaced": before})
        return
    echo(f"The outline has {counted(len(scenes), 'scene')}.")
    if before:
        remark(f"It takes the place of one with {counted(before, 'scene')}; texts stay.")
    remark(f"Next: callboard factory scaffold {scenes[0].chapter} {scenes[0].scene}")


def scaffold_report(scaffold: SmartScaffold, *, as_json: bool) -> None:
    """Show the brief of a scene and how to approve it."""
    if as_json:
        echo_json({"scaffold": scaffold.to_json()})
        return
    for line in scaffold.lines():
        echo(clean(line))
    for warning in scaffold.warnings:
        remark(clean(f"  warning: {warning}"))
    name = scaffold.scaffold_id
    if scaffold.is_approved:
        remark(f"Approved (version {scaffold.version}). Next: callboard factory write {name}")
    else:
        remark(f"Approve it: callboard factory approve {name} [--set FIELD=VALUE]")


def variants_report(variants: Sequence[SceneVariant], *, as_json: bool) -> None:
    """Show every draft of a scene with what there is to know of it."""
    if as_json:
        echo_json({"variants": [each.to_json() for each in variants]})
        return
    if not variants:
        remark("No variants yet: callboard factory write SCENE")
    for each in variants:
        echo(clean(f"\n== {each.id}  {each.word_count} of {each.word_target} words  {each.model}"))
        for flag in each.flags:
            quote = f": “{flag.quote}”" if flag.quote else ""
            echo(clean(f"   ! {flag.code} {flag.detail}{quote}"))
        echo(clean(f"\n{each.text}" if each.is_usable else f"   failed: {each.error}"))
    if any(each.is_usable for each in variants):
        scene = variants[0].scene_id
        remark(f"\nTake one: callboard factory select {scene} VARIANT")
        remark(f"Join some: callboard factory hybrid {scene} --part VARIANT#1-3")


def version_report(version: Version, before: int | None, *, as_json: bool) -> None:
    """Say which text a scene has now, and how to go back."""
    if as_json:
        echo_json({"version": version.to_json(), "before": before})
        return
    told = f"{version.scene_id} is now version {version.number}"
    echo(clean(f"{told} ({number(version.word_count)} words): {version.reason}."))
    if before is not None and before != version.number:
        remark(f"Back: callboard factory undo {version.scene_id} --version {before}")


def versions_report(versions: Sequence[Version], *, as_json: bool) -> None:
    """List what a scene was before."""
    if as_json:
        echo_json({"versions": [each.to_json() for each in versions]})
    elif not versions:
        remark("It has no text yet.")
    else:
        rows = [
            (str(v.number), moment(v.created_at), f"{v.word_count}", v.path, v.reason)
            for v in versions
        ]
        echo_table(("VERSION", "WHEN", "WORDS", "FILE", "WHY"), rows)


def accepted_report(told: dict[str, Any]) -> None:
    """Show what an acceptance led to."""
    scene = told["scene"]
    echo(clean(f"{scene['scene_id']} is {scene['status']} ({scene['word_count']} words)."))
    following = told["next_scene"]
    if following:
        remark(
            clean(
                f"Next: {following['title']}:"
                f" callboard factory scaffold {following['chapter']} {following['scene']}"
            )
        )
    remark(f"Its versions: callboard factory versions {scene['scene_id']}")
