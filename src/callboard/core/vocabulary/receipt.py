"""Receipt: the signed record of one tool execution, failed ones too."""

from dataclasses import dataclass, field
from enum import StrEnum

from callboard.core.canonical import Json
from callboard.core.errors import ErrorRecord


class ReceiptOutcome(StrEnum):
    """How the execution ended; `refused` means that nothing ran."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What ran, for whom, on what, with what result; chained to the one before it.

    The hash and the signature cover everything but themselves and the payload, which is covered
    through `payload_sha256`.
    """

    id: str
    session_id: str
    seq: int
    tool: str
    args: dict[str, Json]
    outcome: ReceiptOutcome
    payload: Json = None
    payload_sha256: str = ""
    preview: str = ""
    summary: str = ""
    file_refs: tuple[dict[str, Json], ...] = ()
    error: ErrorRecord | None = None
    agent_id: str | None = None
    run_id: str | None = None
    step_key: str | None = None
    nonce: str = ""
    created_at: int = 0
    duration_ms: int = 0
    previous_hash: str = ""
    hash: str = ""
    signature: str = ""
    detail: dict[str, Json] = field(default_factory=dict[str, Json])
