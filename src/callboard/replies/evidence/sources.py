"""What evidence is checked against, as the checker sees it. Reading is somebody else's work."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the project as it is now, and what kind of file it is to the pack."""

    path: str
    text: str
    kind: str = "other"


@dataclass(frozen=True, slots=True)
class SourceReceipt:
    """What a citation needs to know of a receipt."""

    id: str
    tool: str
    session_id: str
    is_signature_valid: bool = True
    has_succeeded: bool = True


class Sources(Protocol):
    """Everything a reply may cite; what it may not is not there."""

    @property
    def session_id(self) -> str:
        """The session whose receipts may be cited."""
        ...

    def file(self, path: str) -> SourceFile | None:
        """Return a file of the project; a path that leads out of it is not there."""
        ...

    def slot(self, name: str) -> str | None:
        """Return the text of a slot the agent was shown."""
        ...

    def receipt(self, receipt_id: str) -> SourceReceipt | None:
        """Return a receipt of any session."""
        ...

    def has_issue(self, number: int) -> bool:
        """Say whether there is such an issue."""
        ...
