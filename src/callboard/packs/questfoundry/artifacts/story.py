"""What a story is built of: topology, briefs, prose, and how its prose may sound."""

from typing import ClassVar, Literal

from pydantic import Field

from callboard.packs.questfoundry.artifacts.shape import ArtifactBody, ArtifactPart

Id = str
# An imported story names its sections as its author did.
_ANY_NAME = r"^\S(?:[^\r\n]*\S)?$"


class KeyWanted(ArtifactPart):
    """A key that a choice asks for."""

    key: str = Field(min_length=1, max_length=60)
    negated: bool = False


class KeyTouched(ArtifactPart):
    """A key that a choice gives or takes."""

    op: Literal["set", "clear"]
    key: str = Field(min_length=1, max_length=60)


class PlannedSection(ArtifactPart):
    """A section of the plan."""

    id: Id = Field(min_length=1, max_length=200, pattern=_ANY_NAME)
    title: str = Field(default="", max_length=200)
    kind: Literal["normal", "hub", "gateway", "terminal"] = "normal"
    keystone: bool = False
    # What happens to whoever enters it.
    effects: tuple[KeyTouched, ...] = ()
    tags: tuple[str, ...] = ()


class PlannedChoice(ArtifactPart):
    """A way from one section to another."""

    id: Id = Field(min_length=1, max_length=200, pattern=_ANY_NAME)
    from_: Id = Field(alias="from")
    to: Id
    label_intent: str = Field(default="", max_length=300)
    requires: tuple[KeyWanted, ...] = ()
    effects: tuple[KeyTouched, ...] = ()
    gateway: Id | None = None


class PlannedReturn(ArtifactPart):
    """A loop of the story, and what is different when it comes back."""

    entry: Id
    return_to: Id
    difference: str = ""


class PlannedGateway(ArtifactPart):
    """A door of the story: one key, told in words of its world."""

    id: Id
    at: Id
    condition_key: str = Field(min_length=1)
    negated: bool = False
    diegetic_phrase: str = ""
    refusal: str = ""
    granted_at: tuple[Id, ...] = ()


class PlannedEnding(ArtifactPart):
    """How an ending is called in lists of endings."""

    section: Id
    title: str
    tone: str = ""


class PlannedCodeword(ArtifactPart):
    """The word that stands for a key on paper; only a reviewed one is printed."""

    key: str
    printed: str
    reviewed: bool = False


class KeptText(ArtifactPart):
    """Something of an imported file that was not understood: kept as it is, never run."""

    name: str
    origin: Literal["twee", "twine", "ink"]
    text: str
    why: str = ""
    section: Id | None = None
    dialect: str = ""
    places: tuple[int, ...] = ()


class PlanChange(ArtifactPart):
    """What this plan does to the one before, and why."""

    op: Literal["add", "modify", "remove"]
    target: Id
    rationale: str


class TopologyNotes(ArtifactBody):
    """The shape of the story: sections, ways, loops, gateways."""

    KIND: ClassVar = "topology_notes"

    start: Id
    sections: tuple[PlannedSection, ...] = Field(min_length=1)
    choices: tuple[PlannedChoice, ...] = ()
    loops: tuple[PlannedReturn, ...] = ()
    gateways: tuple[PlannedGateway, ...] = ()
    changes: tuple[PlanChange, ...] = ()
    endings: tuple[PlannedEnding, ...] = ()
    codewords: tuple[PlannedCodeword, ...] = ()
    kept: tuple[KeptText, ...] = ()
    body_md: str = ""


class ChoiceIntent(ArtifactPart):
    """What a choice is meant to offer."""

    choice_id: Id
    intent: str


class SectionBrief(ArtifactPart):
    """What a section must do, before anybody writes it."""

    section_id: Id
    intent: str = Field(min_length=1)
    stakes: str = ""
    beats: tuple[str, ...] = ()
    choices: tuple[ChoiceIntent, ...] = ()
    expected_effects: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


class SectionBriefs(ArtifactBody):
    """A brief for each section."""

    KIND: ClassVar = "section_briefs"

    briefs: tuple[SectionBrief, ...] = Field(min_length=1)


class ChoiceLabel(ArtifactPart):
    """The words a reader sees for a choice."""

    choice_id: Id
    label: str = Field(min_length=1, max_length=300)
    # Where it leads may be said again; the plan has the word.
    to: Id | None = None


class GateText(ArtifactPart):
    """What a gateway says to those it lets through and to those it does not."""

    met: str = ""
    refused: str = ""


class DraftedSection(ArtifactPart):
    """The prose of a section and the labels of its choices."""

    section_id: Id
    text_md: str = Field(min_length=1)
    choices: tuple[ChoiceLabel, ...] = ()
    gate_text: GateText | None = None
    word_count: int | None = Field(default=None, ge=0)
    status: Literal["draft", "revised"] = "draft"
    notes_applied: tuple[str, ...] = ()


class SceneDrafts(ArtifactBody):
    """Prose, section by section."""

    KIND: ClassVar = "scene_drafts"
    ALSO: ClassVar = ("revised_prose",)

    sections: tuple[DraftedSection, ...] = Field(min_length=1)


class Idiolect(ArtifactPart):
    """How one character speaks, whatever the book's style."""

    character: str
    rules: str


class StyleGuide(ArtifactBody):
    """How the book sounds; only a gated tune-up changes it."""

    KIND: ClassVar = "style_guide"

    register_: str = Field(default="", alias="register")
    voice: str = ""
    pov: Literal["", "first", "second", "third"] = ""
    tense: Literal["", "past", "present"] = ""
    motifs: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    idiolects: tuple[Idiolect, ...] = ()
    caption_rule: str = ""
    reading_level: float | None = None
    addenda: tuple[str, ...] = ()


class DriftIssue(ArtifactPart):
    """A place where the prose leaves the style."""

    location: str
    tag: Literal[
        "voice_shift", "register_mismatch", "motif_missing", "over_exposition", "jargon_spike"
    ]
    severity: Literal["note", "minor", "major"] = "minor"
    quote: str = ""


class DriftReport(ArtifactBody):
    """Where the prose drifts; early, middle and late sections were read."""

    KIND: ClassVar = "drift_report"

    sampled: tuple[Id, ...] = Field(min_length=1)
    issues: tuple[DriftIssue, ...] = ()


class BeforeAfter(ArtifactPart):
    """One sentence, and how it should sound."""

    tag: str
    before: str
    after: str


class Exemplars(ArtifactBody):
    """Pairs that show what is meant."""

    KIND: ClassVar = "exemplars"

    pairs: tuple[BeforeAfter, ...] = Field(min_length=1)


class StyleAddendum(ArtifactBody):
    """What is added to the style guide."""

    KIND: ClassVar = "style_addendum"

    register_: str = Field(default="", alias="register")
    voice: str = ""
    tense: Literal["", "past", "present"] = ""
    rules: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    motifs: tuple[str, ...] = ()
    gate_phrases: tuple[str, ...] = ()
    caption_rule: str = ""


class EditNote(ArtifactPart):
    """One change somebody asks of the prose."""

    id: Id
    section_id: Id
    issue: str
    fix: str
    severity: Literal["must", "should"] = "should"
    owner_role: str = "scene_smith"


class EditNotes(ArtifactBody):
    """What is to be changed in the prose."""

    KIND: ClassVar = "edit_notes"

    notes: tuple[EditNote, ...] = ()


class StructureChange(ArtifactPart):
    """Something of the structure that is not as before."""

    path: str
    before: str
    after: str


class StructureDiff(ArtifactBody):
    """What a revision of prose changed in the structure: nothing, if all is well."""

    KIND: ClassVar = "structure_diff"

    differences: tuple[StructureChange, ...] = ()
