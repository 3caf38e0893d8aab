"""Studio: opens a project and wires its rooms. The only place that knows concrete classes."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from callboard.core.canonical import Json
from callboard.core.classify import Classifier
from callboard.core.errors import CallboardError
from callboard.core.events import EventBody
from callboard.core.ids import IdMaker
from callboard.core.settings import Settings
from callboard.core.vocabulary import RunRecord
from callboard.engine.embedded import EmbeddedDispatcher
from callboard.engine.engine import Companion, Engine
from callboard.engine.executor import Executor
from callboard.engine.ownership import Ownership
from callboard.engine.scope import Backstage
from callboard.knowledge import Indexing, Knowledge
from callboard.models import Catalog, Gate, ModelRequest
from callboard.models.accounts import Accounts, Prices, limits_from, plans_from
from callboard.models.credentials.discretion import DiscreetGate, Discretion
from callboard.prompts import (
    Assembler,
    OfflineTokenCounter,
    TemplateRegistry,
    load_layout,
)
from callboard.store.connection import Connection
from callboard.store.database import Database, Durability
from callboard.store.journal.events import event_row
from callboard.store.mirror import RunMirror
from callboard.store.pending import sweep
from callboard.studio.audit import Audit
from callboard.studio.configuration import Configuration
from callboard.studio.database import admit, open_to_work
from callboard.studio.doubts import Doubts
from callboard.studio.gateway import Surroundings, full_gate, why_unreachable
from callboard.studio.issues import Issues
from callboard.studio.keys import key_names, open_credentials
from callboard.studio.mirrors import Mirrors, mirror_writer
from callboard.studio.opening import HeldOpen, K, Opening, all_of
from callboard.studio.overrides import layer_name, project_agents, template_layers
from callboard.studio.packs import installed_packs
from callboard.studio.plans import Plans
from callboard.studio.project import Project
from callboard.studio.repertoire import Repertoire, in_order, pack_tools
from callboard.studio.runnable import Restartable
from callboard.studio.sessions import Sessions
from callboard.studio.telemetry import open_tracer
from callboard.tools import ToolService


class Studio:
    """An open project: its rooms, its sessions, its runs."""

    def __init__(
        self,
        project: Project,
        opening: Opening,
        database: Database,
        configuration: Configuration,
    ) -> None:
        """Wire the rooms on an open database; use `open`."""
        environment = os.environ if opening.environment is None else opening.environment
        self.project = project
        self.clock = opening.clock
        self.ids = IdMaker(opening.clock)
        self.configuration = configuration
        self.database = database
        self.trace = open_tracer(self.settings.telemetry, environment)
        keys = open_credentials(self.settings, environment, project=project)
        # Takes the user's own keys out of whatever is stored or sent.
        self.discretion = Discretion(keys, key_names(self.settings))
        self._around = Surroundings(
            configuration.loaded,
            environment,
            opening.providers,
            opening.clock,
            self.trace,
            project,
            opening.models,
            keys,
        )
        packs = in_order(opening.packs, installed_packs(), self.settings.pack)
        base = tuple(agent for pack in packs for agent in pack.agents)
        near = {pack.name for pack in opening.packs} | {self.settings.pack}
        self.repertoire = Repertoire(
            packs,
            project_agents(project.agents, base, self._around.files),
            self,
            near=frozenset(near),
            own=self.settings.pack,
        )
        self.catalog = Catalog.load(self.settings.models.catalog_overrides())
        self._layers = template_layers(packs, project, environment)
        self._prompts: dict[str, TemplateRegistry] = {}
        self.kept = HeldOpen()
        self.counter = OfflineTokenCounter()
        self.layout = load_layout()
        self.assembler = Assembler(self.counter, self.layout, self.discretion.hide)
        ownership = Ownership(database, project.locks, self.ids, opening.clock)
        self._ownership = ownership
        self.tools = ToolService(
            database,
            project.root,
            pack_tools(packs, self.settings.tools),
            trail=project.trail,
            kept=project.folder,
            ids=self.ids,
            clock=opening.clock,
            classifier=Classifier(self.settings.errors),
            hide=self.discretion.hide_json,
            faults=opening.faults,
            trace=self.trace,
            process_id=ownership.id,
        )
        self.allowed_tools = self.tools.registry.parse_allowed(self.settings.tools.allowed or ())
        copy = project.issues if self.settings.engine.mirror else None
        self.issues = Issues(database, opening.clock, copy)
        self.audit = Audit(database, self.tools, self.issues)
        self.run_mirror = RunMirror(database, project.runs, opening.faults, self.repertoire.folder)
        writer = mirror_writer(
            database, project.audit, self.issues, self.run_mirror, opening.faults
        )
        self.mirrors = Mirrors(writer if self.settings.engine.mirror else None)
        self.backstage = Backstage(
            database,
            self.ids,
            opening.clock,
            self.repertoire.body,
            classifier=Classifier(self.settings.errors),
            faults=opening.faults,
            settled=self.mirrors.touch,
            trace=self.trace,
        )
        self.accounts = Accounts(
            database,
            self.ids,
            opening.clock,
            count_tokens=self.counter.count,
            prices=Prices(self.catalog),
            process_id=ownership.id,
            is_alive=ownership.is_alive,
            default_limits=limits_from(self.settings.budgets),
            subscriptions=plans_from(self.settings),
            is_shared=self.settings.budgets.fair_share,
            call_seconds=self.settings.models.timeout_seconds,
            notify=self._notify,
        )
        gate = full_gate(self._around, database, self.accounts, self.catalog, self._notify)
        self.gate: Gate = DiscreetGate(gate, self.discretion)
        dispatcher = EmbeddedDispatcher(Executor(self.backstage, ownership))
        self.engine = Engine(self.backstage, ownership, dispatcher)
        self.sessions = Sessions(database, self.engine, self.ids, opening.clock)
        indexing = Indexing(project.local / "vectors")
        self.knowledge = Knowledge(database, self.ids, opening.clock, indexing=indexing)
        copies = project.sessions if self.settings.engine.mirror else None
        self.plans = Plans(database, self.ids, opening.clock, copies)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.configuration.settings

    def why_unreachable(self, model: str) -> CallboardError | None:
        """Return why a model cannot be asked, such as a missing key; None if nothing is known."""
        return why_unreachable(self._around, model)

    def keep(self, kind: type[K], make: "Callable[[Studio], K]") -> K:
        """Return what a pack holds open for this project, made when it is first asked for."""
        return self.kept.get(kind, lambda: make(self))

    def prompts(self, pack: str = "") -> TemplateRegistry:
        """Return the templates as a pack sees them: bundled, its own, the user's, the project's.

        Without a pack, all packs' templates are there, for listing.
        """
        if pack not in self._prompts:
            hidden = {layer_name(each) for each in self.repertoire.packs if each.name != pack}
            layers = [layer for layer in self._layers if not pack or layer.name not in hidden]
            self._prompts[pack] = TemplateRegistry(layers)
        return self._prompts[pack]

    @classmethod
    @asynccontextmanager
    async def open(cls, root: Path, opening: Opening | None = None) -> "AsyncGenerator[Studio]":
        """Open a project for as long as the context lasts; its unfinished runs go on."""
        chosen = opening or Opening()
        project = admit(Project.find(root), chosen.clock)
        sweep(project.folder, project.root)
        environment = os.environ if chosen.environment is None else chosen.environment
        configuration = Configuration(project, environment=environment, flags=chosen.flags)
        durability = Durability(configuration.settings.engine.durability)
        async with AsyncExitStack() as stack:
            database = open_to_work(
                project,
                url=configuration.settings.store.url,
                durability=durability,
                faults=chosen.faults,
                clock=chosen.clock,
            )
            stack.callback(database.close)
            studio = cls(project, chosen, database, configuration)
            stack.callback(studio.kept.close)
            stack.push_async_callback(studio.mirrors.flush)
            stack.push_async_callback(studio.trace.close)
            stack.push_async_callback(studio.gate.close)
            await studio.engine.start()
            await studio.accounts.start()
            stack.push_async_callback(studio.engine.stop)
            studio.doubts().journal()
            await studio.tools.conclude_abandoned(studio.is_alive)
            if chosen.recover:
                chosen_engine = studio.settings.engine
                await studio.engine.recover(
                    chosen_engine.resume_on_start, most_deaths=chosen_engine.give_up_after_deaths
                )
            studio.mend_mirrors(thoroughly=chosen.recover)
            yield studio

    async def start(
        self,
        choreography: str,
        args: Mapping[str, Json] | None = None,
        *,
        session_id: str | None = None,
        title: str = "",
        dispatch: bool = True,
        together: Companion | None = None,
    ) -> RunRecord:
        """Start a run in a session, the current one unless another is named.

        Without `dispatch` it is only stored, for another process to execute.
        """
        name = self.repertoire.full_name(choreography)
        given = self.discretion.hide_json(dict(args or {}))
        prepared = await self.repertoire.choreography(name).prepare(self, given)
        session = self.sessions.get(session_id) if session_id else await self.sessions.current()
        self.sessions.require_active(session)
        return await self.engine.create(
            name,
            prepared.args,
            session.id,
            title=self.discretion.hide(title or prepared.title),
            dispatch=dispatch,
            guard=prepared.guard,
            together=all_of(prepared.admit, together),
        )

    async def retry(
        self,
        run_id: str,
        *,
        from_step: str | None = None,
        together: Companion | None = None,
    ) -> RunRecord:
        """Begin a failed or cancelled run again: at the step that failed, or at the one named."""
        old = self.engine.load(run_id)
        found = self.repertoire.performer(old.choreography)
        if not isinstance(found, Restartable):
            return await self.engine.retry(run_id, from_key=from_step, together=together)
        return await self.engine.retry(
            run_id,
            from_key=found.restart_key(self, old, from_step),
            guard=found.guard(self, old),
            together=together,
        )

    def is_alive(self, connection: Connection, process_id: str) -> bool:
        """Say whether a process that had this project open still lives."""
        return self._ownership.is_alive(connection, process_id)

    def doubts(self) -> Doubts:
        """Return what compares the mirrors with the journal."""
        return Doubts(self.project, self.database, self.tools.registry, self.engine.is_executed)

    def mend_mirrors(self, *, thoroughly: bool = True) -> None:
        """Have written what a crash or a full disk kept from being mirrored.

        A crash leaves behind what changed last: if that is as it should be, only a thorough look
        goes further.
        """
        if self.settings.engine.mirror:
            self.issues.sync_mirror()
            if thoroughly or self.run_mirror.is_behind():
                for run in self.run_mirror.stale():
                    self.mirrors.touch(run.id, run.session_id)

    def _notify(self, body: EventBody, request: ModelRequest | None) -> None:
        """Store what happens to a call, with the run and step it belongs to."""
        now = self.clock.now_ms()
        session_id = request.session_id if request is not None else None
        run_id = request.run_id if request is not None else None
        step_key = request.step_key if request is not None else None
        row = event_row(body, now, session_id, run_id, step_key)
        self.database.submit(lambda connection: connection.execute(*row).rowcount)
