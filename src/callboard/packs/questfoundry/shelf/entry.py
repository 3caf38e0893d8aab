"""An entry of the shelf: one version of an artifact, where it comes from and who may read it."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from callboard.choreography.loop import StoredArtifact
from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.errors import CallboardError, Fault

Temperature = Literal["hot", "cold"]

# These two work on what readers get, so they never see what readers must not.
COLD_READERS: Final = frozenset({"book_binder", "player_narrator"})
# Kinds that say what readers must not know, Cold or not.
SECRET_KINDS: Final = frozenset(
    {"canon_pack", "section_briefs", "impact_notes", "canon_questions", "canon_intake"}
)


class HotLeak(CallboardError):
    """Somebody who works on what readers get was about to see a draft or a secret."""

    code = "quest_hot_leak"
    is_refusal = True
    fault = Fault.STATE


@dataclass(frozen=True)
class ShelfEntry(Coded):
    """One version of an artifact; its body lies under its hash."""

    artifact_id: str
    kind: str
    version: int
    sha256: str
    tu_id: str
    loop: str
    step: str
    produced_by: str
    created_at: int
    sot: Temperature = "hot"
    player_safe: bool = False
    schema_id: str = ""
    schema_sha256: str = ""
    upstream: dict[str, str] = field(default_factory=dict[str, str])
    note: str = ""
    # What the check of this version said; only what fits is ever stored.
    validation: dict[str, Any] = field(default_factory=dict[str, Any])
    # The newest of its kind before it, and why it does not count any more.
    previous: str | None = None
    withdrawn: str | None = None

    @property
    def ref(self) -> str:
        """The name of exactly this version."""
        return f"{self.artifact_id}.v{self.version}"

    def stored(self) -> StoredArtifact:
        """Return it as a loop knows it."""
        return StoredArtifact(
            kind=self.kind,
            id=self.ref,
            sha256=self.sha256,
            version=self.version,
            step=self.step,
            produced_by=self.produced_by,
            upstream=self.upstream,
            note=self.note,
        )

    def refuse(self, reader: str | None) -> None:
        """Refuse a reader who may not see it."""
        if reader not in COLD_READERS or (self.sot == "cold" and self.player_safe):
            return
        why = "a draft" if self.sot == "hot" else "not for readers"
        raise HotLeak(
            f"{reader} may not read {self.ref}: it is {why}",
            fix="Let it pass a gatecheck first, or give the work to another role.",
            artifact=self.ref,
            role=reader,
        )

    def shape(self) -> dict[str, Json]:
        """Return what doors show of it."""
        return {"ref": self.ref, **self.to_json()}
