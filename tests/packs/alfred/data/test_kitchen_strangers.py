"""A kitchen's file with a trigger or a view that somebody added is refused."""

import sqlite3
from pathlib import Path

import pytest

from callboard.packs.alfred.kitchen.opening import kitchen_url, open_kitchen
from callboard.store.connection import UnknownObjects


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            "CREATE TRIGGER t AFTER INSERT ON users BEGIN DELETE FROM recipes; END",
            "trigger t is unknown",
        ),
        (
            "DROP TRIGGER recipe_sizes_insert; CREATE TRIGGER recipe_sizes_insert AFTER INSERT ON"
            " recipe_ingredients BEGIN DELETE FROM recipes; END",
            "trigger recipe_sizes_insert is unknown",
        ),
        ("CREATE VIEW v AS SELECT * FROM users", "view v is unknown"),
        ("CREATE TABLE extra (a)", "table extra is unknown"),
    ],
)
def test_what_somebody_added_to_a_kitchen_is_refused(
    tmp_path: Path, statement: str, named: str
) -> None:
    url = kitchen_url(tmp_path)
    open_kitchen(url).close()
    connection = sqlite3.connect(tmp_path / "kitchen.db", isolation_level=None)
    connection.executescript(statement)
    connection.close()
    with pytest.raises(UnknownObjects) as caught:
        open_kitchen(url)
    assert named in caught.value.message
    assert str(tmp_path / "kitchen.db") in caught.value.message
    assert caught.value.fix
