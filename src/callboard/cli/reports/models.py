"""What is known of models here: the catalog in force, weights, and what each is good at."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.cli.output import (
    echo,
    echo_facts,
    echo_json,
    echo_table,
    number,
    one_line,
    remark,
    seconds,
)
from callboard.core.canonical import Json
from callboard.core.clock import SystemClock
from callboard.core.errors import NotFound
from callboard.core.settings import Settings
from callboard.models import (
    SMOLLM2,
    Catalog,
    Gate,
    ModelProfile,
    Rung,
    SchemaShape,
    Score,
    fetch_weights,
    find_weights,
    weights_dir,
)
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


_NAMES: Final = {
    Rung.GRAMMAR: "grammar",
    Rung.SCHEMA: "schema",
    Rung.TAGGED: "tagged text",
    Rung.REPAIR: "repair",
    Rung.SMALLER: "small questions",
}


def tell_try(tries: int, *, quiet: bool) -> Callable[[Rung, SchemaShape, Score], None]:
    """Return what tells a watcher about every finished shape."""

    def tell(rung: Rung, shape: SchemaShape, score: Score) -> None:
        if not quiet and score.tries == tries:
            remark(f"{_NAMES[rung]}, {shape}: {score.valid} of {score.tries} valid")

    return tell


def profile_report(profile: ModelProfile, path: Path, *, as_json: bool) -> None:
    """Show a profile and where it is kept."""
    if as_json:
        first = {shape.value: profile.first_rung(shape).value for shape in SchemaShape}
        echo_json({"profile": {**profile.to_json(), "first_rung": first}, "path": str(path)})
        return
    speed, wait = profile.tokens_per_second, profile.first_token_ms
    spent = profile.usage
    echo_facts(
        [
            ("model", profile.model),
            ("says", one_line(profile.sample, 200)),
            ("first token", "" if wait is None else seconds(wait)),
            ("speed", "" if speed is None else f"{speed:.0f} tokens/s"),
            ("used", f"{number(spent.input_tokens)} in, {number(spent.output_tokens)} out"),
            ("kept in", str(path)),
        ]
    )
    echo()
    rows = [
        (
            _NAMES[rung],
            *(_cell(profile.scores[rung].get(shape)) for shape in SchemaShape),
        )
        for rung in profile.scores
    ]
    first = ("asked first by", *(_NAMES[profile.first_rung(shape)] for shape in SchemaShape))
    echo_table(("VALID REPLIES", *(shape.value.upper() for shape in SchemaShape)), [*rows, first])


def _cell(score: Score | None) -> str:
    return "" if score is None else f"{score.rate:.0%} ({score.valid}/{score.tries})"


def pull_weights(*, quiet: bool = False) -> Path:
    """Return the weights, fetching them first if they are not here."""
    folder = weights_dir(os.environ)
    found = find_weights(folder)
    if found is not None:
        return found
    if quiet:
        return fetch_weights(folder)
    megabytes = SMOLLM2.size_bytes // 1_000_000
    remark(f"Fetching the embedded model, {megabytes} MB, once …")
    return _fetch_with_bar(folder) if sys.stderr.isatty() else fetch_weights(folder)


def _fetch_with_bar(folder: Path) -> Path:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("fetch", total=SMOLLM2.size_bytes)

        def show(arrived: int, total: int) -> None:
            progress.update(task, completed=arrived, total=total)

        return fetch_weights(folder, on_progress=show)
