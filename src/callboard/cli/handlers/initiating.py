"""Making a folder a project, for a pack, with its sample if that is wanted."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.cli.handlers.opening import pack_of_project
from callboard.core.errors import InvalidInput, NotFound
from callboard.store.files import write_new
from callboard.store.pending import sweep
from callboard.studio.packs import Pack, installed_packs
from callboard.studio.project import Project

_HINT: Final = "callboard packs list"


@dataclass(frozen=True, slots=True)
class Initiated:
    """What is wanted."""

    folder: Path
    pack: str | None = None
    with_sample: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """What came of it."""

    root: Path
    is_new: bool
    pack: str | None
    copied: tuple[str, ...] = ()
    # A command to begin with.
    hint: str = _HINT


def initiate(wanted: Initiated) -> Made:
    """Make a folder a project; files that are there already stay as they are."""
    pack = None if wanted.pack is None else _find(wanted.pack)
    if wanted.with_sample and (pack is None or pack.sample is None):
        raise InvalidInput(
            f"There is no sample for {wanted.pack or 'no pack'}",
            fix=f"Name a pack that has one: {_sampled()}.",
        )
    is_new = not Project(wanted.folder.resolve()).exists
    if not is_new and pack is not None:
        _refuse_other(wanted.folder, pack.name)
    made = Project.init(wanted.folder, pack=wanted.pack)
    sweep(made.folder, made.root)
    sample = pack.sample if wanted.with_sample and pack is not None else None
    copied = () if sample is None else _copy(sample, made)
    described = None if pack is None else pack.described
    begin = "" if described is None else described.begin
    if described is not None and wanted.with_sample:
        begin = described.begin_sample or begin
    return Made(made.root, is_new, wanted.pack, copied, begin or _HINT)


def _sampled() -> str:
    named = [pack.name for pack in installed_packs() if pack.sample is not None]
    return ", ".join(f"`--for {name} --sample`" for name in named) or "none is installed"


def _refuse_other(folder: Path, pack: str) -> None:
    """Refuse to turn a project into one for another pack behind its settings' back."""
    named = pack_of_project(folder)
    if named != pack:
        raise InvalidInput(
            f"{folder} already is a project for {named}",
            fix=f"Write `pack: {pack}` into .callboard/config.yaml yourself if you mean it.",
        )


def _find(name: str) -> Pack:
    packs = installed_packs()
    for pack in packs:
        if pack.name == name:
            return pack
    raise NotFound(
        f"There is no pack {name!r}",
        fix=f"Installed: {', '.join(pack.name for pack in packs)}.",
        pack=name,
    )


def _copy(sample: Path, project: Project) -> tuple[str, ...]:
    """Copy what is not there yet, each file whole or not at all, and through no link."""
    copied: list[str] = []
    for source in sorted(sample.rglob("*")):
        inside = source.relative_to(sample)
        target = project.root / inside
        if source.is_file() and write_new(
            target, source.read_bytes(), within=project.root, kept=project.folder
        ):
            copied.append(str(inside))
    return tuple(copied)
