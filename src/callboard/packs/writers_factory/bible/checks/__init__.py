"""Quality checks of the Story Bible that need no model."""

from callboard.packs.writers_factory.bible.checks.rules import (
    CheckOrigin,
    CheckResult,
    check_fields,
)

__all__ = ["CheckOrigin", "CheckResult", "check_fields"]
