"""The encrypted file: nobody else can open it, nothing in it gets lost."""

import base64
import json
import multiprocessing
import os
import stat
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.models.credentials import (
    CredentialsUnreadable,
    CredentialsUnusable,
    EncryptedFile,
    Secret,
    encrypted_file,
)
from callboard.models.credentials.encrypted_file import (
    BrokenSeal,
    derive_key,
    machine_id,
    open_seal,
    seal,
    user_name,
)


def at(folder: Path, machine: str = "machine-1", user: str = "ada") -> EncryptedFile:
    return EncryptedFile(folder, machine=lambda: machine, user=lambda: user)


@pytest.mark.req("LLM-07", "TOOL-91")
def test_keys_are_kept_per_profile_and_nothing_of_them_is_readable(tmp_path: Path) -> None:
    file = at(tmp_path)
    file.set("default", "openai", Secret("key-of-openai"))
    file.set("work", "openai", Secret("key-at-work"))
    again = at(tmp_path)
    assert again.get("default", "openai") == Secret("key-of-openai")
    assert again.get("work", "openai") == Secret("key-at-work")
    assert again.get("default", "groq") is None
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for word in (b"key-of-openai", b"key-at-work", b"openai", b"work"):
        assert word not in raw


@pytest.mark.req("TOOL-91")
def test_both_files_are_for_their_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        at(tmp_path).set("default", "openai", Secret("k"))
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"credentials.enc": 0o600, "credentials.salt": 0o600}


@pytest.mark.req("TOOL-91")
@pytest.mark.parametrize("who", [("machine-2", "ada"), ("machine-1", "bob")])
def test_on_another_machine_or_for_another_user_it_stays_shut(
    tmp_path: Path, who: tuple[str, str]
) -> None:
    at(tmp_path).set("default", "openai", Secret("key-of-openai"))
    whole = at(tmp_path).path.read_bytes()
    stranger = at(tmp_path, *who)
    acts = (
        lambda: stranger.get("default", "openai"),
        lambda: stranger.set("default", "groq", Secret("k")),
        lambda: stranger.delete("default", "openai"),
    )
    for act in acts:
        with pytest.raises(CredentialsUnreadable, match="another machine") as caught:
            act()
        assert "callboard auth" in (caught.value.fix or "")
        assert str(stranger.path) in caught.value.message
    assert at(tmp_path).path.read_bytes() == whole, "what cannot be read is not overwritten"


@pytest.mark.parametrize(
    "content",
    [b"", b"rubbish", b"{}", b"[]", b'{"format": "other"}', b"\xff\xfe", b"1", b"[" * 100_000],
)
def test_a_damaged_file_is_a_clear_error_and_is_kept(tmp_path: Path, content: bytes) -> None:
    file = at(tmp_path)
    file.set("default", "openai", Secret("k"))
    file.path.write_bytes(content)
    with pytest.raises(CredentialsUnreadable) as caught:
        file.set("default", "openai", Secret("another"))
    assert "delete credentials.enc" in (caught.value.fix or "")
    assert file.path.read_bytes() == content
    file.path.unlink()
    file.set("default", "openai", Secret("another"))
    assert at(tmp_path).get("default", "openai") == Secret("another")


@pytest.mark.parametrize("salt", [None, b"", b"short"])
def test_a_lost_salt_is_told(tmp_path: Path, salt: bytes | None) -> None:
    file = at(tmp_path)
    file.set("default", "openai", Secret("k"))
    file.salt_path.unlink()
    if salt is not None:
        file.salt_path.write_bytes(salt)
    with pytest.raises(CredentialsUnreadable, match="salt is gone or damaged"):
        at(tmp_path).get("default", "openai")
    file.path.unlink()
    file.set("default", "openai", Secret("new"))
    assert at(tmp_path).get("default", "openai") == Secret("new")


def test_the_salt_is_made_once_and_differs_between_installations(tmp_path: Path) -> None:
    one, two = at(tmp_path / "one"), at(tmp_path / "two")
    for file in (one, two):
        file.set("default", "openai", Secret("k"))
    salt = one.salt_path.read_bytes()
    one.set("default", "groq", Secret("g"))
    assert one.salt_path.read_bytes() == salt != two.salt_path.read_bytes()


def test_a_file_that_may_not_be_touched_is_told(tmp_path: Path) -> None:
    (tmp_path / "credentials.enc").mkdir()
    with pytest.raises(CredentialsUnreadable):
        at(tmp_path).get("default", "openai")
    (tmp_path / "blocked").write_text("a file where a folder should be")
    with pytest.raises(CredentialsUnusable, match="cannot be written"):
        at(tmp_path / "blocked").set("default", "openai", Secret("k"))


def test_removing_says_whether_there_was_anything(tmp_path: Path) -> None:
    file = at(tmp_path)
    assert not file.delete("default", "openai")
    assert not file.path.exists(), "removing makes no file"
    file.set("default", "openai", Secret("k"))
    file.set("default", "groq", Secret("g"))
    assert file.delete("default", "openai")
    assert not file.delete("default", "openai")
    assert file.get("default", "groq") == Secret("g")


def _store(folder: str, number: int) -> None:
    for index in range(5):
        at(Path(folder)).set(f"profile-{number}", f"provider-{index}", Secret(f"{number}-{index}"))


def test_processes_that_store_at_once_lose_nothing(tmp_path: Path) -> None:
    spawning = multiprocessing.get_context("spawn")
    workers = [spawning.Process(target=_store, args=(str(tmp_path), n)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    file = at(tmp_path)
    for number in range(4):
        for index in range(5):
            found = file.get(f"profile-{number}", f"provider-{index}")
            assert found == Secret(f"{number}-{index}")


@pytest.mark.req("TOOL-91")
def test_the_key_is_256_bits_and_depends_on_all_three() -> None:
    base = derive_key("m", "u", b"s" * 32)
    assert len(base) == 32
    assert base == derive_key("m", "u", b"s" * 32)
    others = {
        derive_key("m2", "u", b"s" * 32),
        derive_key("m", "u2", b"s" * 32),
        derive_key("m", "u", b"t" * 32),
        derive_key("mu", "", b"s" * 32),
    }
    assert len(others | {base}) == 5


@settings(max_examples=60)
@given(st.binary(max_size=300), st.integers(0, 10_000), st.integers(1, 255))
def test_a_single_changed_byte_breaks_the_seal(content: bytes, place: int, change: int) -> None:
    key = bytes(range(32))
    sealed = json.loads(seal(content, key))
    assert open_seal(json.dumps(sealed).encode(), key) == content
    data = bytearray(base64.b64decode(sealed["sealed"]))
    data[place % len(data)] ^= change
    sealed["sealed"] = base64.b64encode(data).decode()
    with pytest.raises(BrokenSeal):
        open_seal(json.dumps(sealed).encode(), key)


@pytest.mark.req("TOOL-92")
def test_the_machine_names_itself(tmp_path: Path) -> None:
    empty, second = tmp_path / "machine-id", tmp_path / "dbus-id"
    empty.write_text("\n")
    with pytest.raises(CredentialsUnusable, match="no id"):
        machine_id((empty, second))
    empty.write_text("uninitialized\n")
    second.write_text("0123abcd\n")
    assert machine_id((empty, second)) == "0123abcd"


@pytest.mark.req("TOOL-92")
def test_a_mac_names_itself_by_its_platform_uuid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "ioreg"
    tool.write_text('#!/bin/sh\necho \'    "IOPlatformUUID" = "AB-12"\'\n')
    tool.chmod(0o755)
    monkeypatch.setattr(encrypted_file.sys, "platform", "darwin")
    monkeypatch.setattr(encrypted_file, "_IOREG", (str(tool),))
    assert machine_id() == "AB-12"
    monkeypatch.setattr(encrypted_file, "_IOREG", (str(tmp_path / "missing"),))
    with pytest.raises(CredentialsUnusable, match="no id"):
        machine_id()


@pytest.mark.req("TOOL-92")
def test_windows_names_itself_by_its_machine_guid(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = ModuleType("winreg")
    asked: list[Any] = []

    def open_key(*where: Any) -> Any:
        asked.append(where)
        return nullcontext("folder")

    values: dict[str, Any] = {
        "HKEY_LOCAL_MACHINE": "machine",
        "OpenKey": open_key,
        "QueryValueEx": lambda _folder, name: ("guid-1", 1) if name == "MachineGuid" else None,
    }
    for name, value in values.items():
        setattr(registry, name, value)
    monkeypatch.setitem(sys.modules, "winreg", registry)
    monkeypatch.setattr(encrypted_file.sys, "platform", "win32")
    assert machine_id() == "guid-1"
    assert asked == [("machine", r"SOFTWARE\Microsoft\Cryptography")]


def test_the_user_is_who_the_system_says(monkeypatch: pytest.MonkeyPatch) -> None:
    before = user_name()
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    assert user_name() == before != "somebody-else"
