"""Canon and codex: what is true in the story's world, and what readers may know of it."""

from typing import ClassVar, Literal

from pydantic import Field

from callboard.packs.questfoundry.artifacts.shape import ArtifactBody, ArtifactPart

Posture = Literal[
    "corroborated",
    "plausible",
    "disputed",
    "uncorroborated:low",
    "uncorroborated:medium",
    "uncorroborated:high",
]


class CanonQuestion(ArtifactPart):
    """A question about the world that accepted story hooks raise."""

    id: str
    question: str = Field(min_length=1)
    theme: str = ""
    hook_ids: tuple[str, ...] = ()
    sensitivity: Literal["spoiler", "safe"] = "spoiler"


class CanonQuestions(ArtifactBody):
    """Questions to be answered."""

    KIND: ClassVar = "canon_questions"
    ALSO: ClassVar = ("canon_intake",)

    questions: tuple[CanonQuestion, ...] = ()


class CanonAnswer(ArtifactPart):
    """What is true now."""

    question_id: str
    answer: str = Field(min_length=1)
    hook_ids: tuple[str, ...] = ()
    consequences: str = ""
    sensitivity: Literal["spoiler", "safe"] = "spoiler"


class CanonEvent(ArtifactPart):
    """Something that happened, in its order."""

    id: str
    order: int
    event: str
    when: str = ""


class CanonFact(ArtifactPart):
    """One attribute of somebody or something."""

    name: str
    attribute: str
    value: str
    since: str = ""


class CanonConstraint(ArtifactPart):
    """What must not be broken."""

    statement: str
    reason: str = ""


class CanonKnowledge(ArtifactPart):
    """Who knows what, and since when."""

    actor: str
    knows: str
    from_: str = Field(default="", alias="from")


class CanonMystery(ArtifactPart):
    """What is left open on purpose, and how far."""

    topic: str
    bounds: str
    revisit: str = ""


class CanonPack(ArtifactBody):
    """Answers, and everything that follows from them."""

    KIND: ClassVar = "canon_pack"

    answers: tuple[CanonAnswer, ...] = ()
    timeline: tuple[CanonEvent, ...] = ()
    entities: tuple[CanonFact, ...] = ()
    constraints: tuple[CanonConstraint, ...] = ()
    knowledge: tuple[CanonKnowledge, ...] = ()
    mysteries: tuple[CanonMystery, ...] = ()
    posture: Posture = "plausible"
    spoiler_terms: tuple[str, ...] = ()


class CanonClash(ArtifactPart):
    """Two statements that exclude each other."""

    a: str
    b: str
    kind: str
    resolution: Literal["reconciled", "mystery", "open"] = "open"
    note: str = ""


class ContradictionReport(ArtifactBody):
    """Where new canon and old canon clash."""

    KIND: ClassVar = "contradiction_report"

    clashes: tuple[CanonClash, ...] = ()


class ProseImpact(ArtifactPart):
    """What new canon means for a section."""

    section_id: str
    note: str


class ImpactNotes(ArtifactBody):
    """What new canon means for the rest of the book."""

    KIND: ClassVar = "impact_notes"

    topology: tuple[str, ...] = ()
    prose: tuple[ProseImpact, ...] = ()
    codex: tuple[str, ...] = ()


class SafeSummary(ArtifactPart):
    """What readers may know, and which answer it comes from."""

    topic: str
    text: str = Field(min_length=1)
    source_answer: str = ""


class PlayerSafeSummaries(ArtifactBody):
    """Canon without its secrets."""

    KIND: ClassVar = "player_safe_summaries"

    summaries: tuple[SafeSummary, ...] = ()


class ResearchMemo(ArtifactBody):
    """What is known about a question of fact."""

    KIND: ClassVar = "research_memo"

    question: str
    short_answer: str
    evidence: tuple[str, ...] = ()
    posture: Posture = "plausible"
    caveats: tuple[str, ...] = ()
    neutral_phrasing: tuple[str, ...] = ()


class CodexTopic(ArtifactPart):
    """A term worth an entry."""

    term: str
    count: int = Field(default=0, ge=0)
    reason: str = ""


class TopicList(ArtifactBody):
    """Terms worth an entry."""

    KIND: ClassVar = "topic_list"

    topics: tuple[CodexTopic, ...] = ()


class DraftedEntry(ArtifactPart):
    """An entry of the codex; every fact of it cites canon."""

    slug: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=80)
    title: str = Field(min_length=1)
    overview: str = Field(min_length=1)
    usage: str = ""
    context: str = ""
    see_also: tuple[str, ...] = ()
    notes: str = ""
    lineage: str = ""
    citations: tuple[str, ...] = ()
    reading_level: str = "plain"


class CodexEntries(ArtifactBody):
    """Entries of the codex."""

    KIND: ClassVar = "codex_entries"

    entries: tuple[DraftedEntry, ...] = ()


class Crosslink(ArtifactPart):
    """A link between two entries."""

    from_: str = Field(alias="from")
    to: str
    ok: bool


class CrosslinkMap(ArtifactBody):
    """Every link of the codex, and the entries that are only announced."""

    KIND: ClassVar = "crosslink_map"

    links: tuple[Crosslink, ...] = ()
    stubs: tuple[str, ...] = ()


class RedLink(ArtifactPart):
    """A term without an entry."""

    term: str
    hook_id: str = ""


class CoverageReport(ArtifactBody):
    """Which terms of the manuscript have an entry."""

    KIND: ClassVar = "coverage_report"

    covered: tuple[str, ...] = ()
    red_links: tuple[RedLink, ...] = ()


class CodexPack(ArtifactBody):
    """The codex as one parcel."""

    KIND: ClassVar = "codex_pack"

    entry_ids: tuple[str, ...] = ()
    map_id: str = ""
