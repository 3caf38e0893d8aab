"""The outline of the book: the one in force, one that waits, and those that were replaced."""

from collections.abc import Sequence

from callboard.cli.output import clean, counted, echo, echo_json, echo_table, moment, number, remark
from callboard.core.canonical import Json
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.manuscript import (
    OutlineVersion,
    meta_to_json,
    outline_to_json,
    uncovered_beats,
)
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta


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
    _echo_planned(scenes)
    for note in notes:
        remark(clean(f"  note: {note}"))
    missing = uncovered_beats(scenes)
    if missing:
        remark(f"  no scene for beat {', '.join(map(str, missing))}")
    remark("Take it: callboard factory outline --approve")
    remark("Your own: callboard factory outline --json, change it, --from FILE")


def _echo_planned(scenes: Sequence[PlannedScene]) -> None:
    rows = [(s.id, str(s.beat_number or ""), s.title, s.summary) for s in scenes]
    echo_table(("SCENE", "BEAT", "TITLE", "SUMMARY"), rows)


def proposal_shape(scenes: Sequence[PlannedScene], notes: Sequence[str]) -> dict[str, Json]:
    """Return a proposed outline for programs."""
    return {"scenes": outline_to_json(scenes), "notes": list(notes)}


def approved_report(
    scenes: Sequence[PlannedScene], before: OutlineVersion | None, *, as_json: bool
) -> None:
    """Say which outline is in force now, and how to get the one before back."""
    replaced = None if before is None or before.scenes == tuple(scenes) else before
    if as_json:
        shape: dict[str, Json] = {
            "outline": outline_to_json(scenes),
            "replaced": len(replaced.scenes) if replaced else 0,
            "kept_as": replaced.number if replaced else None,
        }
        echo_json(shape)
        return
    echo(f"The outline has {counted(len(scenes), 'scene')}.")
    if replaced:
        told = counted(len(replaced.scenes), "scene")
        remark(f"It takes the place of one with {told}; texts stay.")
        remark(f"Back: callboard factory outline --restore {replaced.number}")
    remark(f"Next: callboard factory scaffold {scenes[0].chapter} {scenes[0].scene}")


def outline_versions_report(versions: Sequence[OutlineVersion], *, as_json: bool) -> None:
    """List every outline that was approved; the last is in force."""
    if as_json:
        echo_json({"versions": [each.to_json() for each in versions]})
    elif not versions:
        remark("No outline yet: callboard factory outline --propose")
    else:
        rows = [
            (str(v.number), moment(v.approved_at), str(len(v.scenes)), v.reason) for v in versions
        ]
        echo_table(("OUTLINE", "APPROVED", "SCENES", "WHY"), rows)


def outline_version_report(version: OutlineVersion, *, as_json: bool) -> None:
    """Show one outline that was approved, as it was."""
    if as_json:
        echo_json({"outline": outline_to_json(version.scenes), "number": version.number})
        return
    _echo_planned(version.scenes)
    remark(f"Bring it back: callboard factory outline --restore {version.number}")
