"""What every table is registered in."""

from typing import Final

from sqlalchemy import MetaData

metadata: Final = MetaData()
