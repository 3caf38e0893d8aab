"""A provider that repeats everything it is sent: the key appears in nothing the system writes."""

import base64
import gc
import json
import logging
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.core.vocabulary import RunState
from callboard.models import ProviderConfig, RemoteProvider
from callboard.models.credentials import Credentials, EncryptedFile, Keychain, Secret
from callboard.models.credentials.ties import Tie, Ties, address_of
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio

SCRIPT = Path(sys.executable).with_name("callboard")
MODEL = "house:tiny"
RETRIED = ("transient", "external_rate_limit", "external_degrading")


@pytest.fixture
def debug_log(tmp_path: Path) -> Iterator[Path]:
    """Every word any library logs, at the most talkative level."""
    path = tmp_path / "debug.log"
    root, handler = logging.getLogger(), logging.FileHandler(path)
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield path
    root.removeHandler(handler)
    root.setLevel(before)
    handler.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "story"
    root.mkdir()
    Project.init(root)
    (root / "one.md").write_text("# One\n\nThe lighthouse stands.\n")
    return root


def traces(key: str) -> list[bytes]:
    """Return the ways a key may stand in a file: whole, in part, encoded."""
    whole = key.encode()
    return [whole, whole[8:20], base64.b64encode(whole)[:16], whole.hex().encode()]


def guilty(folder: Path, key: str) -> list[str]:
    found: list[str] = []
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else path.name.encode()
        if any(trace in data for trace in traces(key)):
            found.append(str(path))
    return found


@pytest.mark.anyio
@pytest.mark.req("LLM-08")
@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
async def test_a_run_against_an_echoing_provider_leaves_no_trace_of_the_key(
    tmp_path: Path,
    project: Path,
    debug_log: Path,
    provider: Any,
    bad_key: str,
    status: int,
    no_keyring: Keychain,
    capfd: pytest.CaptureFixture[str],
) -> None:
    provider.status = status
    file = EncryptedFile(tmp_path / "config", machine=lambda: "m", user=lambda: "u")
    credentials = Credentials({}, no_keyring, file)
    credentials.save("house", Secret(bad_key))
    configs = {"house": ProviderConfig(base_url=provider.url)}
    ties = Ties(given=[Tie("house", address_of(provider.url))])
    opening = Opening(
        providers={"house": RemoteProvider({}, configs, keys=credentials, ties=ties)},
        flags={
            "models": {"default": MODEL},
            "errors": {"retry": {tier: {"max_attempts": 1} for tier in RETRIED}},
        },
    )
    async with Studio.open(project, opening) as studio:
        run = await studio.start("recipe", {})
        ended = await studio.engine.wait(run.id)
        shown = _reprs()
        shown += [json.dumps(ended.error.to_json() if ended.error else None), repr(ended)]
    assert ended.state is RunState.FAILED
    assert ended.error is not None
    assert ended.error.context["status"] == status
    assert any(bad_key in each for each in provider.sent), "the key must have been sent"
    said = capfd.readouterr()
    (tmp_path / "said.txt").write_text(said.out + said.err)
    (tmp_path / "shown.txt").write_text("\n".join(shown))
    _check_written(project, debug_log)
    assert guilty(tmp_path, bad_key) == []


def _check_written(project: Path, debug_log: Path) -> None:
    """A test that looked at nothing would prove nothing."""
    logged = debug_log.read_text()
    assert "receive_response_headers" in logged
    assert "[key removed]" in logged
    assert (project / ".callboard" / "callboard.db").stat().st_size > 0
    assert list((project / ".callboard" / "runs").iterdir())


def _reprs() -> list[str]:
    """Show every object of ours there is."""
    ours = [each for each in gc.get_objects() if str(type(each).__module__).startswith("callboard")]
    assert len(ours) > 50
    return [f"{each!r} {each}" for each in ours]


@pytest.mark.anyio
@pytest.mark.req("LLM-08")
async def test_the_error_itself_and_all_behind_it_are_clean(provider: Any, bad_key: str) -> None:
    from callboard.core.errors import ProviderError
    from callboard.models import DirectGate, Message, ModelRequest

    configs = {"house": ProviderConfig(base_url=provider.url, api_key_env="HOUSE_KEY")}
    gate = DirectGate({}, fallback=RemoteProvider({"HOUSE_KEY": bad_key}, configs))
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ModelRequest(MODEL, (Message("user", "hi"),)))
    await gate.close()
    printed = "".join(traceback.format_exception(caught.value))
    link: BaseException | None = caught.value
    while link is not None:
        printed += f"{link!r} {vars(link)!r}"
        link = link.__cause__ or link.__context__
    assert "[key removed]" in printed
    assert not any(trace.decode() in printed for trace in traces(bad_key))


@pytest.mark.req("LLM-08")
def test_the_command_line_says_nothing_of_the_key_even_with_debug(
    tmp_path: Path, project: Path, provider: Any, bad_key: str
) -> None:
    environment = {
        **os.environ,
        "HOUSE_KEY": bad_key,
        "CALLBOARD_MODELS_PROVIDERS_HOUSE_BASE_URL": provider.url,
        "CALLBOARD_MODELS_PROVIDERS_HOUSE_API_KEY_ENV": "HOUSE_KEY",
        "PYTHONWARNINGS": "ignore",
    }
    for number, words in enumerate(
        (
            ("run", "recipe", "--model", MODEL, "--debug"),
            ("runs", "show", "last", "--json"),
            ("config", "show"),
            ("models", "test", MODEL, "--debug"),
            ("doctor",),
            ("auth", "status"),
        )
    ):
        done = subprocess.run(
            [str(SCRIPT), *words], cwd=project, env=environment, capture_output=True, check=False
        )
        (tmp_path / f"said-{number}.txt").write_bytes(done.stdout + done.stderr)
        assert done.stdout + done.stderr
    assert any(bad_key in each for each in provider.sent)
    assert guilty(tmp_path, bad_key) == []


@pytest.mark.anyio
async def test_the_loggers_of_others_are_left_as_they_were(provider: Any, bad_key: str) -> None:
    from callboard.core.errors import ProviderError
    from callboard.models import DirectGate, Message, ModelRequest
    from callboard.models.providers.wire import WireLog

    configs = {"house": ProviderConfig(base_url=provider.url, api_key_env="HOUSE_KEY")}
    gate = DirectGate({}, fallback=RemoteProvider({"HOUSE_KEY": bad_key}, configs))
    with pytest.raises(ProviderError):
        await gate.complete(ModelRequest(MODEL, (Message("user", "hi"),)))
    assert _wire_logs(WireLog)
    await gate.close()
    assert not _wire_logs(WireLog)


def _wire_logs(kind: type) -> list[Any]:
    loggers = [logging.getLogger(name) for name in logging.Logger.manager.loggerDict]
    return [each for logger in loggers for each in logger.filters if isinstance(each, kind)]


def test_an_exception_that_is_logged_with_the_key_is_rewritten(
    bad_key: str, caplog: pytest.LogCaptureFixture
) -> None:
    from callboard.models.providers.wire import WireLog

    logger, log = logging.getLogger("openai._base_client"), WireLog()
    log.watch(Secret(bad_key))
    try:
        raise ValueError(f"bad {bad_key}")
    except ValueError:
        logger.exception("it was %s", bad_key)
    finally:
        log.release()
    assert bad_key not in caplog.text
    assert "ValueError: bad [key removed]" in caplog.text
    assert "it was [key removed]" in caplog.text
