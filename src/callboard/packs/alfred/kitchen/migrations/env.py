"""What Alembic runs: the revisions, on the connection it is handed. Run by Alembic only."""

from alembic import context

from callboard.packs.alfred.kitchen.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
