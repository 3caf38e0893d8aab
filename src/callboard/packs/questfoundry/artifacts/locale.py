"""Translations: the plan, the words that are fixed, and the text segment by segment."""

from typing import ClassVar, Literal

from pydantic import Field

from callboard.packs.questfoundry.artifacts.shape import ArtifactBody, ArtifactPart


class CoveragePlan(ArtifactBody):
    """What is translated, and into what."""

    KIND: ClassVar = "coverage_plan"

    locale: str = Field(min_length=2)
    slice: str = ""
    targets: dict[str, int] = Field(default_factory=dict)


class GlossaryTerm(ArtifactPart):
    """A word that is always translated alike; `dnt` is not translated at all."""

    source: str
    target: str
    pos: str = ""
    note: str = ""
    dnt: bool = False


class Glossary(ArtifactBody):
    """Words that are always translated alike."""

    KIND: ClassVar = "glossary"

    terms: tuple[GlossaryTerm, ...] = ()


class RegisterMap(ArtifactBody):
    """How readers are spoken to in the other language."""

    KIND: ClassVar = "register_map"

    address: str = ""
    formality: str = ""
    tense: str = ""
    idiom_policy: str = ""
    gate_patterns: tuple[str, ...] = ()


class LocalizedSegment(ArtifactPart):
    """A piece of text in two languages; another source makes it outdated."""

    id: str
    kind: Literal["section", "choice", "gate", "title", "codex", "caption", "alt", "page"]
    source_sha256: str
    source: str
    target: str = ""
    status: Literal["done", "outdated", "todo"] = "todo"


class LocalizedSurfaces(ArtifactBody):
    """Everything readers see, in two languages."""

    KIND: ClassVar = "localized_surfaces"

    segments: tuple[LocalizedSegment, ...] = ()


class LinkReport(ArtifactBody):
    """What is no longer whole in the translation."""

    KIND: ClassVar = "link_report"

    broken: tuple[str, ...] = ()


class LanguagePack(ArtifactBody):
    """A translation, and how much of the book it covers."""

    KIND: ClassVar = "language_pack"

    locale: str
    coverage: dict[str, float] = Field(default_factory=dict)
    status: Literal["complete", "incomplete"]
    open_issues: tuple[str, ...] = ()
