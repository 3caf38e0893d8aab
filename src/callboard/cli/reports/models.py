"""What is known of models here: the catalog in force, keys that are present, weights."""

import os
from dataclasses import dataclass
from pathlib import Path

from callboard.core.canonical import Json
from callboard.core.clock import SystemClock
from callboard.core.errors import NotFound
from callboard.core.settings import Settings
from callboard.models import Catalog, Gate, find_weights, weights_dir
from callboard.models.credentials import KeyStatus
from callboard.studio.configuration import Configuration
from callboard.studio.gateway import Surroundings, plain_gate
from callboard.studio.keys import key_names, open_credentials
from callboard.studio.project import Project


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """A provider, where its key is looked for, and whether there is one; never the key."""

    name: str
    variable: str
    has_key: bool

    def shape(self) -> dict[str, Json]:
        """Return the facts as JSON."""
        return {"name": self.name, "variable": self.variable, "has_key": self.has_key}


@dataclass(frozen=True, slots=True)
class WeightsState:
    """Whether the embedded model can be used, and where its weights lie or would lie."""

    folder: Path
    path: Path | None

    @property
    def told(self) -> str:
        """The state in words."""
        if self.path is not None:
            return f"ready ({self.path})"
        return "its weights are not here; fetch them with `callboard models pull`"

    def shape(self) -> dict[str, Json]:
        """Return the state as JSON."""
        path = None if self.path is None else str(self.path)
        return {"is_ready": self.path is not None, "path": path, "folder": str(self.folder)}


def configuration_near(project: Path | None) -> Configuration:
    """Return the settings of the project here; outside of any, those of the user."""
    try:
        found = Project.find(Path.cwd() if project is None else project)
    except NotFound:
        if project is not None:
            raise
        found = None
    return Configuration(found)


def settings_near(project: Path | None) -> Settings:
    """Return the settings in force here."""
    return configuration_near(project).settings


def catalog_of(settings: Settings) -> Catalog:
    """Return the catalog with the corrections of the settings."""
    return Catalog.load(settings.models.catalog_overrides())


def open_near(configuration: Configuration, *named: str) -> Gate:
    """Return the way to every model that these settings know, or that the user `named`."""
    around = Surroundings(
        configuration.loaded,
        os.environ,
        {},
        SystemClock(),
        project=configuration.project,
        named=named,
    )
    return plain_gate(around)


def provider_facts(configuration: Configuration) -> list[ProviderFacts]:
    """Return the providers with the variable that holds, or would hold, their key."""
    settings = configuration.settings
    keys = open_credentials(settings, os.environ, project=configuration.project)
    survey = keys.survey(key_names(settings))
    return [
        ProviderFacts(each.provider, _variable_of(each), each.found is not None)
        for each in survey.keys
    ]


def _variable_of(status: KeyStatus) -> str:
    if status.found is not None and status.found.variable is not None:
        return status.found.variable
    return status.variables[0] if status.variables else ""


def weights_state() -> WeightsState:
    """Look for the weights of the embedded model."""
    folder = weights_dir(os.environ)
    return WeightsState(folder, find_weights(folder))
