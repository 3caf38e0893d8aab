"""Repertoire: everything the packs of an open project offer, found by name."""

import logging
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

from callboard.core.errors import CallboardError, NotFound
from callboard.core.settings.model import ToolsSettings
from callboard.core.vocabulary import Agent, RunRecord
from callboard.engine.errors import UnknownChoreography
from callboard.engine.scope import Body
from callboard.store.connection import Connection
from callboard.store.mirror import RunFolder
from callboard.store.records import Records
from callboard.studio.packs import Pack, PackInvalid
from callboard.studio.runnable import Choreography, ChoreographySource, Foldered
from callboard.tools import Tool, ToolRegistry
from callboard.tools.builtin import BUILTIN_TOOLS

_log = logging.getLogger(__name__)


def in_order(given: tuple[Pack, ...], installed: tuple[Pack, ...], own: str) -> tuple[Pack, ...]:
    """Return the user's packs, then the one the project is for, then all others."""
    return (*given, *sorted(installed, key=lambda pack: pack.name != own))


class Repertoire:
    """Everything the packs of a studio offer. A pack's own agents come before another's."""

    def __init__(
        self,
        packs: tuple[Pack, ...],
        overrides: Mapping[str, Agent],
        studio: Any = None,
        *,
        near: frozenset[str] = frozenset(),
        own: str = "",
    ) -> None:
        """Take the packs, the user's first, the project's own words on agents, and the studio.

        A bare name means what a `near` pack offers; among others it must be the only one.
        """
        self.packs = packs
        self._own = own
        self._near = near
        self._overrides = dict(overrides)
        self._studio = studio
        self._homes: dict[str, Pack] = {}
        # A pack's shelves are opened when a name is asked for that no pack lists.
        self._shelves: dict[str, tuple[ChoreographySource, ...]] = {}
        self._ambiguous: dict[str, list[str]] = {}
        for pack in packs:
            for name in pack.choreographies:
                home = self._homes.setdefault(name, pack)
                if home is not pack and home.name not in near:
                    self._ambiguous.setdefault(name, [f"{home.name}/{name}"])
                    self._ambiguous[name].append(f"{pack.name}/{name}")
                self._homes.setdefault(f"{pack.name}/{name}", pack)

    def body(self, name: str) -> Body:
        """Return what executes runs of a choreography."""
        try:
            found = self.performer(name)
        except CallboardError as error:
            raise UnknownChoreography(error.message, fix=error.fix, choreography=name) from error
        return lambda run: found.perform(self._studio, run)

    def folder(self, connection: Connection, run: RunRecord) -> RunFolder | None:
        """Return where a run is mirrored, if its choreography says so."""
        try:
            found = self.performer(run.choreography)
        except CallboardError:
            # A run of a pack that is not here is mirrored like any other.
            return None
        return found.folder(connection, run) if isinstance(found, Foldered) else None

    def own(self) -> tuple[Pack, ...]:
        """Return the pack the project is for, if it is here."""
        return tuple(pack for pack in self.packs if pack.name == self._own)[:1]

    def used(self) -> tuple[Pack, ...]:
        """Return the pack the project is for, and those it has something of."""
        own = self.own()
        return (*own, *(pack for pack in self.packs if pack not in own and self._has(pack)))

    def _has(self, pack: Pack) -> bool:
        traces, studio = pack.described.traces, self._studio
        if studio is None:
            return False
        if any((studio.project.folder / name).exists() for name in traces.files):
            return True
        records = Records(studio.database, pack.name, studio.clock)
        return any(records.all(kind) for kind in traces.records)

    @property
    def archetypes(self) -> frozenset[str]:
        """Every role somebody could play, whether that agent is enabled or not."""
        staff = [agent for pack in self.packs for agent in pack.agents]
        return frozenset(a.contract.archetype for a in (*staff, *self._overrides.values()))

    def shelves(self, pack: Pack) -> tuple[ChoreographySource, ...]:
        """Return a pack's shelves, opened once."""
        if pack.name not in self._shelves:
            try:
                self._shelves[pack.name] = pack.shelves(self._studio)
            except PackInvalid as error:
                # One pack must not keep what others offer from being found.
                _log.warning("the shelves of pack %s are left out: %s", pack.name, error.message)
                self._shelves[pack.name] = ()
        return self._shelves[pack.name]

    def agents(self, pack: str = "") -> tuple[Agent, ...]:
        """Return the enabled staff in order; of agents with one id the given pack's counts."""
        near = [each for each in self.packs if each.name == pack]
        far = [each for each in self.packs if each.name != pack]
        staff: dict[str, Agent] = {}
        for each in (*near, *far):
            for agent in each.agents:
                staff.setdefault(agent.id, agent)
        staff.update(self._overrides)
        enabled = (agent for agent in staff.values() if agent.enabled)
        return tuple(sorted(enabled, key=lambda agent: (agent.order, agent.id)))

    def staff(self, pack: str) -> tuple[Agent, ...]:
        """Return the enabled agents of one pack and of the project, in order; nobody else's."""
        own = {agent.id for each in self.packs if each.name == pack for agent in each.agents}
        others = {agent.id for each in self.packs for agent in each.agents} - own
        return tuple(agent for agent in self.agents(pack) if agent.id not in others)

    def agent(self, agent_id: str, pack: str = "") -> Agent:
        """Return an agent by id, or the first of that archetype, as a pack sees it."""
        staff = self.agents(pack)
        for agent in staff:
            if agent.id == agent_id:
                return agent
        for agent in staff:
            if agent.contract.archetype == agent_id:
                return agent
        names = ", ".join(agent.id for agent in staff) or "none"
        raise NotFound(
            f"There is no agent {agent_id!r}", fix=f"Agents here: {names}.", agent=agent_id
        )

    def choreographies(self) -> tuple[str, ...]:
        """Return what can be run, each under its full name."""
        listed = {name for name in self._homes if "/" in name}
        shelved = {
            f"{pack.name}/{name}"
            for pack in self.packs
            for shelf in self.shelves(pack)
            for name in shelf.names()
        }
        return tuple(sorted(listed | shelved))

    def full_name(self, name: str) -> str:
        """Return `pack/name` for a name the user typed."""
        if name in self._ambiguous:
            meant = " or ".join(self._ambiguous[name])
            raise NotFound(
                f"{name!r} could be {meant}", fix="Say it with its pack.", choreography=name
            )
        home = self._homes.get(name)
        if home is not None:
            return name if "/" in name else f"{home.name}/{name}"
        return self._shelved(name)[0]

    def choreography(self, name: str) -> Choreography:
        """Load a choreography by name."""
        home = self._homes.get(name)
        if home is not None:
            return home.choreography(name.rpartition("/")[2])
        return self._shelved(name)[1]

    def performer(self, name: str) -> Choreography:
        """Load what executes runs of a full name, also if it is no longer offered."""
        if name not in self._homes:
            for pack, short in self._candidates(name):
                for shelf in self.shelves(pack):
                    if (found := shelf.resume(short)) is not None:
                        return found
        return self.choreography(name)

    def _shelved(self, name: str) -> tuple[str, Choreography]:
        for pack, short in self._candidates(name):
            for shelf in self.shelves(pack):
                if (found := shelf.find(short)) is not None:
                    return f"{pack.name}/{short}", found
        near = get_close_matches(name, [*self.choreographies()], n=3)
        told = f"Did you mean {', '.join(near)}?" if near else "See `callboard packs list`."
        raise NotFound(
            f"There is no choreography {name!r}",
            fix=f"{told} A pack of your own is added with --pack FOLDER.",
            choreography=name,
        )

    def _candidates(self, name: str) -> list[tuple[Pack, str]]:
        """Return the packs in which a name may be found, with the name it has there."""
        home, slash, short = name.rpartition("/")
        return [(pack, short) for pack in self.packs if not slash or pack.name == home]


def pack_tools(packs: tuple[Pack, ...], limits: ToolsSettings) -> ToolRegistry:
    """Return every tool there is, within the limits the settings name."""
    registry = ToolRegistry()

    def limited(load: Callable[[str], Tool], tool_id: str) -> Tool:
        return load(tool_id).within(limits.timeout_seconds, limits.max_output_bytes)

    for tool in BUILTIN_TOOLS:
        registry.register(tool.within(limits.timeout_seconds, limits.max_output_bytes))
    for pack in packs:
        for each in pack.tools:
            # Who names a pack by its folder is told at once; one that is only installed must not
            # keep others from working, and `callboard doctor` tells who has the name.
            if each in registry and pack.package:
                _log.warning("tool %s of pack %s is left out: it is taken", each, pack.name)
                continue
            load = partial(limited, pack.tool, each)
            registry.register_later(each, load, origin=f"pack {pack.name}")
    return registry
