"""`callboard init`: a folder becomes a project, for a pack, with its sample."""

from pathlib import Path

import yaml
from clitools import Here


def config_of(folder: Path) -> dict[str, str]:
    return yaml.safe_load((folder / ".callboard" / "config.yaml").read_text()) or {}


def test_a_project_for_a_pack_says_so_in_its_settings(here: Here, tmp_path: Path) -> None:
    folder = tmp_path / "book"
    ended = here("init", str(folder), "--for", "writers_factory", "--json")
    assert ended.code == 0
    assert ended.json == {
        "project": str(folder),
        "is_new": True,
        "pack": "writers_factory",
    }
    assert config_of(folder)["pack"] == "writers_factory"


def test_the_sample_is_copied_and_nothing_is_overwritten(here: Here, tmp_path: Path) -> None:
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "idea.md").write_text("mine")
    ended = here("init", str(folder), "--for", "writers_factory", "--sample")
    assert ended.code == 0
    assert (folder / "idea.md").read_text() == "mine"
    assert (folder / "notebooks").is_dir()
    assert "callboard chat" in ended.out


def test_a_pack_that_is_not_there_is_named_and_nothing_is_made(here: Here, tmp_path: Path) -> None:
    folder = tmp_path / "book"
    ended = here("init", str(folder), "--for", "poetry")
    assert ended.code != 0
    assert "poetry" in ended.err
    assert "writers_factory" in ended.err
    assert not folder.exists()


def test_a_project_is_not_turned_into_another_kind(here: Here, tmp_path: Path) -> None:
    folder = tmp_path / "book"
    assert here("init", str(folder), "--for", "alfred").code == 0
    assert here("init", str(folder), "--for", "alfred").code == 0
    ended = here("init", str(folder), "--for", "control_room")
    assert ended.code != 0
    assert "alfred" in ended.err
    assert config_of(folder)["pack"] == "alfred"


def test_a_sample_needs_a_pack_that_has_one(here: Here, tmp_path: Path) -> None:
    ended = here("init", str(tmp_path / "x"), "--sample")
    assert ended.code != 0
    assert "sample" in ended.err
    assert not (tmp_path / "x").exists()


def test_a_bare_name_is_that_of_the_projects_pack_and_otherwise_must_be_clear(
    here: Here, tmp_path: Path
) -> None:
    ended = here("run", "turn", "--model", "script:good.yaml")
    assert ended.code != 0
    assert "alfred/turn" in ended.err
    assert "examples/turn" in ended.err
    own = here("run", "chat", "--arg", "agent=chief", "--arg", "message=Hm?", "--json",
               "--model", "script:good.yaml")  # fmt: skip
    assert own.lines[-1]["run"]["choreography"] == "control_room/chat"
