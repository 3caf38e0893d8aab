"""The scenes of the book: scaffolds, variants, versions, and what was accepted."""

from collections.abc import Sequence
from typing import Any

from callboard.cli.output import clean, echo, echo_json, echo_table, moment, number, remark
from callboard.packs.writers_factory.manuscript import SceneVersion
from callboard.packs.writers_factory.scenes import SceneVariant, SmartScaffold


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


def version_report(version: SceneVersion, before: int | None, *, as_json: bool) -> None:
    """Say which text a scene has now, and how to go back."""
    if as_json:
        echo_json({"version": version.to_json(), "before": before})
        return
    told = f"{version.scene_id} is now version {version.number}"
    echo(clean(f"{told} ({number(version.word_count)} words): {version.reason}."))
    if before is not None and before != version.number:
        remark(f"Back: callboard factory undo {version.scene_id} --version {before}")


def versions_report(versions: Sequence[SceneVersion], *, as_json: bool) -> None:
    """List what a scene was before."""
    if as_json:
        echo_json({"versions": [each.to_json() for each in versions]})
    elif not versions:
        remark("It has no text yet.")
    else:
        rows = [
            (str(v.number), moment(v.created_at), f"{v.word_count}", v.path, _why(v))
            for v in versions
        ]
        echo_table(("VERSION", "WHEN", "WORDS", "FILE", "WHY"), rows)


def _why(version: SceneVersion) -> str:
    told = "; ".join(version.against)
    return f"{version.reason}, by force against: {told}" if told else version.reason


def accepted_report(told: dict[str, Any]) -> None:
    """Show what an acceptance led to."""
    scene = told["scene"]
    echo(clean(f"{scene['scene_id']} is {scene['status']} ({scene['word_count']} words)."))
    for flag in told.get("flags") or ():
        quote = f": “{flag['quote']}”" if flag["quote"] else ""
        remark(clean(f"  {flag['code'].replace('_', ' ')}: {flag['detail']}{quote}"))
    for each in told.get("against") or ():
        remark(clean(f"  accepted by force against: {each}"))
    following = told["next_scene"]
    if following:
        remark(
            clean(
                f"Next: {following['title']}:"
                f" callboard factory scaffold {following['chapter']} {following['scene']}"
            )
        )
    for warning in told["extracted"]["warnings"]:
        remark(clean(f"  warning: {warning}"))
    remark(f"Its versions: callboard factory versions {scene['scene_id']}")
