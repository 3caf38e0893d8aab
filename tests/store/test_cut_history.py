"""A ledger that was cut proves what is left as well as a whole one, and hides nothing."""

from pathlib import Path

import pytest
from ledgerlab import behind_its_back, opened, write

from callboard.store.database import Database
from callboard.store.ledger.cutting import NotProven

ADD = "INSERT INTO meta (key, value) VALUES (?, ?)"


def fill(database: Database, *names: str) -> None:
    for name in names:
        write(database, ADD, (name, "x"))


def test_what_is_left_is_proven_and_goes_on(tmp_path: Path) -> None:
    with opened(tmp_path) as database, opened(tmp_path) as other:
        fill(database, "a", "b")
        fill(other, "c")
        gone = database.cut_history()
        assert gone > 3
        # Both knew entries that are gone, and write on.
        fill(other, "d")
        fill(database, "e")
        found = database.verify()
        assert found.is_sound, found
        assert "taken away" in found.notes[0]
        assert database.gap() is None
        assert other.gap() is None
        assert database.is_own()
    with opened(tmp_path) as again:
        fill(again, "f")
        assert again.gap() is None
        assert again.cut_history() > 0
        assert again.verify().is_sound


def test_what_is_altered_before_is_not_cut(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        fill(database, "a", "b")
        with behind_its_back(tmp_path) as connection:
            connection.execute("UPDATE meta SET value = 'forged' WHERE key = 'a'")
        with pytest.raises(NotProven, match="meta a"):
            database.cut_history()
        assert [flaw.code for flaw in database.verify().flaws] == ["row_changed"]


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        ("UPDATE meta SET value = 'forged' WHERE key = 'a'", "row_changed"),
        ("DELETE FROM meta WHERE key = 'a'", "row_removed"),
        ("DELETE FROM ledger WHERE seq = (SELECT MIN(seq) FROM ledger)", "entries_removed"),
        ("UPDATE ledger SET body = replace(body, 'cut', 'cup')", "entry_changed"),
        ("UPDATE ledger SET hash = zeroblob(32) WHERE kind = 'baseline'", "entry_changed"),
        ("DELETE FROM ledger WHERE seq = (SELECT MAX(seq) FROM ledger)", "entries_lost"),
    ],
)
def test_what_is_altered_after_is_found(tmp_path: Path, edit: str, code: str) -> None:
    with opened(tmp_path) as database:
        fill(database, "a", "b")
        database.cut_history()
        fill(database, "c")
        with behind_its_back(tmp_path) as connection:
            connection.execute(edit)
        assert code in [flaw.code for flaw in database.verify().flaws]


def test_an_older_copy_put_back_after_a_cut_is_told(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        fill(database, "a", "b")
    older = (tmp_path / "callboard.db").read_bytes()
    with opened(tmp_path) as database:
        database.cut_history()
    (tmp_path / "callboard.db").write_bytes(older)
    with opened(tmp_path) as database:
        assert database.gap() is not None
