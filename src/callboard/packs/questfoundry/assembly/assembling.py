"""Assembling: the book that some artifacts make, whether Cold's or a draft's on top of them.

A draft may be wrong in every way; what is missing is left empty for the bars to find.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from callboard.packs.questfoundry.book.model import (
    Book,
    Codeword,
    CodexEntry,
    Cue,
    EndingTitle,
    Gateway,
    KeyChange,
    KeyTest,
    Picture,
    ProseStyle,
    Return,
    Section,
    SectionKind,
    StoryChoice,
    Verbatim,
)
from callboard.packs.questfoundry.canon.statements import Bodies, statements_in


@dataclass(frozen=True, slots=True)
class BookNames:
    """What a book is called, by whom, in which language."""

    title: str
    ifid: str = ""
    author: str = ""
    language: str = "en"


def assemble(held: Bodies, page: BookNames) -> Book:
    """Return the book that some bodies make, by path as Cold holds them."""
    topology = held.get("topology_notes", {})
    drafts = _by(held.get("scene_drafts", {}).get("sections", ()), "section_id")
    return Book(
        title=page.title,
        start=str(topology.get("start", "")),
        sections=_sections(topology, drafts),
        ifid=page.ifid,
        author=page.author,
        language=page.language,
        gateways=tuple(_gateway(each, drafts) for each in topology.get("gateways", ())),
        returns=tuple(
            Return(each["entry"], each["return_to"], each["difference"])
            for each in topology.get("loops", ())
        ),
        endings=tuple(
            EndingTitle(each["section"], each["title"], each.get("tone", ""))
            for each in topology.get("endings", ())
        ),
        codewords=tuple(
            Codeword(each["key"], each["printed"], bool(each["reviewed"]))
            for each in topology.get("codewords", ())
        ),
        pictures=_pictures(held),
        cues=_cues(held),
        codex=_codex(held),
        style=style_of(held.get("style_guide", {})),
        spoilers=tuple(held.get("canon_pack", {}).get("spoiler_terms", ())),
        canon=tuple(each for each in statements_in(held) if each.kind != "codex"),
        verbatim=tuple(
            Verbatim(
                each["name"],
                each["origin"],
                each["text"],
                each["why"],
                each["section"],
                each["dialect"],
                tuple(each["places"]),
            )
            for each in topology.get("kept", ())
        ),
    )


def _sections(
    topology: Mapping[str, Any], drafts: Mapping[str, Mapping[str, Any]]
) -> tuple[Section, ...]:
    leaving: dict[str, list[Mapping[str, Any]]] = {}
    for choice in topology.get("choices", ()):
        leaving.setdefault(choice["from"], []).append(choice)
    return tuple(
        _section(each, drafts.get(each["id"], {}), leaving.get(each["id"], []))
        for each in topology.get("sections", ())
    )


def _section(
    planned: Mapping[str, Any], draft: Mapping[str, Any], leaving: Sequence[Mapping[str, Any]]
) -> Section:
    labels = {each["choice_id"]: each["label"] for each in draft.get("choices", ())}
    return Section(
        id=planned["id"],
        title=planned.get("title", ""),
        text=draft.get("text_md", ""),
        kind=SectionKind(planned.get("kind", "normal")),
        keystone=bool(planned.get("keystone")),
        choices=tuple(
            StoryChoice(
                id=each["id"],
                label=labels.get(each["id"], each.get("label_intent", "")),
                to=each["to"],
                requires=tuple(
                    KeyTest(one["key"], bool(one.get("negated"))) for one in each["requires"]
                ),
                effects=_effects(each),
                gateway=each.get("gateway"),
            )
            for each in leaving
        ),
        effects=_effects(planned),
        tags=tuple(planned.get("tags", ())),
    )


def _effects(planned: Mapping[str, Any]) -> tuple[KeyChange, ...]:
    return tuple(KeyChange(one["op"], one["key"]) for one in planned.get("effects", ()))


def _gateway(planned: Mapping[str, Any], drafts: Mapping[str, Mapping[str, Any]]) -> Gateway:
    spoken: dict[str, str] = drafts.get(planned["at"], {}).get("gate_text") or {}
    return Gateway(
        id=planned["id"],
        at=planned["at"],
        key=planned["condition_key"],
        negated=bool(planned.get("negated")),
        phrase=planned.get("diegetic_phrase") or spoken.get("met", ""),
        refusal=planned.get("refusal") or spoken.get("refused", ""),
        granted_at=tuple(planned.get("granted_at", ())),
    )


def _pictures(held: Bodies) -> tuple[Picture, ...]:
    told = _by(held.get("visual_descriptions", {}).get("items", ()), "plan_id")
    return tuple(
        Picture(
            id=each["id"],
            section=each.get("section_id", ""),
            subject=each["subject"],
            caption=told.get(each["id"], {}).get("caption") or each.get("caption", ""),
            alt=told.get(each["id"], {}).get("alt_text", ""),
        )
        for each in held.get("art_plans", {}).get("plans", ())
        if each.get("status") != "deferred"
    )


def _cues(held: Bodies) -> tuple[Cue, ...]:
    told = _by(held.get("captions", {}).get("items", ()), "cue_id")
    return tuple(
        Cue(
            id=each["cue_id"],
            section=each.get("section_id", ""),
            description=told.get(each["cue_id"], {}).get("text_equivalent")
            or each.get("text_equivalent")
            or each.get("description", ""),
            caption=told.get(each["cue_id"], {}).get("caption") or each.get("caption", ""),
            intensity=each.get("intensity", "low"),
            safety_note=told.get(each["cue_id"], {}).get("safety_note")
            or each.get("safety_note", ""),
        )
        for each in held.get("audio_plans", {}).get("cues", ())
        if each.get("status") != "deferred"
    )


def _codex(held: Bodies) -> tuple[CodexEntry, ...]:
    return tuple(
        CodexEntry(
            slug=each["slug"],
            title=each["title"],
            overview=each["overview"],
            usage=each.get("usage", ""),
            context=each.get("context", ""),
            see_also=tuple(each.get("see_also", ())),
        )
        for each in held.get("codex_entries", {}).get("entries", ())
    )


def style_of(guide: Mapping[str, Any]) -> ProseStyle:
    """Return what a style guide promises of the prose."""
    return ProseStyle(
        pov=guide.get("pov", ""),
        tense=guide.get("tense", ""),
        banned=tuple(guide.get("banned", ())),
        motifs=tuple(guide.get("motifs", ())),
        highest_grade=guide.get("reading_level"),
        idiolects=tuple(
            str(each["character"])
            for each in cast("Sequence[Mapping[str, Any]]", guide.get("idiolects", ()))
        ),
    )


def _by(rows: Sequence[Mapping[str, Any]], key: str) -> dict[str, Mapping[str, Any]]:
    return {str(row[key]): row for row in rows}
