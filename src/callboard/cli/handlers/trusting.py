"""Asking the user about a folder: what it brings, and whether that shall count."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from callboard.cli.attendance import is_attended
from callboard.cli.output import echo, one_line, remark
from callboard.core.clock import Clock, SystemClock
from callboard.core.errors import CallboardError, ErrorTier, InvalidInput, NotFound
from callboard.studio.database import adopt, set_aside, strange_databases
from callboard.studio.project import Project
from callboard.studio.trust import FolderStanding, TrustRegistry
from callboard.studio.trust_survey import Brought, survey

DatabaseChoice = Literal["adopt", "aside"]


class TrustNeeded(CallboardError):
    """Something must be decided by a person who has looked at the folder."""

    code = "trust_needed"
    tier = ErrorTier.USER_FIXABLE


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a folder."""

    project: Project
    standing: FolderStanding
    brought: tuple[Brought, ...]
    paused_runs: int = 0
    aside: Path | None = None


def locate(folder: Path | None) -> Project:
    """Return the project a user means, without a word about its standing."""
    return Project.locate(Path.cwd() if folder is None else folder)


def show_brought(project: Project, brought: tuple[Brought, ...]) -> None:
    """Tell what trusting a folder would let it do."""
    remark(f"{project.root}: {project.standing.reason}.")
    if not brought:
        remark("It brings nothing but its text. Trusting it lets later additions count.")
        return
    remark("It brings the following; each counts only if you trust the folder:")
    for each in brought:
        remark(f"  {one_line(each.name):<20}{one_line(each.told, 400)}")


def trust_folder(
    folder: Path | None,
    *,
    is_sure: bool,
    database: DatabaseChoice | None,
    clock: Clock | None = None,
) -> Decided:
    """Trust a folder after showing what it brings; without a terminal only if that is said."""
    project = locate(folder)
    brought = survey(project.brought)
    if not is_sure:
        show_brought(project, brought)
        _ask_whether(project)
    now = (clock or SystemClock()).now_ms()
    foreign = strange_databases(project)
    choice = database or _ask_about(foreign)
    TrustRegistry().trust(project.root, now)
    trusted = Project(project.root)
    paused, aside = 0, None
    if foreign and choice == "adopt":
        paused = adopt(trusted, foreign, now)
    elif foreign:
        aside = set_aside(trusted, foreign, now)
    return Decided(trusted, trusted.standing, brought, paused, aside)


def _ask_whether(project: Project) -> None:
    if not is_attended():
        raise TrustNeeded(
            f"Whether to trust {project.root} is for a person at a terminal to say",
            fix="`callboard trust --yes` says it here for good, `--trust-once` after any command "
            "for that command only.",
            path=str(project.root),
        )
    if not _says_yes("Trust this folder? [y/N] "):
        raise TrustNeeded(f"{project.root} stays untrusted", fix="Nothing was changed.")


def _ask_about(foreign: list[str]) -> DatabaseChoice | None:
    """Return what is to be done with a stranger's database; None if there is none."""
    if not foreign:
        return None
    told = f"{', '.join(foreign)} was not made by you on this machine"
    if not is_attended():
        raise TrustNeeded(
            told,
            fix="Say `--database aside` to move it away, or `--database adopt` to make it yours.",
            files=foreign,
        )
    remark(f"{told}.")
    if _says_yes("Make it yours as it is? Otherwise it is moved to backups. [y/N] "):
        return "adopt"
    return "aside"


def ask_at_first_use(folder: Path | None) -> None:
    """Ask a person at a terminal about an untrusted folder, once; a no is remembered."""
    try:
        project = locate(folder)
    except NotFound:
        return
    if project.standing.is_trusted or not is_attended():
        return
    registry = TrustRegistry()
    if registry.has_declined(project.root):
        return
    show_brought(project, survey(project.brought))
    if not _says_yes("Trust this folder? Without it, its text is read and nothing else. [y/N] "):
        registry.decline(project.root)
        return
    trust_folder(project.root, is_sure=True, database=None)


def revoke_folder(folder: Path | None) -> tuple[Project, bool]:
    """Stop trusting a folder."""
    project = locate(folder)
    return project, TrustRegistry().revoke(project.root)


def _says_yes(question: str) -> bool:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def require_one(*chosen: bool) -> None:
    """Refuse options that contradict each other."""
    if sum(chosen) > 1:
        raise InvalidInput(
            "These options contradict each other", fix="Use one of --yes, --revoke and --list."
        )


def echo_decided(decided: Decided) -> None:
    """Say what became of a folder."""
    echo(f"{decided.project.root} is trusted on this machine.")
    if decided.aside is not None:
        echo(f"What was not made here lies in {decided.aside}.")
    if decided.paused_runs:
        echo(
            f"{decided.paused_runs} unfinished runs are paused; look at each before you resume it."
        )
