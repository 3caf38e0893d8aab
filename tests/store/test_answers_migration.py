"""From judgements in four places to one memory: sealed books, altered books, strangers' books."""

import json
from pathlib import Path

import pytest
from ledgerlab import behind_its_back, opened, seal_for, write

from callboard.store.migrations import MIGRATIONS

OLD = ("health_judgement", "scene_verdict", "rules_verdict", "rule_verdict")


def a_book_of_version_3(folder: Path) -> None:
    """Make a sealed database as version 3 left it, with a row of every kind it kept."""
    with opened(folder) as database:
        for kind in (*OLD, "template_judgements", "scene_judgement"):
            write(
                database,
                "INSERT INTO records VALUES ('writers_factory', ?, 'a', ?, 1, 1)",
                (kind, json.dumps({"held": []})),
            )
        write(database, "UPDATE meta SET value = '3' WHERE key = 'schema_version'")
        assert database.verify().is_sound


def kinds(folder: Path) -> list[str]:
    with behind_its_back(folder) as connection:
        return [row[0] for row in connection.execute("SELECT kind FROM records ORDER BY kind")]


def version(folder: Path) -> str:
    with behind_its_back(folder) as connection:
        return connection.execute("SELECT value FROM meta WHERE key='schema_version'").fetchone()[0]


def test_old_judgements_go_and_the_ledger_tells_of_it(tmp_path: Path) -> None:
    a_book_of_version_3(tmp_path)
    with opened(tmp_path) as database:
        report = database.verify()
        assert report.is_sound, report
        assert database.gap() is None
        assert database.is_own()
        write(database, "INSERT INTO meta VALUES ('mine', 'goes on')")
        assert database.verify().is_sound
    assert kinds(tmp_path) == ["scene_judgement", "template_judgements"]
    assert version(tmp_path) == str(MIGRATIONS[-1].number)
    with opened(tmp_path) as database:
        assert database.verify().is_sound


def test_what_was_altered_before_is_still_found_after(tmp_path: Path) -> None:
    a_book_of_version_3(tmp_path)
    with behind_its_back(tmp_path) as connection:
        connection.execute("UPDATE records SET body = '{}' WHERE kind = 'scene_judgement'")
    with opened(tmp_path) as database:
        (flaw,) = database.verify().flaws
    assert (flaw.code, flaw.table) == ("row_changed", "records")
    assert "scene_judgement" in flaw.key


def test_a_strangers_book_does_not_become_ours_by_being_brought_up_to_date(
    tmp_path: Path,
) -> None:
    a_book_of_version_3(tmp_path)
    mine = seal_for(tmp_path / "me", bytes(reversed(range(32))), "other")
    with opened(tmp_path, mine) as database:
        assert not database.is_own()
        assert not database.verify().is_sound
    assert version(tmp_path) == str(MIGRATIONS[-1].number)


def test_a_book_rolled_back_before_the_change_still_tells_what_it_lost(tmp_path: Path) -> None:
    a_book_of_version_3(tmp_path)
    with behind_its_back(tmp_path) as connection:
        connection.execute("DELETE FROM ledger WHERE seq = (SELECT MAX(seq) FROM ledger)")
    with opened(tmp_path) as database:
        assert database.gap() is not None
        assert not database.verify().is_sound


@pytest.mark.parametrize("kind", OLD)
def test_nothing_reads_or_writes_the_old_kinds(kind: str) -> None:
    source = Path(__file__).parents[2] / "src" / "callboard"
    files = list(source.rglob("*.py"))
    assert files
    named = [each.name for each in files if f'"{kind}"' in each.read_text(encoding="utf-8")]
    assert named == ["migrations.py"]
