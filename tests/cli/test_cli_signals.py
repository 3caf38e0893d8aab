"""Ctrl-C and SIGTERM end every command and the server, whatever is being worked on."""

import contextlib
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from clitools import Background

from callboard.cli import exits

STARTED = "started"
BURN = """
import asyncio, sys
from callboard.cli.bridge import perform

def burn():
    print("started", flush=True)
    while True:
        pass

async def work(_interrupt):
    {how}

sys.exit(perform(work))
"""
HOW = {
    "a thread of the loop's pool": "await asyncio.to_thread(burn)",
    "the loop itself": "burn()",
    "nothing that takes notice": "print('started', flush=True); await asyncio.Event().wait()",
}
PACK = """
import asyncio
from callboard.core.vocabulary import Effect
from callboard.tools import ToolArgs, ToolContext, ToolResult, tool

class Nothing(ToolArgs):
    pass

def burn(context):
    context.files.root.joinpath("started").write_text("")
    while True:
        pass

@tool(effect=Effect.ONCE, timeout_seconds=3600)
def burns_in_a_thread(context: ToolContext, args: Nothing) -> ToolResult:
    "Burn."
    burn(context)

@tool(effect=Effect.ONCE, timeout_seconds=3600)
async def burns_in_the_pool(context: ToolContext, args: Nothing) -> ToolResult:
    "Burn."
    await asyncio.to_thread(burn, context)
"""
DECLARED = """
name: fire
title: Fire
description: Burns.
agents: []
tools:
  - fire.py:burns_in_a_thread
  - fire.py:burns_in_the_pool
"""


# The deadlines in the same order, without the patience; only a library that lets no other thread
# run ever gets to the last.
EARLY = """
import callboard.cli.bridge as b
assert 0 < b._ORDERLY_SECONDS < b._END_SECONDS < b._KILL_SECONDS < 60
b._ORDERLY_SECONDS, b._END_SECONDS, b._KILL_SECONDS = 0.2, 1.0, 60.0
"""


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_ends_a_command(how: str, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", EARLY + BURN.format(how=HOW[how])], stdout=subprocess.PIPE, text=True
    ) as command:
        try:
            assert command.stdout is not None
            assert command.stdout.readline().strip() == STARTED
            command.send_signal(number)
            assert command.wait(timeout=60) == exits.INTERRUPTED
        finally:
            command.kill()


def test_a_second_signal_ends_a_command_at_once() -> None:
    code = BURN.format(how=HOW["the loop itself"])
    # The deadlines are put off: what ends the process is the second signal.
    late = "import callboard.cli.bridge as b; b._END_SECONDS = b._KILL_SECONDS = 3600.0\n"
    with subprocess.Popen(
        [sys.executable, "-c", late + code], stdout=subprocess.PIPE, text=True
    ) as command:
        try:
            assert command.stdout is not None
            assert command.stdout.readline().strip() == STARTED
            command.send_signal(signal.SIGTERM)
            while command.poll() is None:
                command.send_signal(signal.SIGTERM)
            assert command.returncode == exits.INTERRUPTED
        finally:
            command.kill()


@pytest.mark.parametrize("tool", ["burns_in_a_thread", "burns_in_the_pool"])
def test_one_signal_ends_a_server_with_a_request_that_never_ends(
    project: Path, tmp_path: Path, tool: str
) -> None:
    pack = tmp_path / "fire"
    pack.mkdir()
    (pack / "fire.py").write_text(PACK)
    (pack / "pack.yaml").write_text(DECLARED)
    with Background("serve", "--port", "0", "--pack", str(pack), cwd=project) as server:
        assert server.process.stdout is not None
        url = json.loads(server.process.stdout.readline())["url"]

        def ask() -> None:
            headers = {"X-Callboard": "1"}
            with contextlib.suppress(httpx.TransportError):
                httpx.post(f"{url}/tools/{tool}/run", json={}, headers=headers, timeout=3600)

        asking = threading.Thread(target=ask)
        asking.start()
        while not (project / STARTED).exists():
            assert httpx.get(f"{url}/health", timeout=60).status_code == 200
        assert httpx.get(f"{url}/health", timeout=60).status_code == 200
        server.process.send_signal(signal.SIGTERM)
        ended = server.end()
        asking.join()
    assert ended.code in (-signal.SIGTERM, exits.INTERRUPTED), ended
