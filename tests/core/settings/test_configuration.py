"""Settings from real files, read again when they change."""

import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest

from callboard.core.settings import LayerName, WarningKind
from callboard.studio.configuration import ConfigNotice, Configuration, NoticeKind
from callboard.studio.project import Project

pytestmark = pytest.mark.anyio


class House:
    """A project and a user with their settings files."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        Project.init(self.root)
        self.project = self.root / ".callboard" / "config.yaml"
        self.project.unlink()
        self.local = self.root / ".callboard" / "local" / "config.yaml"
        self.user = folder / "user" / "config.yaml"
        self.environment = {"CALLBOARD_CONFIG_DIR": str(self.user.parent)}

    def write(self, file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def open(self, **variables: str) -> Configuration:
        return Configuration(Project(self.root), environment={**self.environment, **variables})


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.req("TOOL-77")
def test_no_files_at_all_means_the_defaults(house: House) -> None:
    configuration = house.open()
    assert configuration.loaded.warnings == ()
    assert configuration.settings.models.default == "local"
    assert not house.project.exists()


@pytest.mark.req("TOOL-75", "TOOL-77")
def test_files_environment_and_flags_in_their_order(house: House) -> None:
    house.write(
        house.project, "log: {level: debug, format: json}\nengine: {resume_on_start: manual}\n"
    )
    assert house.open().settings.log.level == "debug"
    house.write(house.user, "log: {level: warn}\n")
    assert house.open().settings.log.level == "warn"
    house.write(house.local, "log: {level: error}\n")
    assert house.open().settings.log.level == "error"
    assert house.open(CALLBOARD_LOG_LEVEL="info").settings.log.level == "info"
    flagged = Configuration(
        Project(house.root),
        environment={**house.environment, "CALLBOARD_LOG_LEVEL": "info"},
        flags={"log": {"level": "debug"}},
    )
    assert flagged.settings.log.level == "debug"
    assert flagged.settings.log.format == "json"
    assert flagged.settings.engine.resume_on_start == "manual"
    assert flagged.loaded.origins["log.level"].layer is LayerName.FLAGS
    assert flagged.loaded.origins["log.format"].source == str(house.project)


def test_without_a_project_the_users_settings_hold(house: House) -> None:
    house.write(house.user, "log: {level: warn}\n")
    assert Configuration(None, environment=house.environment).settings.log.level == "warn"


@pytest.mark.req("TOOL-79")
def test_a_file_named_by_a_variable_is_read(house: House, tmp_path: Path) -> None:
    house.write(tmp_path / "p.yaml", "acme: {base_url: 'https://acme'}\n")
    configuration = house.open(CALLBOARD_MODELS_PROVIDERS_FILE=str(tmp_path / "p.yaml"))
    assert configuration.settings.models.providers["acme"].base_url == "https://acme"
    missing = house.open(CALLBOARD_MODELS_FILE=str(tmp_path / "none.yaml"))
    (warning,) = missing.loaded.warnings
    assert (warning.kind, warning.source) == (
        WarningKind.UNREADABLE,
        str(tmp_path / "none.yaml"),
    )


@pytest.mark.req("TOOL-81", "TOOL-82")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("log:\n  level: debug\n bad: indent\n", 3),
        ("log: [1, 2\n", 2),
        ("a: 1\nb: *nowhere\n", 2),
        ("a: &x 1\nb: *x\n", 2),
        ("when: 2024-13-45\n", None),
        ("- a\n- b\n", None),
        ("just words\n", None),
        ("a: !!python/object:os.system {}\n", 1),
        ("x: " + "[" * 500_000, 1),
        ("x: 1\n" + "y:\n" + "".join(" " * n + "y:\n" for n in range(1, 90)), 52),
        ("#" * 2_000_000, None),
    ],
    ids=range(11),
)
def test_a_file_that_cannot_be_read_is_told_and_passed_over(
    house: House, caplog: pytest.LogCaptureFixture, text: str, line: int | None
) -> None:
    house.write(house.user, text)
    house.write(house.project, "log: {level: debug}\n")
    with caplog.at_level(logging.WARNING):
        configuration = house.open()
    (warning,) = configuration.loaded.warnings
    assert (warning.kind, warning.source, warning.line) == (
        WarningKind.UNREADABLE,
        str(house.user),
        line,
    )
    assert configuration.settings.log.level == "debug"
    assert str(warning) in caplog.text
    assert "Config loaded with 1 warning" in caplog.text


def test_bytes_that_are_no_text_are_told_with_their_line(house: House) -> None:
    house.write(house.user, "")
    house.user.write_bytes(b"log:\n  level: \xff\n")
    (warning,) = house.open().loaded.warnings
    assert warning.line == 2


def test_a_folder_in_place_of_a_file_is_told(house: House) -> None:
    house.user.mkdir(parents=True)
    (warning,) = house.open().loaded.warnings
    assert warning.kind is WarningKind.UNREADABLE


@pytest.mark.req("TOOL-82")
def test_the_log_ends_with_the_number_of_warnings(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.write(house.user, "log: {level: loud, format: 7}\n")
    with caplog.at_level(logging.WARNING):
        house.open()
    assert caplog.messages[-1] == "Config loaded with 2 warnings"
    assert any("log.level" in message for message in caplog.messages)


def test_a_valid_reload_swaps_and_tells_every_listener(house: House) -> None:
    configuration = house.open()
    before = configuration.loaded
    heard: list[ConfigNotice] = []
    configuration.listen(heard.append)
    stop = configuration.listen(heard.append)
    house.write(house.user, "log: {level: debug}\n")
    notice = configuration.reload()
    assert (notice.kind, notice.message) == (NoticeKind.RELOADED, "Config reloaded")
    assert configuration.settings.log.level == "debug"
    assert before.settings.log.level == "info"
    assert heard == [notice, notice]
    stop()
    configuration.reload()
    assert len(heard) == 3


@pytest.mark.req("TOOL-86")
@pytest.mark.parametrize(
    "text", ["log: {level: loud, format: json}\n", "log: [\n", "- a list\n"], ids=range(3)
)
def test_an_invalid_reload_keeps_everything_and_says_why(
    house: House, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    house.write(house.user, "log: {level: debug}\n")
    configuration = house.open()
    before = configuration.loaded
    heard: list[ConfigNotice] = []
    configuration.listen(heard.append)
    house.write(house.user, text)
    with caplog.at_level(logging.ERROR):
        notice = configuration.reload()
    assert notice.kind is NoticeKind.FAILED
    assert notice.message.startswith(f"Config reload failed: {house.user}")
    assert notice.message in caplog.messages
    assert heard == [notice]
    assert configuration.loaded is before is notice.loaded


def test_what_a_restart_alone_can_mend_does_not_block_reloads(house: House) -> None:
    configuration = house.open(CALLBOARD_LOG_FORMAT="odd")
    house.write(house.user, "log: {level: debug, colour: red}\n")
    assert configuration.reload().kind is NoticeKind.RELOADED
    assert configuration.settings.log.level == "debug"


def test_a_failing_listener_does_not_silence_the_others(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: ConfigNotice) -> None:
        raise ZeroDivisionError

    configuration = house.open()
    heard: list[ConfigNotice] = []
    configuration.listen(fail)
    configuration.listen(heard.append)
    with caplog.at_level(logging.ERROR):
        configuration.reload()
    assert len(heard) == 1
    assert "ZeroDivisionError" in caplog.text


class Notices:
    """Hears a configuration and lets a test wait for what it says next."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.send, self.receive = anyio.create_memory_object_stream[ConfigNotice](100)
        configuration.listen(self.send.send_nowait)

    async def next(self) -> ConfigNotice:
        with anyio.fail_after(20):
            return await self.receive.receive()


@asynccontextmanager
async def watched(configuration: Configuration, quiet_ms: int = 50) -> AsyncIterator[Notices]:
    notices = Notices(configuration)
    with notices.send, notices.receive:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(configuration.watch, quiet_ms=quiet_ms))
            yield notices
            tasks.cancel_scope.cancel()


@pytest.mark.req("TOOL-83")
async def test_files_that_did_not_exist_at_the_start_are_noticed(house: House) -> None:
    configuration = house.open()
    async with watched(configuration) as notices:
        for file, level in (
            (house.project, "debug"),
            (house.user, "warn"),
            (house.local, "error"),
        ):
            house.write(file, f"log: {{level: {level}}}\n")
            assert (await notices.next()).kind is NoticeKind.RELOADED
            assert configuration.settings.log.level == level


@pytest.mark.req("TOOL-83")
async def test_a_file_put_in_place_by_renaming_is_noticed(house: House) -> None:
    house.write(house.user, "log: {level: debug}\n")
    configuration = house.open()
    async with watched(configuration) as notices:
        draft = house.user.with_suffix(".tmp")
        house.write(draft, "log: {level: warn}\n")
        draft.replace(house.user)
        await notices.next()
        assert configuration.settings.log.level == "warn"
        house.user.unlink()
        await notices.next()
        assert configuration.settings.log.level == "info"


@pytest.mark.req("TOOL-84")
async def test_a_burst_of_changes_is_one_reload(house: House) -> None:
    house.write(house.user, "")
    configuration = house.open()
    async with watched(configuration, quiet_ms=1000) as notices:
        house.write(house.user, "log: {level: warn}\n")
        await notices.next()
        for level in ("debug", "error", "info", "debug"):
            house.write(house.user, f"log: {{level: {level}}}\n")
            house.write(house.user.with_name("other.yaml"), level)
            await anyio.sleep(0.15)  # an editor's pause, shorter than the quiet time
        await notices.next()
        assert configuration.settings.log.level == "debug"
        house.write(house.user, "log: {level: error}\n")
        assert (await notices.next()).loaded.settings.log.level == "error"
        assert notices.receive.statistics().current_buffer_used == 0


@pytest.mark.req("TOOL-83", "TOOL-86")
async def test_a_mistake_in_a_watched_file_is_told_once_and_mended_later(house: House) -> None:
    configuration = house.open()
    async with watched(configuration) as notices:
        house.write(house.user, "log: {level: loud}\n")
        assert (await notices.next()).kind is NoticeKind.FAILED
        house.write(house.user, "log: {level: warn}\n")
        assert (await notices.next()).kind is NoticeKind.RELOADED
        assert configuration.settings.log.level == "warn"


@pytest.mark.req("TOOL-83")
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
async def test_a_hangup_reloads_even_when_nothing_changed(house: House) -> None:
    configuration = house.open()
    async with watched(configuration) as notices:
        # The signal would end the process before the watcher has taken it over.
        with anyio.fail_after(20):
            while signal.getsignal(signal.SIGHUP) in (signal.SIG_DFL, signal.SIG_IGN):
                await anyio.lowlevel.checkpoint()
        os.kill(os.getpid(), signal.SIGHUP)
        assert (await notices.next()).kind is NoticeKind.RELOADED
