"""What nobody names goes; what anybody names, in whatever row, stays."""

from pathlib import Path

import pytest

from callboard.store.blobs import get_blob, put_blob
from callboard.store.connection import Connection
from callboard.store.records import Records
from callboard.studio.project import Project
from callboard.studio.retention import Clearing, Retention
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio


async def test_a_text_that_a_row_of_any_pack_names_is_kept(tmp_path: Path) -> None:
    Project.init(tmp_path)
    async with open_scripted(tmp_path) as studio:

        def store(connection: Connection) -> tuple[str, str]:
            named, unnamed = put_blob(connection, b"named"), put_blob(connection, b"unnamed")
            records = Records(studio.database, "own", studio.clock)
            records.store(connection, "art", "one", {"deep": [{"body": f"sha256:{named}"}]})
            return named, unnamed

        named, unnamed = await studio.database.write(store)
        told = await Retention(studio.database, studio.clock, studio.mirrors.touch).clear(
            Clearing(before=0)
        )

        assert told.blobs == 1
        left = studio.database.read(
            lambda connection: [
                str(row["sha256"]) for row in connection.execute("SELECT sha256 FROM blobs")
            ]
        )
        assert left == [named]
        assert studio.database.read(lambda connection: get_blob(connection, named)) == b"named"
        assert unnamed not in left
