"""Settings of one process: read from files, environment and flags, and read again when they change.

Owns the files and the swap. What a value means and whether it may stand is decided in
`core.settings`. Never refuses to start: whatever is wrong becomes a warning.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

import anyio

from callboard.core.canonical import Json
from callboard.core.parsing import FileProblem
from callboard.core.places import config_dir
from callboard.core.settings import (
    LayerName,
    LoadedSettings,
    Settings,
    SettingsLayer,
    SettingsWarning,
    WarningKind,
    environment_layer,
    named_files,
    resolve,
)
from callboard.studio.project import Project
from callboard.studio.settings_files import (
    FileContent,
    parse_settings_file,
    read_settings_file,
)

CONFIG_FILE: Final = "config.yaml"
QUIET_MS: Final = 500
"""How long a file must lie still before it is read, so that an editor's burst is one reload."""

_RECHECK_MS: Final = 1_000
_logger = logging.getLogger(__name__)

Listener = Callable[["ConfigNotice"], None]


class NoticeKind(StrEnum):
    """What became of a reload."""

    RELOADED = "reloaded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ConfigNotice:
    """What listeners hear after a reload; `loaded` is what is in force now."""

    kind: NoticeKind
    message: str
    loaded: LoadedSettings
    problems: tuple[SettingsWarning, ...] = ()


class Configuration:
    """The settings in force, and the way to newer ones."""

    def __init__(
        self,
        project: Project | None,
        *,
        environment: Mapping[str, str] | None = None,
        flags: Mapping[str, Json] | None = None,
    ) -> None:
        """Read all layers once; `flags` is nested data like a settings file."""
        self.project = project
        self._environment = dict(os.environ if environment is None else environment)
        self._flags = SettingsLayer(LayerName.FLAGS, "command line", dict(flags or {}))
        self._layer_files = _layer_files(project, config_dir(self._environment))
        self._is_trusted = project is None or project.standing.is_trusted
        self._variable_files = [
            replace(each, file=str(Path(each.file).expanduser().absolute()))
            for each in named_files(self._environment)
        ]
        self._listeners: list[Listener] = []
        self._seen = self._contents()
        self._loaded = self._load(self._seen)
        self._tell_log(self._loaded)

    @property
    def loaded(self) -> LoadedSettings:
        """The settings in force with their warnings and origins; swapped as a whole."""
        return self._loaded

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._loaded.settings

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that is read, whether it exists or not."""
        named = (Path(each.file) for each in self._variable_files)
        return (*self._layer_files.values(), *named)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call a listener after every reload, until the returned function is called."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def reload(self) -> ConfigNotice:
        """Read everything again; swap when all is well, else keep what is in force."""
        self._seen = self._contents()
        candidate = self._load(self._seen)
        problems = tuple(each for each in candidate.warnings if each.stops_reload)
        if problems:
            message = f"Config reload failed: {'; '.join(map(str, problems))}"
            _logger.error("%s", message)
            notice = ConfigNotice(NoticeKind.FAILED, message, self._loaded, problems)
        else:
            self._loaded = candidate
            self._tell_log(candidate)
            notice = ConfigNotice(NoticeKind.RELOADED, "Config reloaded", candidate)
        self._notify(notice)
        return notice

    async def watch(self, *, quiet_ms: int = QUIET_MS) -> None:
        """Reload on a change of any settings file and on SIGHUP, until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch_files, quiet_ms)
            if _can_receive_hangup():
                tasks.start_soon(self._watch_hangup)

    async def _watch_files(self, quiet_ms: int) -> None:
        from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]

        while True:
            folders = self._folders()
            changes = awatch(
                *folders,
                watch_filter=lambda _, path: self._concerns(Path(path)),
                step=quiet_ms,
                debounce=10 * quiet_ms,
                rust_timeout=_RECHECK_MS,
                yield_on_timeout=True,
                recursive=False,
                ignore_permission_denied=True,
            )
            async with aclosing(changes):
                async for _ in changes:
                    # Also asked when nothing was reported: a folder that appeared a moment ago
                    # may hold a file written before it was watched.
                    if self._contents() != self._seen:
                        self.reload()
                    if self._folders() != folders:
                        break

    async def _watch_hangup(self) -> None:
        with anyio.open_signal_receiver(signal.SIGHUP) as hangups:
            async for _ in hangups:
                self.reload()

    def _folders(self) -> set[Path]:
        """Return the folders to watch: of each file its own, or the nearest one that exists."""
        return {next(folder for folder in file.parents if folder.is_dir()) for file in self.files}

    def _concerns(self, path: Path) -> bool:
        return any(path == file or path in file.parents for file in self.files)

    def _contents(self) -> dict[Path, FileContent]:
        # What a project brings lies in its folder and nowhere else; the user's own may be linked.
        within: dict[Path, Path] = {}
        for name, levels in ((LayerName.PROJECT, 0), (LayerName.LOCAL, 1)):
            if (file := self._layer_files.get(name)) is not None:
                within[file] = file.parents[levels]
        return {file: read_settings_file(file, within.get(file)) for file in self.files}

    def _load(self, contents: Mapping[Path, FileContent]) -> LoadedSettings:
        warnings: list[SettingsWarning] = []

        def data_of(file: Path, layer: LayerName, *, is_named: bool = False) -> dict[str, Json]:
            try:
                return parse_settings_file(contents[file], must_exist=is_named)
            except FileProblem as problem:
                warnings.append(
                    SettingsWarning(
                        WarningKind.UNREADABLE, layer, str(file), str(problem), line=problem.line
                    )
                )
                return {}

        layers = [
            SettingsLayer(name, str(file), data_of(file, name))
            for name, file in self._layer_files.items()
        ]
        named = [
            replace(each, data=data_of(Path(each.file), LayerName.ENVIRONMENT, is_named=True))
            for each in self._variable_files
        ]
        variables, unknown = environment_layer(self._environment, named)
        return resolve(
            [*layers, variables, self._flags],
            [*warnings, *unknown],
            is_trusted=self._is_trusted,
        )

    def _notify(self, notice: ConfigNotice) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(notice)
            except Exception:
                # A border: one listener's fault must not keep the others from hearing.
                _logger.exception("A listener failed on %r", notice.message)

    def _tell_log(self, loaded: LoadedSettings) -> None:
        for warning in loaded.warnings:
            _logger.warning("%s", warning)
        if loaded.warnings:
            _logger.warning("%s", loaded.summary)


def _layer_files(project: Project | None, user_dir: Path) -> dict[LayerName, Path]:
    files = {LayerName.USER: user_dir.absolute() / CONFIG_FILE}
    if project is not None:
        files[LayerName.PROJECT] = project.brought / CONFIG_FILE
        files[LayerName.LOCAL] = project.local / CONFIG_FILE
    return files


def _can_receive_hangup() -> bool:
    is_main_thread = threading.current_thread() is threading.main_thread()
    return hasattr(signal, "SIGHUP") and is_main_thread
