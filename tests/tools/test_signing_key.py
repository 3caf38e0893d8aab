"""The signing key: made once, private, never guessed at when damaged."""

import fcntl
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.tools import SecretUnusable, Signer
from callboard.tools.audit import Trail

RACER = """
import sys
from pathlib import Path
from callboard.tools.audit import Signer, Trail
print("ready", flush=True)
sys.stdin.readline()
folder = Path(sys.argv[1])
print(Signer(Trail(folder / "audit", folder / "keys/key")).sign("test", "text"))
"""


def trail_of(folder: Path) -> Trail:
    return Trail(folder / "audit", folder / "keys/key")


def test_the_key_is_made_on_first_use_for_its_owner_only(tmp_path: Path) -> None:
    signer = Signer(trail_of(tmp_path))
    assert not signer.has_key
    assert not signer.is_valid("test", "text", "hmac-sha256:00000000:00")
    assert not signer.path.exists()
    signature = signer.sign("test", "text")
    assert signer.path == tmp_path / "keys/key"
    assert signer.path.stat().st_mode & 0o777 == 0o600
    assert Signer(trail_of(tmp_path)).is_valid("test", "text", signature)
    assert os.listdir(signer.path.parent) == ["key"]


def test_a_loose_umask_does_not_open_the_key(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Signer(trail_of(tmp_path)).sign("test", "text")
    finally:
        os.umask(before)
    assert Signer(trail_of(tmp_path)).is_private()


def test_processes_that_race_for_the_key_get_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RACER, str(tmp_path)]
    racers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(6)
    ]
    signatures = set()
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == b"ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write(b"\n")
        racer.stdin.flush()
    for racer in racers:
        out, _ = racer.communicate(timeout=60)
        signatures.add(out)
    assert len(signatures) == 1
    assert signatures != {b""}


def test_the_key_is_made_under_a_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []
    make = secrets.token_bytes

    def look(count: int | None = None) -> bytes:
        folder = os.open(tmp_path / "keys", os.O_RDONLY)
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(folder)
        made.append(make(count))
        return made[-1]

    monkeypatch.setattr(secrets, "token_bytes", look)
    signer = Signer(trail_of(tmp_path))
    signer.sign("test", "text")
    assert signer.path.read_text().strip() == made[0].hex()


def test_a_signature_holds_for_one_purpose_and_one_text(tmp_path: Path) -> None:
    signer = Signer(trail_of(tmp_path))
    signature = signer.sign("receipt", "text")
    assert signer.is_valid("receipt", "text", signature)
    assert not signer.is_valid("nonce", "text", signature)
    assert not signer.is_valid("receipt", "texT", signature)
    assert not signer.is_valid("receipt", "text", "\udcff")


@pytest.mark.parametrize("content", ["", "abcd", "zz" * 32, "00" * 31])
def test_a_damaged_key_is_an_error_and_stays_as_it_is(tmp_path: Path, content: str) -> None:
    signer = Signer(trail_of(tmp_path))
    signer.path.parent.mkdir(parents=True)
    signer.path.write_text(content)
    with pytest.raises(SecretUnusable, match="damaged") as caught:
        signer.sign("test", "text")
    assert signer.path.read_text() == content
    if content:
        assert content not in str(caught.value.record())


def test_a_link_in_place_of_the_key_is_refused(tmp_path: Path) -> None:
    signer = Signer(trail_of(tmp_path))
    signer.path.parent.mkdir(parents=True)
    target = tmp_path / "other.key"
    target.write_text("00" * 32)
    signer.path.symlink_to(target)
    with pytest.raises(SecretUnusable):
        signer.sign("test", "text")


def test_the_key_does_not_show(tmp_path: Path) -> None:
    signer = Signer(trail_of(tmp_path))
    signature = signer.sign("test", "text")
    key = signer.path.read_text().strip()
    assert key not in f"{signer!r} {signature} {vars(Signer)}"


def test_a_key_that_came_with_a_project_counts_only_when_it_is_adopted(tmp_path: Path) -> None:
    shipped = Trail(tmp_path / "audit", tmp_path / "shipped.key")
    signature = Signer(shipped).sign("test", "text")
    own = Signer(trail_of(tmp_path))
    own.make()
    assert not own.is_valid("test", "text", signature)
    adopting = Signer(Trail(tmp_path / "audit", tmp_path / "keys/key", adopted=shipped.key))
    assert adopting.is_valid("test", "text", signature)
    assert adopting.is_adopted(signature)
    assert not adopting.is_adopted(adopting.sign("test", "text"))
