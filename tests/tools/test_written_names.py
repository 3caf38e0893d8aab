"""No tool writes a file that other programs run or obey, or whose name cannot be shown."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.tools import PathOutsideProject, ProjectFiles
from callboard.tools.files.confinement import why_not_written

EXECUTED = [
    ".envrc",
    ".vscode/tasks.json",
    ".VSCode/tasks.json",
    ".idea/workspace.xml",
    ".husky/pre-commit",
    ".githooks/post-checkout",
    ".gitattributes",
    ".gitmodules",
    ".git/hooks/pre-commit",
    ".devcontainer/devcontainer.json",
    ".claude/settings.json",
    ".cursor/rules/all.mdc",
    ".cursorrules",
    ".github/workflows/build.yml",
    ".pre-commit-config.yaml",
    ".npmrc",
    ".pypirc",
    ".direnv/x",
    ".ssh/authorized_keys",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".exrc",
    ".dir-locals.el",
    ".mcp.json",
    "Story/.envrc",
    "Story/.vscode/tasks.json",
    "sitecustomize.py",
    "Story/usercustomize.py",
    "conftest.py",
    "evil.pth",
    "Launch.desktop",
    "Launch.DESKTOP",
    "book.code-workspace",
    "autorun.inf",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "AGENTS.md",
    "Agents.md",
    "CLAUDE.md",
    "GEMINI.md",
    "HEAD",
    "bare/HEAD",
    "\uff0eenvrc",
    "\u2024envrc",
    "\u200b.envrc",
    ".envrc ",
    "agents.md.",
    "AGENT\u017f.md",
]
UNSHOWN = [
    "one\ntwo.md",
    "one\rtwo.md",
    "a\x1b[31mred.md",
    "bell\x07.md",
    "tab\there.md",
    "\x9bcsi.md",
    "left\u202eright.md",
    "iso\u2066late.md",
    "line\u2028separator.md",
    "Story\n/one.md",
    "..\\..\\up.md",
]
ORDINARY = [
    "Story/one.md",
    "Story/Überraschung.md",
    "خانه\u200cها.md",  # noqa: RUF001
    "Makefile",
    "package.json",
    "a...b.md",
    "Head of the house.md",
    "agents.markdown",
    "Chapter 1: The Gate.md",
    "family\U0001f468\u200d\U0001f469\u200d\U0001f467.md",
]


@pytest.mark.parametrize("path", [*EXECUTED, *UNSHOWN])
def test_such_a_name_is_refused_and_nothing_is_written(tmp_path: Path, path: str) -> None:
    (tmp_path / ".callboard").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PathOutsideProject) as refused:
        ProjectFiles(tmp_path).write_text(path, "x")
    assert refused.value.fix
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("path", ORDINARY)
def test_an_ordinary_name_is_written(tmp_path: Path, path: str) -> None:
    ProjectFiles(tmp_path).write_text(path, "x")
    assert (tmp_path / path).read_text() == "x"


def test_a_link_to_such_a_file_is_no_way_round(tmp_path: Path) -> None:
    (tmp_path / ".envrc").write_text("mine")
    (tmp_path / "notes.md").symlink_to(".envrc")
    with pytest.raises(PathOutsideProject):
        ProjectFiles(tmp_path).write_text("notes.md", "x")
    assert (tmp_path / ".envrc").read_text() == "mine"


def test_a_file_is_not_renamed_to_such_a_name(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(PathOutsideProject):
        ProjectFiles(tmp_path).move("notes.md", ".envrc")
    assert not (tmp_path / ".envrc").exists()


@given(st.text(max_size=12), st.sampled_from([".envrc", ".vscode", "AGENTS.md", "HEAD"]))
def test_case_and_unseen_characters_do_not_disguise_a_name(noise: str, name: str) -> None:
    for disguised in (name.upper(), name.lower(), name.title(), f"{name}  ", f"\u2060{name}"):
        assert why_not_written((disguised,)) is not None
    if any(ord(each) < 0x20 for each in noise):
        assert why_not_written((f"{noise}.md",)) is not None
