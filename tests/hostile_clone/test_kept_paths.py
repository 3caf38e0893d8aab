"""Every path Callboard keeps, put in its place by a stranger as something else.

Each command ends soon, with little memory, in words that name the file; nothing is written outside.
"""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from cloned_project import Clone

from callboard.cli.exits import MEANINGS

Trap = Callable[[Clone, Path], None]
READS = ("runs", "list")
WRITES = ("tool", "run", "write_file", "--arg", "path=lighthouse.md", "--arg", "content=new")
ENDINGS = set(MEANINGS)


def link_to(target: str) -> Trap:
    return lambda clone, path: path.symlink_to(target.replace("OUTSIDE", str(clone.outside)))


def pipe(_: Clone, path: Path) -> None:
    os.mkfifo(path)


def folder(_: Clone, path: Path) -> None:
    (path / "inner").mkdir(parents=True)


def bound_socket(_: Clone, path: Path) -> None:
    here = os.getcwd()
    listening = socket.socket(socket.AF_UNIX)
    try:
        os.chdir(path.parent)  # the name of a socket has to be short
        listening.bind(path.name)
    finally:
        os.chdir(here)
        listening.close()


def huge(_: Clone, path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(6 << 30)


def bad_text(_: Clone, path: Path) -> None:
    path.write_bytes(b"pack: x\n\xff\xfe\n")


def deep(_: Clone, path: Path) -> None:
    path.write_text("a: " + "[" * 20_000)


def deep_blocks(_: Clone, path: Path) -> None:
    path.write_text("".join(f"{' ' * n}a:\n" for n in range(900)))


def aliases(_: Clone, path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    path.write_text("\n".join(lines))


def unreadable(_: Clone, path: Path) -> None:
    path.write_text("a: 1\n")
    path.chmod(0)


FILE_TRAPS: dict[str, Trap] = {
    "link to a device": link_to("/dev/zero"),
    "link to standard input": link_to("/dev/stdin"),
    "link out": link_to("OUTSIDE/file.txt"),
    "link to nothing outside": link_to("OUTSIDE/new.txt"),
    "link to itself": lambda _, path: path.symlink_to(path.name),
    "pipe": pipe,
    "folder": folder,
    "socket": bound_socket,
    "huge": huge,
    "bad text": bad_text,
    "deep": deep,
    "deep blocks": deep_blocks,
    "aliases": aliases,
    "unreadable": unreadable,
}
FOLDER_TRAPS: dict[str, Trap] = {
    "link out": link_to("OUTSIDE/folder"),
    "link to a device": link_to("/dev/zero"),
    "pipe": pipe,
    "socket": bound_socket,
}
# Each file with a command that reads it.
TEXTS = {
    "config.yaml": ("config", "show"),
    "local/config.yaml": ("config", "show"),
    "agents.yaml": ("agents",),
    "story.yaml": ("tool", "run", "canon_checker", "--arg", "path=Story/lighthouse.md"),
    "recipes/own.json": ("recipes",),
    "prompts/own.md": ("prompts", "list"),
    "prompts/prompts.json": ("prompts", "list"),
}
DATABASES = ("callboard.db", "callboard.db-wal", "callboard.db-shm")
FOLDERS = ("runs", "audit", "sessions", "issues", "locks", "backups", "prompts", "recipes",
           "audit/sessions", "backups/files", "local/pending")  # fmt: skip


def put(clone: Clone, name: str, trap: Trap) -> Path:
    path = clone.kept / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    trap(clone, path)
    return path


@pytest.mark.parametrize("trap", FILE_TRAPS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_file_to_be_read_ends_no_command_badly(clone: Clone, name: str, trap: str) -> None:
    put(clone, name, FILE_TRAPS[trap])
    code, told = clone.call(*TEXTS[name])
    assert code in ENDINGS, told
    clone.assert_nothing_left_the_project()


@pytest.mark.parametrize("name", ["config.yaml", "agents.yaml"])
@pytest.mark.parametrize("trap", ["link to a device", "pipe", "huge", "bad text", "deep"])
def test_the_file_and_the_reason_are_named(clone: Clone, name: str, trap: str) -> None:
    put(clone, name, FILE_TRAPS[trap])
    _, told = clone.call("agents")
    assert name in told
    word = {"link to a device": "link", "pipe": "named pipe", "huge": "larger than",
            "bad text": ":2", "deep": "50 levels"}[trap]  # fmt: skip
    assert word in told or (trap == "bad text" and "line 2" in told), told


@pytest.mark.parametrize("trap", ["link out", "link to nothing outside", "pipe", "folder"])
@pytest.mark.parametrize("name", DATABASES)
def test_a_database_elsewhere_is_refused_by_its_name(clone: Clone, name: str, trap: str) -> None:
    path = put(clone, name, FILE_TRAPS[trap])
    for words in (READS, WRITES):
        code, told = clone.call(*words)
        assert code != 0, words
        assert path.name in told
    clone.assert_nothing_left_the_project()


@pytest.mark.parametrize("trap", FOLDER_TRAPS)
@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_leads_elsewhere_is_refused(clone: Clone, name: str, trap: str) -> None:
    path = put(clone, name, FOLDER_TRAPS[trap])
    for words in (READS, WRITES):
        code, told = clone.call(*words)
        assert code != 0, words
        assert str(path) in told
        assert "Way out" in told
    clone.assert_nothing_left_the_project()


@pytest.mark.parametrize("name", FOLDERS)
def test_a_plain_file_in_a_folders_place_ends_no_command_badly(clone: Clone, name: str) -> None:
    put(clone, name, bad_text)
    for words in (READS, WRITES):
        code, told = clone.call(*words)
        assert code in ENDINGS, told


@pytest.mark.parametrize("name", [*FOLDERS, "local", "callboard.db", "config.yaml", "agents.yaml"])
def test_of_a_folder_nobody_trusts_nothing_is_followed(clone: Clone, name: str) -> None:
    clone.become_a_stranger()
    put(clone, name, link_to("OUTSIDE/folder" if "." not in name else "OUTSIDE/new.txt"))
    for words in (READS, WRITES):
        code, told = clone.call(*words)
        assert code in ENDINGS, told
    clone.assert_nothing_left_the_project()


def test_an_own_folder_that_is_a_link_is_a_strangers(clone: Clone) -> None:
    shutil.copytree(clone.kept, clone.root / "real")
    shutil.rmtree(clone.kept)
    clone.kept.symlink_to("real")
    before = sorted((clone.root / "real").rglob("*"))
    for words in (READS, WRITES):
        _, told = clone.call(*words)
        assert "not trusted" in told
    assert sorted((clone.root / "real").rglob("*")) == before


@pytest.mark.parametrize("trap", ["link out", "pipe", "socket"])
def test_a_backup_is_never_written_through_a_link(clone: Clone, trap: str) -> None:
    from callboard.core.canonical import digest_bytes

    old = (clone.root / "Story/lighthouse.md").read_bytes()
    put(clone, f"backups/files/{digest_bytes(old)[:16]}", FOLDER_TRAPS[trap])
    code, _ = clone.call(
        "tool", "run", "write_file", "--arg", "path=Story/lighthouse.md", "--arg", "content=new"
    )
    assert code != 0
    assert (clone.root / "Story/lighthouse.md").read_bytes() == old
    clone.assert_nothing_left_the_project()


def test_a_run_folder_that_is_a_link_is_not_followed(clone: Clone) -> None:
    code, told = clone.call("run", "recipe", "--model", "script:good.yaml", "--json")
    assert code == 0, told
    run = next((clone.kept / "runs").iterdir())
    shutil.rmtree(run)
    run.symlink_to(clone.outside / "folder")
    assert clone.call("run", "recipe", "--model", "script:good.yaml")[0] == 0
    assert clone.call("doctor", "--fix")[0] in ENDINGS
    clone.assert_nothing_left_the_project()


def test_a_tool_names_no_file_that_others_execute(clone: Clone) -> None:
    for name in (".envrc", ".vscode/tasks.json", "AGENTS.md", "a\x1b]0;x\x07.md"):
        for more in ([], ["--dry-run"]):
            words = ["--arg", f"path={name}", "--arg", "content=id > PWNED", *more]
            code, told = clone.call("tool", "run", "write_file", *words)
            assert code != 0
            assert "\x1b" not in told
    assert not (clone.root / ".envrc").exists()
    assert not (clone.root / ".vscode").exists()


TRAPS_IN_TEXT = {
    "deep flow": "a: " + "[" * 60_000,
    "deep mapping": "a: " + "{" * 60_000,
    "deep lists": "a:\n  " + "- " * 30_000,
    "deep blocks": "\n".join(f"{' ' * n}a:" for n in range(300)),
    "aliases": "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b, *b]",
}


@pytest.mark.parametrize("trap", TRAPS_IN_TEXT)
def test_a_trap_in_a_text_of_the_author_ends_no_command_badly(clone: Clone, trap: str) -> None:
    (clone.root / "Story/trap.md").write_text(f"---\n{TRAPS_IN_TEXT[trap]}\n---\n\n# A gate\n")
    code, told = clone.call("tool", "run", "canon_checker", "--arg", "path=Story/trap.md")
    assert code in ENDINGS, told
