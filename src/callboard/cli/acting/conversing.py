"""A conversation at the terminal, held by whichever pack can: the project's own before others."""

from dataclasses import dataclass

from callboard.cli.acting.opening import Choices, pack_of_project
from callboard.core.errors import NotFound
from callboard.studio.packs import installed_packs, load_pack
from callboard.studio.repertoire import in_order


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a user wants to say, to whom, and how; a pack takes of it what it knows."""

    message: str | None = None
    agent: str | None = None
    mode: str | None = None
    user: str | None = None
    tools: str | None = None
    skip_tools: bool = False
    session: str | None = None


def converse(choices: Choices, wanted: Conversation) -> int:
    """Say one thing, or without a message talk until the user leaves."""
    own = pack_of_project(choices.project)
    given = tuple(load_pack(folder) for folder in choices.packs)
    packs = in_order(given, installed_packs(), own)
    # Without an agent's name the project's pack speaks, if it can; with one, whoever knows agents.
    spoken = [pack.hook("chat") for pack in packs if pack.name == own and wanted.agent is None]
    known = [pack for pack in packs if pack.described.hooks.chat_with is not None]
    for hook in (*spoken, *(pack.hook("chat_with") for pack in known[:1])):
        if hook is not None:
            return int(hook(choices, wanted))
    raise NotFound("No pack here can talk with an agent", fix="See `callboard packs list`.")
