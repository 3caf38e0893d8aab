"""The user's own key, wherever it stands, is neither stored nor sent."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.cli import exits
from callboard.cli.main import main
from callboard.models import Message, ModelRequest, Script
from callboard.models.credentials import Credentials
from callboard.models.credentials.discretion import Discretion, HiddenStream
from callboard.models.credentials.secret import HIDDEN, Scrubber, Secret
from callboard.models.types import Finished, TextChunk
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted

KEY = 'sk-mine-"0123\\456789'
PLAIN = "sk-mine-0123456789abcdef"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CALLBOARD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("OPENAI_API_KEY", PLAIN)
    root = tmp_path / "book"
    Project.init(root)
    (root / "notes.md").write_text(f"# Notes\n\nMy key is {PLAIN}, do not tell.\n")
    return root


def stored(folder: Path) -> bytes:
    """Everything Callboard has written below a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_a_key_in_a_file_does_not_reach_receipts_database_or_mirrors(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tool", "run", "read_file", "--arg", "path=notes.md", "--project", str(project)]
    assert main([*words, "--json"]) == exits.OK
    assert PLAIN not in capsys.readouterr().out
    kept = stored(project / ".callboard") + stored(tmp_path / "data")
    assert PLAIN.encode() not in kept
    assert HIDDEN.encode() in kept
    assert main(["receipts", "verify", "--project", str(project)]) == exits.OK


@pytest.mark.anyio
async def test_a_key_is_neither_sent_nor_kept_when_a_model_repeats_it(project: Path) -> None:
    script = Script(lambda request: f"You said {PLAIN}. So: {request.prompt_text[-40:]}")
    async with open_scripted(project, script) as studio:
        asked = ModelRequest("script", (Message("user", f"my key is {PLAIN}"),))
        reply = await studio.gate.complete(asked)
        assert PLAIN not in reply.text
        shown = ""
        async for chunk in studio.gate.stream(asked):
            if isinstance(chunk, TextChunk):
                shown += chunk.text
            elif isinstance(chunk, Finished):
                assert shown == chunk.reply.text
        run = await studio.start(
            "examples/conference", {"question": f"Is {PLAIN} good?", "query": PLAIN}
        )
        await studio.engine.wait(run.id)
    assert script.calls
    for call in script.calls:
        assert PLAIN not in call.request.prompt_text
    assert PLAIN.encode() not in stored(project / ".callboard")


def test_a_short_value_and_what_only_looks_like_a_key_stay(tmp_path: Path) -> None:
    keys = Credentials.open({"OPENAI_API_KEY": "short", "GROQ_API_KEY": PLAIN}, tmp_path)
    names = [("openai", ("OPENAI_API_KEY",)), ("groq", ("GROQ_API_KEY",))]
    discretion = Discretion(keys, names)
    text = "a short talk about sk-other-0123456789abcdef0123"
    assert discretion.hide(text) == text
    assert discretion.hide_json({PLAIN: [PLAIN, 1]}) == {HIDDEN: [HIDDEN, 1]}


def test_without_keys_nothing_is_touched(tmp_path: Path) -> None:
    discretion = Discretion(Credentials.open({}, tmp_path), [("openai", ("OPENAI_API_KEY",))])
    value = {"a": [PLAIN]}
    assert not discretion.is_needed
    assert discretion.hide_json(value) is value


@given(st.lists(st.sampled_from([KEY, KEY[:9], KEY[9:], "x", "sk-", "\n"]), max_size=8), st.data())
def test_however_a_reply_is_cut_no_key_is_shown(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    scrubber = Scrubber([Secret(KEY)])
    stream = HiddenStream(scrubber)
    shown, rest = "", text
    while rest:
        length = data.draw(st.integers(1, len(rest)))
        shown += stream.feed(rest[:length])
        rest = rest[length:]
    shown += stream.end()
    assert KEY not in shown
    assert shown == scrubber.hide(text)
