"""A kitchen's database as it is made for the first who opens it, made once per worker and copied.

Making one carries out all migrations, which takes longer than most of what is tried in it. That
they are carried out is tested where kitchens are opened.
"""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from callboard.packs.alfred.kitchen.opening import FILE_NAME, kitchen_url, open_kitchen
from callboard.studio.database import mark
from callboard.studio.project import Project


def lay_kitchen(folder: Path) -> Path:
    """Put an empty kitchen into a folder that has none; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / FILE_NAME).exists():
        (folder / FILE_NAME).write_bytes(_made())
    return folder


def furnish(project: Project) -> None:
    """Put an empty kitchen into a new project, as the user's own."""
    lay_kitchen(project.folder)
    # After it: a file that is not there yet is made empty by its mark.
    mark(project, FILE_NAME)


@cache
def _made() -> bytes:
    folder = Path(tempfile.mkdtemp())
    try:
        open_kitchen(kitchen_url(folder)).close()
        assert [each.name for each in folder.iterdir()] == [FILE_NAME]
        return (folder / FILE_NAME).read_bytes()
    finally:
        shutil.rmtree(folder)
