"""Binding and playing: what is built from a snapshot, and what readers would stumble over."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from callboard.packs.questfoundry.artifacts.shape import ArtifactBody, ArtifactPart


class Included(ArtifactPart):
    """What goes into a view beside the text."""

    art: bool = False
    audio: bool = False
    locales: tuple[str, ...] = ()


class BindingRequest(ArtifactBody):
    """Which snapshot is bound, and how."""

    KIND: ClassVar = "binding_request"

    snapshot: str
    formats: tuple[str, ...] = ("html", "markdown")
    include: Included = Field(default_factory=Included)
    title: str = ""


class BoundManuscript(ArtifactBody):
    """The book as it is laid out; the sections are those of the book model."""

    KIND: ClassVar = "manuscript"
    ALSO: ClassVar = ("manuscript_base", "codex_surface", "extra_surfaces")

    sections: tuple[dict[str, Any], ...] = ()
    codex: tuple[dict[str, Any], ...] = ()
    anchors: dict[str, str] = Field(default_factory=dict)


class NavReport(ArtifactBody):
    """What a reader could not reach, or not make out."""

    KIND: ClassVar = "nav_report"

    orphans: tuple[str, ...] = ()
    collisions: tuple[str, ...] = ()
    missing_alt: tuple[str, ...] = ()
    bad_links: tuple[str, ...] = ()


class FrontMatter(ArtifactBody):
    """What stands before the first section."""

    KIND: ClassVar = "front_matter"

    title: str = Field(min_length=1)
    credits: str = ""
    version: str = ""
    snapshot: str = ""
    options: str = ""
    coverage: str = ""
    accessibility_note: str = ""


class BuiltFile(ArtifactPart):
    """A file of the view."""

    format: str
    path: str
    sha256: str
    locale: str = ""


class ExportBundle(ArtifactBody):
    """Everything that was built."""

    KIND: ClassVar = "export_bundle"

    files: tuple[BuiltFile, ...] = ()


class ViewLog(ArtifactBody):
    """From what, how and with which limits a view was built."""

    KIND: ClassVar = "view_log"

    snapshot: str
    options: str = ""
    files: tuple[BuiltFile, ...] = ()
    limitations: tuple[str, ...] = ()
    tus_since_last: tuple[str, ...] = ()
    gate_id: str = ""


class PlannedRoute(ArtifactPart):
    """A way through the book, choice by choice, and what it shows."""

    id: str
    path: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()


class RoutePlan(ArtifactBody):
    """Ways through the book that show each kind of thing at least once."""

    KIND: ClassVar = "route_plan"

    routes: tuple[PlannedRoute, ...] = ()
    coverage: dict[str, float] = Field(default_factory=dict)


class NarratedTurn(ArtifactPart):
    """What was read aloud at a place."""

    route: str
    section_id: str
    spoken: str
    choice: str | None = None


class NarrationTranscript(ArtifactBody):
    """The book as it was performed."""

    KIND: ClassVar = "narration_transcript"

    turns: tuple[NarratedTurn, ...] = ()


class PlaytestNote(ArtifactPart):
    """Something a reader would stumble over."""

    id: str
    route: str = ""
    section_id: str = ""
    tag: Literal[
        "choice_ambiguity",
        "gate_friction",
        "recap_needed",
        "codex_invite",
        "leak_risk",
        "nav_bug",
        "tone_wobble",
        "translation_glitch",
        "accessibility",
        "pace",
    ]
    severity: Literal["low", "med", "high"]
    snippet: str = ""
    fix: str = ""
    owner_role: str = ""


class PlaytestNotes(ArtifactBody):
    """What readers would stumble over."""

    KIND: ClassVar = "pn_playtest_notes"

    notes: tuple[PlaytestNote, ...] = ()


class TriagedNote(ArtifactPart):
    """Where a note goes."""

    note_id: str
    bar: str
    severity: Literal["low", "med", "high"]
    loop: str


class IssueTriage(ArtifactBody):
    """Where each note goes."""

    KIND: ClassVar = "issue_triage"

    items: tuple[TriagedNote, ...] = ()


class PlaytestSummary(ArtifactBody):
    """How the reading went, in numbers."""

    KIND: ClassVar = "playtest_summary"

    counts: dict[str, int] = Field(default_factory=dict)
    followups: tuple[str, ...] = ()
