"""Pictures and sounds, as plans: nothing here draws or plays."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from callboard.packs.questfoundry.artifacts.shape import ArtifactBody, ArtifactPart

AssetStatus = Literal["planned", "rendered", "deferred"]


class ArtSubject(ArtifactPart):
    """Something worth a picture."""

    id: str
    section_id: str
    subject: str
    purpose: Literal["clarify", "recall", "mood", "signpost"]
    spoiler_risk: Literal["low", "medium", "high"] = "low"


class ArtCandidates(ArtifactBody):
    """What might be shown."""

    KIND: ClassVar = "art_candidates"

    subjects: tuple[ArtSubject, ...] = ()


class ArtPlan(ArtifactPart):
    """How a picture is meant."""

    id: str
    section_id: str = ""
    subject: str = Field(min_length=1)
    composition: str = ""
    framing: str = ""
    palette: str = ""
    motifs: tuple[str, ...] = ()
    caption: str = ""
    negative: tuple[str, ...] = ()
    # What the picture would have to show and the scene does not say: raised, never made up.
    missing_details: tuple[str, ...] = ()
    determinism: Literal["none", "promised"] = "none"
    status: AssetStatus = "planned"


class ArtPlans(ArtifactBody):
    """How the pictures are meant."""

    KIND: ClassVar = "art_plans"

    plans: tuple[ArtPlan, ...] = ()


class ArtAsset(ArtifactPart):
    """A picture that exists."""

    plan_id: str
    path: str
    sha256: str
    w: int = Field(ge=1)
    h: int = Field(ge=1)


class ArtAssets(ArtifactBody):
    """Pictures that exist; a placeholder is one."""

    KIND: ClassVar = "art_assets"

    assets: tuple[ArtAsset, ...] = ()


class MakingRecord(ArtifactPart):
    """How an asset was made, so that it can be made again."""

    plan_id: str
    provider: str
    model: str = ""
    seed: int | None = None
    prompt: str = ""
    params: dict[str, Any] = Field(default_factory=dict)
    post: str = ""
    sha256: str = ""


class DeterminismLog(ArtifactBody):
    """How assets were made."""

    KIND: ClassVar = "determinism_log"
    ALSO: ClassVar = ("repro_notes",)

    runs: tuple[MakingRecord, ...] = ()


class VisualDescription(ArtifactPart):
    """A picture in words."""

    plan_id: str
    alt_text: str = Field(min_length=1)
    caption: str = ""


class VisualDescriptions(ArtifactBody):
    """Every picture in words."""

    KIND: ClassVar = "visual_descriptions"

    items: tuple[VisualDescription, ...] = ()


class ArtManifest(ArtifactBody):
    """What there is of pictures, and what there is not yet."""

    KIND: ClassVar = "art_manifest"

    plans: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    deferral_tags: tuple[str, ...] = ()


class CuePlan(ArtifactPart):
    """How a sound is meant."""

    cue_id: str
    section_id: str = ""
    kind: Literal["ambience", "foley", "stinger", "voice"]
    purpose: Literal["clarify", "recall", "mood", "signpost", "pace"]
    description: str = ""
    placement: str = ""
    duration_s: float = Field(default=0, ge=0)
    loop: bool = False
    onset: Literal["soft", "gradual"] = "soft"
    intensity: Literal["low", "medium", "high"] = "low"
    ramp: str = ""
    caption: str = ""
    text_equivalent: str = ""
    safety_note: str = ""
    vo_text: str | None = None
    status: AssetStatus = "planned"


class CueCandidates(ArtifactBody):
    """Sounds that might be heard, how they are meant, or the list of them."""

    KIND: ClassVar = "cue_candidates"
    ALSO: ClassVar = ("audio_plans", "cuelist")

    cues: tuple[CuePlan, ...] = ()
    deferral_tags: tuple[str, ...] = ()


class AudioAsset(ArtifactPart):
    """A sound that exists."""

    cue_id: str
    path: str
    sha256: str
    sample_rate: int = 44_100
    loudness_lufs: float | None = None


class AudioAssets(ArtifactBody):
    """Sounds that exist; silence is one."""

    KIND: ClassVar = "audio_assets"

    assets: tuple[AudioAsset, ...] = ()


class CueCaption(ArtifactPart):
    """A sound in words."""

    cue_id: str
    caption: str = Field(min_length=1)
    text_equivalent: str = ""
    safety_note: str = ""


class CueCaptions(ArtifactBody):
    """Every sound in words."""

    KIND: ClassVar = "captions"

    items: tuple[CueCaption, ...] = ()
