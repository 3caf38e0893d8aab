"""A project with Writers Factory, a scripted model and chats that never needed one."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.core.vocabulary import RunRecord, RunState
from callboard.knowledge import Edge, Node
from callboard.models import ModelRequest, Script
from callboard.packs.writers_factory.memory import Consolidator, Memory, Notebooks
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.journal.runs import finish, insert_run
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted

PACK = Path(__file__).parents[4] / "src" / "callboard" / "packs" / "writers_factory"
QUESTIONS = Path(__file__).parent / "pack"

Answer = Callable[[ModelRequest], Any]


def silent(request: ModelRequest) -> str:
    """Refuse every question: what is tested needs no model."""
    raise AssertionError(f"nobody was to be asked: {request.prompt_type}")


@dataclass
class Desk:
    """An open project and its memory."""

    studio: Studio
    script: Script
    workspace: Workspace
    memory: Memory
    notebooks: Notebooks
    consolidator: Consolidator
    root: Path
    asked: list[ModelRequest] = field(default_factory=list[ModelRequest])

    async def know(self, *nodes: Node, edges: tuple[Edge, ...] = ()) -> None:
        await self.memory.graph.merge(nodes, edges)

    async def said(self, message: str, answer: str = "Noted.") -> str:
        """Put a finished turn of a chat into the journal, as the Foreman's chat leaves one."""
        session = await self.studio.sessions.current()
        run_id = self.studio.ids.make("run")

        now = self.studio.clock.now_ms()
        run = RunRecord(
            id=run_id,
            session_id=session.id,
            choreography="writers_factory/chat",
            state=RunState.RUNNING,
            title="chat",
            args={"message": message},
            created_at=now,
        )

        def store(connection: Any) -> None:
            insert_run(connection, run)
            finish(connection, run_id, RunState.DONE, None, now, result={"message": answer})

        await self.studio.database.write(store)
        return run_id

    async def consolidate(self, **args: Any) -> dict[str, Any]:
        run = await self.consolidator.start(**args)
        return self.result(await self.studio.engine.wait(run.id))

    def result(self, run: RunRecord) -> dict[str, Any]:
        assert run.state is RunState.DONE, run.error
        assert isinstance(run.result, dict)
        return run.result


def _found(root: Path) -> None:
    if not (root / ".callboard").exists():
        root.mkdir(parents=True, exist_ok=True)
        Project.init(root)


@asynccontextmanager
async def open_desk(
    root: Path,
    answer: Answer = silent,
    *,
    model: str = "script",
    flags: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Desk]:
    _found(root)
    asked: list[ModelRequest] = []

    def remember(request: ModelRequest) -> Any:
        asked.append(request)
        return answer(request)

    script = Script(remember)
    chosen = {"models": {"default": model}, **(flags or {})}
    own = {"HOME": str(root.parent), "XDG_CONFIG_HOME": str(root.parent / "config")}
    options = {"flags": chosen, "environment": own, **options}
    async with open_scripted(root, script, PACK, QUESTIONS, **options) as studio:
        workspace = Workspace(studio)
        yield Desk(
            studio,
            script,
            workspace,
            Memory(workspace),
            Notebooks(workspace),
            Consolidator(workspace),
            root,
            asked,
        )
