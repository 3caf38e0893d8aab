"""Looking back and keeping: retros, archives and what they are made of."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from callboard.packs.questfoundry.artifacts.shape import ArtifactBody, ArtifactPart


class RetroMetrics(ArtifactBody):
    """What the logs say about a milestone."""

    KIND: ClassVar = "retro_metrics"

    counts: dict[str, Any] = Field(default_factory=dict)


class RetroFrame(ArtifactBody):
    """What is asked of everybody."""

    KIND: ClassVar = "retro_frame"

    scope: str
    questions: tuple[str, ...] = Field(min_length=1)


class RetroVoice(ArtifactPart):
    """What one role thinks of the work."""

    role: str
    well: tuple[str, ...] = ()
    poorly: tuple[str, ...] = ()
    ideas: tuple[str, ...] = ()


class RetroVoices(ArtifactBody):
    """What the roles think of the work."""

    KIND: ClassVar = "role_feedback"

    voices: tuple[RetroVoice, ...] = Field(min_length=1)


class RetroFinding(ArtifactPart):
    """Something learnt, and the figure or unit that shows it."""

    told: str
    cites: str = Field(min_length=1)


class RetroFindings(ArtifactBody):
    """What went well, what did not, what nobody expected."""

    KIND: ClassVar = "retro_findings"

    well: tuple[RetroFinding, ...] = Field(max_length=5)
    poorly: tuple[RetroFinding, ...] = Field(max_length=5)
    surprises: tuple[RetroFinding, ...] = Field(default=(), max_length=3)


class ActionItem(ArtifactPart):
    """Something to be done differently."""

    id: str
    description: str
    owner_role: str
    target: str
    success: str
    priority: Literal["high", "medium", "low"]
    status: Literal["open", "done", "dropped"] = "open"


class ActionItems(ArtifactBody):
    """What is to be done differently."""

    KIND: ClassVar = "action_items"

    items: tuple[ActionItem, ...] = ()


class PracticeUpdate(ArtifactPart):
    """A lesson for a role or a loop."""

    role_or_loop: str
    text: str = Field(min_length=1, max_length=300)
    approved_by: str = ""


class PracticeUpdates(ArtifactBody):
    """Lessons; only approved ones are told to anybody."""

    KIND: ClassVar = "practice_updates"

    updates: tuple[PracticeUpdate, ...] = ()


class PostMortemReport(ArtifactBody):
    """The retro, to read."""

    KIND: ClassVar = "post_mortem_report"

    body_md: str
    metrics: str = ""
    actions: tuple[str, ...] = ()


class FreezeRecord(ArtifactBody):
    """What was under way when the archive was made."""

    KIND: ClassVar = "freeze_record"

    label: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")
    at: str = ""
    active_tus: tuple[str, ...] = ()


class CollectionList(ArtifactBody):
    """What goes into the archive."""

    KIND: ClassVar = "collection_list"

    paths: tuple[str, ...] = ()


class ArchivedFile(ArtifactPart):
    """A file of the archive."""

    path: str
    size: int = Field(ge=0)
    sha256: str


class ArchiveManifest(ArtifactBody):
    """Every file of the archive."""

    KIND: ClassVar = "archive_manifest"

    files: tuple[ArchivedFile, ...] = ()
    versions: dict[str, str] = Field(default_factory=dict)


class ArchivePackage(ArtifactBody):
    """The archive itself."""

    KIND: ClassVar = "archive_package"

    path: str
    size: int = Field(ge=0)
    sha256: str


class RestoreReport(ArtifactBody):
    """Whether the archive could be unpacked to what it was made of."""

    KIND: ClassVar = "restore_report"

    ok: bool
    mismatches: tuple[str, ...] = ()


class ArchiveIndexEntry(ArtifactBody):
    """An archive in the list of archives."""

    KIND: ClassVar = "archive_index_entry"

    label: str
    path: str
    sha256: str
    snapshot_ids: tuple[str, ...] = ()
    restore_ok: bool
