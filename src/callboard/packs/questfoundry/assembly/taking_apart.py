"""Taking apart: the artifacts a book is made of, and what differs between two books.

For stories that come from files. Whatever was taken apart and is assembled again is the same book.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from callboard.core.codec import encode
from callboard.packs.questfoundry.artifacts.catalog import normal_form
from callboard.packs.questfoundry.book.model import Book, Section


def take_apart(book: Book) -> dict[str, dict[str, Any]]:
    """Return the artifacts of a book, by kind; kinds it has nothing of are left out."""
    made: dict[str, dict[str, Any]] = {"topology_notes": _topology(book)}
    drafts = [_draft(each) for each in book.sections if each.text.strip()]
    if drafts:
        made["scene_drafts"] = {"sections": drafts}
    if book.codex:
        made["codex_entries"] = {"entries": [encode(each) for each in book.codex]}
    if book.pictures:
        made["art_plans"] = {
            "plans": [
                {"id": each.id, "section_id": each.section, "subject": each.subject}
                | {"caption": each.caption}
                for each in book.pictures
            ]
        }
        told = [
            {"plan_id": each.id, "alt_text": each.alt, "caption": each.caption}
            for each in book.pictures
            if each.alt
        ]
        if told:
            made["visual_descriptions"] = {"items": told}
    if book.cues:
        made["audio_plans"] = {
            "cues": [
                {
                    "cue_id": each.id,
                    "section_id": each.section,
                    "kind": "ambience",
                    "purpose": "mood",
                    "description": each.description,
                    "caption": each.caption,
                    "intensity": each.intensity,
                    "safety_note": each.safety_note,
                }
                for each in book.cues
            ]
        }
    return {kind: normal_form(kind, content) for kind, content in made.items()}


def _topology(book: Book) -> dict[str, Any]:
    return {
        "start": book.start,
        "sections": [
            {
                "id": each.id,
                "title": each.title,
                "kind": each.kind.value,
                "keystone": each.keystone,
                "effects": [encode(one) for one in each.effects],
                "tags": list(each.tags),
            }
            for each in book.sections
        ],
        "choices": [
            {
                "id": choice.id,
                "from": each.id,
                "to": choice.to,
                "label_intent": choice.label[:300],
                "requires": [encode(one) for one in choice.requires],
                "effects": [encode(one) for one in choice.effects],
                "gateway": choice.gateway,
            }
            for each in book.sections
            for choice in each.choices
        ],
        "loops": [
            {"entry": each.entry, "return_to": each.back_to, "difference": each.difference}
            for each in book.returns
        ],
        "gateways": [
            {
                "id": each.id,
                "at": each.at,
                "condition_key": each.key,
                "negated": each.negated,
                "diegetic_phrase": each.phrase,
                "refusal": each.refusal,
                "granted_at": list(each.granted_at),
            }
            for each in book.gateways
        ],
        "endings": [encode(each) for each in book.endings],
        "codewords": [encode(each) for each in book.codewords],
        "kept": [encode(each) for each in book.verbatim],
    }


def _draft(section: Section) -> dict[str, Any]:
    return {
        "section_id": section.id,
        "text_md": section.text,
        "choices": [
            {"choice_id": each.id, "label": each.label}
            for each in section.choices
            if each.label.strip()
        ],
        "word_count": len(section.text.split()),
    }


@dataclass(frozen=True, slots=True)
class BookDifference:
    """What one book has and another does not, by the ids of sections."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    elsewhere: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the two are the same."""
        return not (self.added or self.removed or self.changed or self.elsewhere)


_LISTS = ("gateways", "returns", "endings", "codewords", "pictures", "cues", "codex", "verbatim")


def difference(before: Book, after: Book) -> BookDifference:
    """Say what differs between two books."""
    old, new = before.by_id, after.by_id
    changed = {
        each: told for each in new if each in old and (told := _parts_changed(old[each], new[each]))
    }
    elsewhere = [name for name in _LISTS if getattr(before, name) != getattr(after, name)]
    if before.start != after.start:
        elsewhere.insert(0, "start")
    return BookDifference(
        added=tuple(dict.fromkeys(each.id for each in after.sections if each.id not in old)),
        removed=tuple(dict.fromkeys(each.id for each in before.sections if each.id not in new)),
        changed=changed,
        elsewhere=tuple(elsewhere),
    )


def _parts_changed(before: Section, after: Section) -> tuple[str, ...]:
    names = ("title", "text", "kind", "keystone", "choices", "effects", "tags")
    return tuple(name for name in names if getattr(before, name) != getattr(after, name))


def structure_of(book: Book) -> Book:
    """Return a book without its words: what a revision of prose must leave as it is."""
    bare = tuple(
        replace(
            each,
            title="",
            text="",
            choices=tuple(replace(choice, label="") for choice in each.choices),
        )
        for each in book.sections
    )
    doors = tuple(replace(each, phrase="", refusal="") for each in book.gateways)
    return replace(book, sections=bare, gateways=doors)
