"""The server from the command line: announced when it answers, closed in good order."""

import json
import signal
import socket
from pathlib import Path

import httpx
from clitools import Background, Here, call

from callboard.cli import exits


def test_the_address_is_told_once_the_server_answers(project: Path) -> None:
    with Background("serve", "--port", "0", cwd=project) as server:
        assert server.process.stdout is not None
        told = json.loads(server.process.stdout.readline())
        assert told["project"] == str(project) and told["page"] is None
        # No second try: who reads the address may use it.
        assert httpx.get(f"{told['url']}/health").json()["status"] == "ok"
        assert httpx.get(f"{told['url']}/runs").json() == []
        assert list((project / ".callboard" / "locks").iterdir())
        server.process.send_signal(signal.SIGTERM)
        server.end()
    assert list((project / ".callboard" / "locks").iterdir()) == []


def test_a_project_that_cannot_be_opened_is_told_like_any_error(project: Path) -> None:
    assert call("sessions", "create", "one", cwd=project).code == exits.OK
    (project / ".callboard" / "callboard.db").write_bytes(b"\xa5" * 8192)
    refused = call("serve", "--port", "0", "--json", cwd=project)
    assert refused.code == exits.FAILED, refused
    assert refused.json["error"]["code"] == "database_corrupt"
    assert "Traceback" not in refused.err


def test_a_port_in_use_is_told(here: Here) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = here("serve", "--port", str(taken.getsockname()[1]))
    assert refused.code == exits.USAGE
    assert "Choose another port" in refused.err


def test_a_server_reads_changed_settings_again_and_says_so(project: Path) -> None:
    settings = project / ".callboard" / "config.yaml"
    with Background("serve", "--port", "0", cwd=project) as server:
        assert server.process.stdout is not None and server.process.stderr is not None
        url = json.loads(server.process.stdout.readline())["url"]
        server.process.send_signal(signal.SIGHUP)
        assert server.process.stderr.readline() == "Config reloaded\n"
        settings.write_text("context: {summarise: perhaps}\n")
        told = ""
        while "Config reload failed: " not in told:
            told = server.process.stderr.readline()
        assert "context.summarise" in told
        # What was in force stays, and the server goes on.
        assert httpx.get(f"{url}/health").json()["status"] == "ok"
        settings.write_text("context: {summarise: false}\n")
        while "Config reloaded" not in server.process.stderr.readline():
            pass
        server.process.send_signal(signal.SIGTERM)
        server.end()
