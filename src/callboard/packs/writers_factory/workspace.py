"""The workspace: an open project as the factory sees it, and the model each agent is played by.

The model somebody asked for goes first, then the route of what is done, the default route, the
agent's own model, and the default of the project.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from callboard.choreography.questions import Answers, Judge
from callboard.choreography.staffing import find_agent
from callboard.choreography.stage import Stage
from callboard.core.vocabulary import ModelTier
from callboard.packs.writers_factory.model import FOREMAN, JUDGE, PACK, WRITER
from callboard.packs.writers_factory.settings import FactorySettings, read_settings
from callboard.store.records import Records
from callboard.studio.studio import Studio
from callboard.tools import ProjectFiles


@dataclass(frozen=True)
class Workspace:
    """An open project as Writers Factory sees it."""

    studio: Studio

    @cached_property
    def records(self) -> Records:
        """What the pack keeps in the project's database."""
        return Records(self.studio.database, PACK, self.studio.clock)

    @cached_property
    def files(self) -> ProjectFiles:
        """The writer's files."""
        return ProjectFiles(self.studio.project.root, self.studio.project.folder)

    @property
    def settings(self) -> FactorySettings:
        """The settings in force now."""
        return read_settings(self.studio.project.folder).values


EXTRACTION: Final = "extraction"
_DEFAULT: Final = "default"
# What each of them does when nothing else is said, as the writer's model routes name it.
_INTENTS: Final = {FOREMAN: "structure", WRITER: "prose", JUDGE: "judging"}


def route_of(
    workspace: Workspace, agent_id: str, wanted: str | None = None, *, intent: str = ""
) -> str | None:
    """Return the model that is asked in place of an agent's own, if there is one."""
    routes = workspace.settings.models.routes
    routed = routes.get(intent or _INTENTS[agent_id]) or routes.get(_DEFAULT)
    return wanted or routed or None


def model_of(
    workspace: Workspace, agent_id: str, wanted: str | None = None, *, intent: str = ""
) -> str:
    """Return the model an agent is played by."""
    own = find_agent(workspace.studio, agent_id, PACK).model
    routed = route_of(workspace, agent_id, wanted, intent=intent)
    return routed or own or workspace.studio.settings.models.default


def is_small(workspace: Workspace, model: str) -> bool:
    """Say whether a model is held to choices and forms instead of trusted to write."""
    return workspace.studio.catalog.facts(model).tier is ModelTier.MINIMAL


def judge_on(stage: Stage, wanted: str | None = None) -> Judge:
    """Return the judge of a run: who is asked, how, and where the answers are kept."""
    workspace = Workspace(stage.studio)
    model = model_of(workspace, JUDGE, wanted)
    return Judge(
        stage,
        JUDGE,
        Answers(stage.studio, PACK),
        model,
        route_of(workspace, JUDGE, wanted),
        is_small(workspace, model),
    )
