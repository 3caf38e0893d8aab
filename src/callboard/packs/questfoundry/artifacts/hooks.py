"""Story hooks and what a harvest makes of them."""

from typing import ClassVar, Literal

from pydantic import Field

from callboard.packs.questfoundry.artifacts.shape import ArtifactBody, ArtifactPart

StoryHookKind = Literal[
    "narrative",
    "scene",
    "factual",
    "taxonomy",
    "structure",
    "canon",
    "style",
    "art",
    "audio",
    "translation",
    "navigation",
    "accessibility",
]
TriageTag = Literal["quick_win", "needs_research", "structure_impact", "style_impact"]


class StoryHookCard(ArtifactPart):
    """An idea or a loose end that a role raises; its number and its state are given by code."""

    title: str = Field(min_length=1, max_length=200)
    kind: StoryHookKind
    player_safe_summary: str = Field(min_length=1, max_length=1_000)
    hot_details: str = ""
    rationale: str = ""
    refs: tuple[str, ...] = ()
    impacts: tuple[str, ...] = ()
    bars_affected: tuple[str, ...] = ()
    uncertainty: Literal["none", "low", "medium", "high"] = "none"
    citations: tuple[str, ...] = ()


class StoryHooks(ArtifactBody):
    """Cards, as many as one step may hand in."""

    KIND: ClassVar = "hooks"

    hooks: tuple[StoryHookCard, ...] = Field(max_length=1_000)


class TakenIn(ArtifactPart):
    """A story hook in a harvest; one that repeats another names it."""

    hook_id: str
    duplicate_of: str | None = None


class StoryHookIntake(ArtifactBody):
    """Every proposed story hook, once."""

    KIND: ClassVar = "hook_intake"

    hooks: tuple[TakenIn, ...] = ()


class StoryHookCluster(ArtifactPart):
    """Story hooks that belong together."""

    id: str
    theme: str
    hook_ids: tuple[str, ...] = Field(min_length=1)
    value: str = ""


class StoryHookClusters(ArtifactBody):
    """The intake, by theme."""

    KIND: ClassVar = "hook_clusters"

    clusters: tuple[StoryHookCluster, ...] = ()


class StoryHookNote(ArtifactPart):
    """What one role thinks of a story hook."""

    hook_id: str
    role: str
    impact: str = ""
    risk: str = ""
    dependencies: tuple[str, ...] = ()
    tags: tuple[TriageTag, ...] = ()


class StoryHookAnnotations(ArtifactBody):
    """What the roles think of the intake."""

    KIND: ClassVar = "hook_annotations"

    notes: tuple[StoryHookNote, ...] = Field(min_length=1)


class Triage(ArtifactPart):
    """What becomes of one story hook."""

    hook_id: str
    decision: Literal["accepted", "deferred", "rejected"]
    reason: str = ""
    owner_role: str | None = None
    next_loop: str | None = None
    wake_condition: str | None = None
    duplicate_of: str | None = None
    risk_signoff: str | None = None
    tags: tuple[TriageTag, ...] = ()


class TriageDecisions(ArtifactBody):
    """What becomes of every story hook of the intake."""

    KIND: ClassVar = "triage_decisions"

    decisions: tuple[Triage, ...] = ()


class HarvestSheet(ArtifactBody):
    """The harvest at a glance."""

    KIND: ClassVar = "harvest_sheet"

    accepted: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    activation_requests: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()


class TriagedHooks(ArtifactBody):
    """The numbers of story hooks that were decided."""

    KIND: ClassVar = "triaged_hooks"

    hook_ids: tuple[str, ...] = ()
