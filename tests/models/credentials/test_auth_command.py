"""`callboard auth` as a user types it: prompt, pipe, warning, check, store, list, forget."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from callboard.cli import exits
from callboard.cli.main import main
from callboard.models.credentials import EncryptedFile, Secret
from warm_process import call_warm

SCRIPT = Path(sys.executable).with_name("callboard")


@dataclass
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: Any) -> Path:
    """A user's configuration folder in which the provider `house` is known; no keys anywhere."""
    folder = tmp_path / "config"
    folder.mkdir()
    at_server = {"base_url": provider.url}
    settings = {"models": {"providers": {"house": at_server, "openai": dict(at_server)}}}
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    monkeypatch.setenv("CALLBOARD_CONFIG_DIR", str(folder))
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def auth(config: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    assert config.is_dir()

    def run(*words: str) -> Ended:
        capsys.readouterr()
        code = main(["auth", *words])
        told = capsys.readouterr()
        return Ended(code, told.out, told.err)

    return run


def piped(*words: str, text: str, cwd: Path) -> Ended:
    done = call_warm("auth", *words, cwd=cwd, stdin=text)
    return Ended(done.returncode, done.stdout, done.stderr)


def stored(config: Path, profile: str, provider: str) -> Secret | None:
    return EncryptedFile(config).get(profile, provider)


@pytest.mark.req("TOOL-93")
def test_a_key_is_asked_for_without_echo_checked_and_stored(
    config: Path, provider: Any, good_key: str
) -> None:
    main_end, user_end = pty.openpty()
    process = subprocess.Popen(
        [str(SCRIPT), "auth", "house"],
        stdin=user_end,
        stdout=subprocess.PIPE,
        stderr=user_end,
        start_new_session=True,
        text=True,
    )
    os.close(user_end)
    seen = _read_until(main_end, "not shown): ")
    os.write(main_end, f"{good_key}\n".encode())
    out, _ = process.communicate(timeout=60)
    seen += _read_rest(main_end)
    os.close(main_end)
    assert process.returncode == 0, seen
    assert "API key of house" in seen
    assert good_key not in seen + out
    assert "house accepts the key" in out
    assert provider.paths == ["/v1/models"]
    assert stored(config, "default", "house") == Secret(good_key)


def _read_until(file: int, text: str) -> str:
    seen = ""
    while text not in seen:
        seen += os.read(file, 1000).decode()
    return seen


def _read_rest(file: int) -> str:
    try:
        return os.read(file, 1000).decode()
    except OSError:
        return ""


@pytest.mark.req("TOOL-93")
def test_a_refused_key_is_not_stored(config: Path, tmp_path: Path, bad_key: str) -> None:
    ended = piped("house", "--key-file", "-", text=f"{bad_key}\n", cwd=tmp_path)
    assert ended.code == 6
    assert "Invalid API key for house" in ended.err
    assert bad_key not in ended.out + ended.err
    assert stored(config, "default", "house") is None
    assert not EncryptedFile(config).path.exists()


def test_a_refused_key_does_not_replace_a_good_one(
    auth: Callable[..., Ended], config: Path, tmp_path: Path, good_key: str, bad_key: str
) -> None:
    for name, key in (("good", good_key), ("bad", bad_key)):
        (tmp_path / name).write_text(f"  {key}\n")
    assert auth("house", "--key-file", "good").code == 0
    assert auth("house", "--key-file", "bad").code == 6
    assert stored(config, "default", "house") == Secret(good_key)


@pytest.mark.req("TOOL-93")
def test_a_key_on_the_command_line_works_with_a_warning(
    auth: Callable[..., Ended], config: Path, good_key: str
) -> None:
    ended = auth("openai", "--api-key", good_key)
    assert ended.code == 0
    assert "Warning" in ended.err
    assert "history" in ended.err
    assert good_key not in ended.out + ended.err
    assert stored(config, "default", "openai") == Secret(good_key)


def test_without_a_check_nobody_is_asked(
    auth: Callable[..., Ended], tmp_path: Path, provider: Any, bad_key: str
) -> None:
    (tmp_path / "key").write_text(bad_key)
    ended = auth("house", "--key-file", "key", "--no-verify", "--json")
    assert ended.json["stored_in"] == "file"
    assert ended.json["is_verified"] is False
    assert ended.json["ending"] == bad_key[-4:]
    assert bad_key not in ended.out
    assert not provider.paths


@pytest.mark.req("TOOL-90", "TOOL-93")
def test_profiles_keep_their_keys_apart(
    auth: Callable[..., Ended],
    config: Path,
    tmp_path: Path,
    good_key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "key").write_text(good_key)
    assert auth("house", "--profile", "work", "--key-file", "key").code == 0
    assert stored(config, "work", "house") == Secret(good_key)
    assert stored(config, "default", "house") is None
    assert not _row(auth("status", "--json"), "house")["has_key"]
    assert _row(auth("status", "--profile", "work", "--json"), "house")["has_key"]
    monkeypatch.setenv("CALLBOARD_PROFILE", "work")
    assert _row(auth("status", "--json"), "house")["has_key"]
    assert auth("house", "--profile", "no/such", "--key-file", "key").code == 2


def test_status_says_where_keys_come_from_and_shows_only_endings(
    auth: Callable[..., Ended],
    tmp_path: Path,
    good_key: str,
    bad_key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "key").write_text(good_key)
    auth("house", "--key-file", "key")
    monkeypatch.setenv("GROQ_API_KEY", bad_key)
    told = auth("status", "--json")
    assert told.json["profile"] == "default"
    house, groq, mistral = (_row(told, name) for name in ("house", "groq", "mistral"))
    assert (house["from"], house["ending"]) == ("encrypted file", good_key[-4:])
    assert (groq["from"], groq["ending"]) == ("GROQ_API_KEY", bad_key[-4:])
    assert (mistral["has_key"], mistral["variables"]) == (False, ["MISTRAL_API_KEY"])
    table = auth("status")
    assert table.code == 0
    assert "encrypted file" in table.out
    for ended in (told, table):
        for key in (good_key, bad_key):
            assert key[:-4][-6:] not in ended.out


def test_an_environment_variable_that_wins_is_mentioned(
    auth: Callable[..., Ended],
    tmp_path: Path,
    good_key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another-key-of-mine")
    (tmp_path / "key").write_text(good_key)
    assert "OPENAI_API_KEY is set" in auth("openai", "--key-file", "key").err
    removed = auth("remove", "openai")
    assert "OPENAI_API_KEY is still set" in removed.err


def test_a_removed_key_is_gone_and_removing_again_says_so(
    auth: Callable[..., Ended], config: Path, tmp_path: Path, good_key: str
) -> None:
    (tmp_path / "key").write_text(good_key)
    auth("house", "--key-file", "key")
    assert auth("remove", "house", "--json").json["removed_from"] == ["file"]
    assert stored(config, "default", "house") is None
    assert auth("remove", "house").code == 4


@pytest.mark.req("TOOL-94")
def test_an_unknown_provider_is_refused_before_anything_is_asked(
    auth: Callable[..., Ended], good_key: str
) -> None:
    ended = auth("opneai", "--api-key", good_key)
    assert ended.code == exits.NOT_FOUND
    assert "openai" in ended.err
    mistaken = auth(good_key)
    assert mistaken.code == exits.NOT_FOUND
    assert good_key not in mistaken.err, "a key typed in the wrong place is not repeated"


def test_no_terminal_and_no_file_says_how_to_pipe(
    auth: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        ended = auth("house")
    assert ended.code == 2
    assert "--key-file -" in ended.err
    assert auth("house", "--api-key", "a", "--key-file", "b").code == 2


def test_a_damaged_file_is_told_and_the_environment_still_counts(
    auth: Callable[..., Ended], config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    EncryptedFile(config).set("default", "house", Secret("k"))
    (config / "credentials.enc").write_text("rubbish")
    monkeypatch.setenv("GROQ_API_KEY", "a-key-in-the-environment")
    told = auth("status", "--json")
    assert told.code == 6
    assert "credentials.enc" in told.json["problem"]["message"]
    assert _row(told, "groq")["has_key"]
    ended = auth("status")
    assert "Way out" in ended.err
    assert "delete credentials.enc" in ended.err


@pytest.mark.parametrize("words", [("--help",), ("house", "--help"), ("status", "--help")])
def test_help_is_there(auth: Callable[..., Ended], words: tuple[str, ...]) -> None:
    ended = auth(*words)
    assert ended.code == 0
    assert "callboard auth" in ended.out


def _row(ended: Ended, provider: str) -> Any:
    (row,) = [each for each in ended.json["providers"] if each["provider"] == provider]
    return row
