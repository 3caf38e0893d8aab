"""What the writer decides about changes, proposals, forbidden phrases and versions of a scene."""

from collections.abc import Sequence
from dataclasses import asdict
from enum import Enum, auto

from callboard.cli.output import clean, echo, echo_json
from callboard.cli.reading import matching, pick
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.packs.writers_factory.doors.tell.revision import (
    changes_report,
    edit_report,
    proposal_report,
    proposals_report,
)
from callboard.packs.writers_factory.doors.tell.scenes import version_report
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.manuscript import parse_scene_id
from callboard.packs.writers_factory.manuscript.operations import restore_scene
from callboard.packs.writers_factory.revision import operations
from callboard.packs.writers_factory.revision.enhancement.proposal import Enhancement
from callboard.packs.writers_factory.revision.operations import undo_edit

_ALL = "all"


class Answer(Enum):
    """What becomes of a proposal."""

    NONE = auto()
    ACCEPT = auto()
    REJECT = auto()


async def decide_changes(
    factory: Factory,
    named: str,
    taken: Sequence[str],
    refused: Sequence[str],
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Show tracked changes, after taking and refusing what is named."""
    found = _enhancement(factory, named)
    if not found.changes or not (taken or refused):
        changes_report(found, as_json=as_json, was_decided=False)
        return
    accept, reject = _ids(found, taken, refused), _ids(found, refused, taken)
    decided = await factory.perform(operations.decide_changes, found.id, accept, reject, force)
    changes_report(decided, as_json=as_json, was_decided=True)


def _ids(found: Enhancement, named: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the ids that are named; `all` is every one the other list does not name."""
    if _ALL not in named:
        return list(named)
    return [each.id for each in found.changes if each.id not in others]


def _enhancement(factory: Factory, named: str) -> Enhancement:
    revision = factory.rooms.revision
    if parse_scene_id(named) is None:
        known = [
            each.id
            for scene in factory.rooms.manuscript.scenes()
            for each in revision.enhancements(scene.scene_id)
        ]
        return revision.enhancement(pick(matching(known, named), named, "enhancement"))
    every = revision.enhancements(named)
    if not every:
        raise NotFound(
            f"{named} was not enhanced yet",
            fix=f"`callboard factory enhance {named}` proposes changes.",
            scene_id=named,
        )
    return every[-1]


async def decide_proposal(
    factory: Factory, named: str | None, answer: Answer, *, force: bool, as_json: bool
) -> None:
    """List proposals, show one, or take or refuse it."""
    proposals = factory.rooms.revision.proposals
    if named is None:
        proposals_report(proposals.all(pending_only=True), as_json=as_json)
        return
    found = proposals.get(pick(matching([p.id for p in proposals.all()], named), named, "proposal"))
    if answer is Answer.ACCEPT:
        mode = factory.rooms.modes.current()
        found = await factory.perform(operations.accept_proposal, found.id, mode, force)
    elif answer is Answer.REJECT:
        found = await factory.perform(operations.reject_proposal, found.id)
    proposal_report(found, as_json=as_json)


async def waive_phrase(
    factory: Factory, scene: str, quote: str, reason: str, *, as_json: bool
) -> None:
    """Let a forbidden phrase stand in one scene, under whatever pattern forbids it."""
    revision = factory.rooms.revision
    patterns = {hit.pattern for hit in revision.blocks(scene) if hit.quote == quote}
    # What is not there is refused by the room, which names what is.
    made = [
        await factory.perform(operations.waive_phrase, scene, each, quote, reason)
        for each in sorted(patterns or {""})
    ]
    if as_json:
        shapes: list[Json] = [asdict(each) for each in made]
        echo_json({"scene_id": scene, "waivers": shapes})
    else:
        echo(clean(f"“{quote}” stays in {scene}: {made[0].reason}"))


def latest_version(factory: Factory, scene: str) -> int | None:
    """Return the number of the version a scene has now, if it has a text."""
    versions = factory.rooms.manuscript.versions(scene)
    return versions[-1].number if versions else None


async def go_back(factory: Factory, scene: str, number: int | None, *, as_json: bool) -> None:
    """Bring a version back; without a number, take the last edit back."""
    if number is None:
        undone = await factory.perform(undo_edit, scene)
        edit_report(undone, as_json=as_json, is_undo=True)
        return
    before = latest_version(factory, scene)
    restored = await factory.perform(restore_scene, scene, number)
    version_report(restored, before, as_json=as_json)
