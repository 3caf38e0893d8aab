"""A pack's settings: its own file, a project's over it, and mistakes that stop nothing."""

from pathlib import Path

import pytest

from callboard.packs.alfred.settings import read_settings as read_alfred
from callboard.packs.writers_factory.settings import (
    PROJECT_FILE,
    bundled_settings,
    read_settings,
)


def project_with(folder: Path, text: str, name: str = PROJECT_FILE) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path.parent


def test_a_project_without_a_file_has_the_packs_own(tmp_path: Path):
    read = read_settings(tmp_path)
    assert (read.values, read.warnings) == (bundled_settings(), ())


@pytest.mark.req("WF-G60a")
def test_a_projects_value_counts_and_the_others_stay(tmp_path: Path):
    root = project_with(tmp_path, "health:\n  plateau_range: 2.5\n")
    read = read_settings(root)
    assert read.values.health.plateau_range == 2.5
    assert read.values.health.plateau_chapters == bundled_settings().health.plateau_chapters
    project_with(tmp_path, "health:\n  plateau_range: 0.5\n")
    assert read_settings(root).values.health.plateau_range == 0.5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("health:\n  plateau_range: wide\n", "health.plateau_range = 'wide'"),
        ("health:\n  plateau_rnage: 2\n", "health.plateau_rnage"),
        ("wealth:\n  x: 1\n", "wealth is no section"),
        ("health: 3\n", "health is no section"),
        ("health: [", PROJECT_FILE),
        ("- a\n", PROJECT_FILE),
    ],
)
def test_a_mistake_is_named_and_changes_nothing(tmp_path: Path, text: str, told: str):
    read = read_settings(project_with(tmp_path, text))
    assert read.values == bundled_settings()
    assert len(read.warnings) == 1
    assert told in read.warnings[0]


def test_one_mistake_does_not_take_the_good_values_along(tmp_path: Path):
    text = "health:\n  plateau_range: -1\n  flaw_gap_warning: 7\n"
    read = read_settings(project_with(tmp_path, text))
    assert read.values.health.flaw_gap_warning == 7
    assert read.values.health.plateau_range == bundled_settings().health.plateau_range


def test_an_address_with_a_password_is_never_quoted(tmp_path: Path):
    text = "database:\n  url: mysql://me:hunter2@host/db\n"
    read = read_alfred(project_with(tmp_path, text, ".callboard/alfred.yaml"))
    assert len(read.warnings) == 1
    assert "hunter2" not in read.warnings[0]
