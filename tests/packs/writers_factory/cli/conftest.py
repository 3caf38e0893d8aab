"""A book that has just begun, one with a drafted scene, and the command line in their folders."""

import io
import os
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from wf_cli_book import Book, Ended

from callboard.cli import exits
from callboard.cli.main import main


def call(*words: str) -> Ended:
    """Call the command line in this process."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(list(words))
    return Ended(code, out.getvalue(), err.getvalue())


def enter(patch: pytest.MonkeyPatch, root: Path) -> Book:
    """Make a folder the current one, with a scripted model and nothing of this machine."""
    patch.chdir(root)
    patch.setenv("CALLBOARD_CACHE_DIR", str(root.parent / "cache"))
    patch.setenv("CALLBOARD_DATA_DIR", str(root.parent / "data"))
    patch.setenv("CALLBOARD_MODELS_DEFAULT", "script:staff.json")
    for tier in ("TRANSIENT", "EXTERNAL_RATE_LIMIT", "EXTERNAL_DEGRADING"):
        patch.setenv(f"CALLBOARD_ERRORS_RETRY_{tier}_MAX_ATTEMPTS", "1")
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        patch.delenv(name)
    book = Book(root, call)
    book.script()
    return book


def begin(patch: pytest.MonkeyPatch, root: Path) -> Book:
    """Begin a book in a new folder."""
    root.mkdir()
    book = enter(patch, root)
    book("new", "--title", "Salt", "--genre", "drama", "--protagonist", "Ines")
    return book


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Book:
    """A new book; the current folder."""
    return begin(monkeypatch, tmp_path / "book")


@pytest.fixture(scope="session")
def drafted_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book whose first scene has a text: made once, as its writer would."""
    root = tmp_path_factory.mktemp("drafted") / "book"
    with pytest.MonkeyPatch.context() as patch:
        begin(patch, root).draft()
    return root


@pytest.fixture
def drafted(drafted_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Book:
    """A book of one's own whose first scene has a text; the current folder."""
    for name in ("book", "data"):
        shutil.copytree(drafted_folder.parent / name, tmp_path / name)
    book = enter(monkeypatch, tmp_path / "book")
    assert call("trust", "--yes").code == exits.OK
    return book
