"""Drafting: one variant, from the first draft to the last check.

A draft far off its length is sent back once, sentences with a forbidden phrase are said anew once;
then it is shown as it is, with everything found in it.
"""

import re
from dataclasses import dataclass
from typing import Final

from callboard.choreography.stage import Stage
from callboard.packs.writers_factory.manuscript import count_prose
from callboard.packs.writers_factory.model import WRITER
from callboard.packs.writers_factory.scenes.asking import block, listed, said, shown
from callboard.packs.writers_factory.scenes.drafts import DraftFlag, SceneVariant
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.scenes.variants.inspection import (
    Standard,
    forbidden,
    inspect,
    needs_length,
    numbered_lines,
    off_length,
    prose_of,
    replaced,
    sentences_with,
)
from callboard.packs.writers_factory.scenes.variants.material import SceneMaterial, prompt_inputs
from callboard.packs.writers_factory.voice.tournament.writing import PassageOrder, write_passage
from callboard.packs.writers_factory.workspace import Workspace, is_small
from callboard.prompts import fence

_LEAST_SHARE: Final = 0.4
_MOST_SHARE: Final = 1.4
_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]?")
_LABEL: Final = re.compile(
    r"^(?:The scene turns on this|What stands in the way is the flaw): ", re.IGNORECASE
)


async def build_small(
    stage: Stage, material: SceneMaterial, strategy: str, model: str, standard: Standard
) -> str:
    """Return a short draft; if the model tells nothing, the plan's own sentences stand."""
    lines = scene_lines(material.brief)
    words = material.word_target
    order = PassageOrder(
        model=model,
        strategy=strategy,
        test_prompt=" ".join(lines[:3]),
        context="",
        words=words,
        least=int(words * _LEAST_SHARE),
        most=int(words * _MOST_SHARE),
        is_small=True,
    )
    passage = await write_passage(stage, order)
    told = _without_forbidden(passage.text, standard)
    return "\n\n".join([lines[0], told] if told else lines)


def scene_lines(scaffold: SmartScaffold) -> tuple[str, ...]:
    """Return what the plan says of a scene, one sentence each, what happens first."""
    who = scaffold.pov_character or "Somebody"
    happens = _sentences(scaffold.summary or scaffold.scene_goal) or [f"{who} is alone."]
    others = [name for name in scaffold.people if name != who]
    company = [f"{' and '.join(others[:2])} {'is' if len(others) == 1 else 'are'} there, too."]
    owed = [f"{who} thinks of {_lowered(each.name)}." for each in scaffold.callbacks[:2]]
    turn = [*_sentences(scaffold.conflict), *_sentences(scaffold.outcome)]
    lines = [*happens, *owed, *(company if others else []), *turn]
    return tuple(dict.fromkeys(lines))


def _without_forbidden(text: str, standard: Standard) -> str:
    for sentence in sentences_with(text, forbidden(text, standard)):
        text = text.replace(sentence, "")
    return re.sub(r"[ \t]{2,}", " ", text).strip()


def _sentences(text: str) -> list[str]:
    bare = _LABEL.sub("", text.strip())
    found = (each.strip() for each in _SENTENCE.findall(bare))
    return [_ended(each) for each in found if each][:2]


def _ended(text: str) -> str:
    whole = text if text[-1] in ".!?" else f"{text}."
    return whole[0].upper() + whole[1:]


def _lowered(text: str) -> str:
    stripped = text.strip().rstrip(".")
    return stripped[:1].lower() + stripped[1:] if stripped.split(" ")[0] in _ARTICLES else stripped


_ARTICLES: Final = ("The", "A", "An", "His", "Her", "Their")


PROMPT: Final = "scene_variant"
_LENGTH: Final = "scene_variant_length"
_SENTENCES: Final = "scene_variant_sentences"
_APART: Final = "scene_variant_apart"
_TOKENS_PER_WORD: Final = 2


@dataclass(frozen=True, slots=True)
class DraftOrder:
    """What one variant is written from."""

    variant_id: str
    strategy: str
    model: str
    material: SceneMaterial
    standard: Standard

    @property
    def scene_id(self) -> str:
        """The scene it is a variant of."""
        return self.material.brief.scaffold_id


async def write_variant(stage: Stage, draft: DraftOrder, *, unlike: str = "") -> SceneVariant:
    """Write one variant; `unlike` is a draft it may not read like."""
    if is_small(Workspace(stage.studio), draft.model):
        text = await build_small(stage, draft.material, draft.strategy, draft.model, draft.standard)
        return finished(draft, text)
    apart = ""
    if unlike:
        apart = f"{block(stage, _APART).text}\n\n{_fenced(unlike)}"
    reply = await stage.ask(
        "draft",
        WRITER,
        prompt=PROMPT,
        model=draft.model,
        max_tokens=_room(draft),
        **prompt_inputs(stage, draft.material, draft.strategy, draft.model, apart),
    )
    text = prose_of(reply.raw)
    if text and needs_length(text, draft.standard):
        text = await _at_length(stage, draft, text)
    return finished(draft, await without_forbidden(stage, draft, text))


def finished(draft: DraftOrder, text: str, extra: tuple[DraftFlag, ...] = ()) -> SceneVariant:
    """Return a text as a variant, with everything code finds in it."""
    flags = [*inspect(text, draft.standard), *extra] if text else list(extra)
    if not draft.material.is_voice_locked:
        flags.append(DraftFlag("unlocked_voice", "written before the voice was locked"))
    return SceneVariant(
        id=draft.variant_id,
        scene_id=draft.scene_id,
        strategy=draft.strategy,
        model=draft.model,
        text=text,
        word_count=count_prose(text),
        word_target=draft.standard.word_target,
        flags=tuple(flags),
        error="" if text else "The model wrote no scene.",
        scaffold_version=draft.material.brief.version,
        is_voice_locked=draft.material.is_voice_locked,
    )


async def _at_length(stage: Stage, draft: DraftOrder, text: str) -> str:
    """Have a draft brought to its length, once; the nearer of the two is kept."""
    is_short = off_length(text, draft.standard) < 0
    reply = await stage.ask(
        "length",
        WRITER,
        prompt=_LENGTH,
        model=draft.model,
        max_tokens=_room(draft),
        word_count=said(str(count_prose(text))),
        word_target=said(str(draft.standard.word_target)),
        scaffold=listed("scaffold", draft.material.brief.lines(essential=True)),
        draft=shown("draft", text),
        direction=block(stage, "scene_variant_longer" if is_short else "scene_variant_shorter"),
        scene_id=said(draft.scene_id),
    )
    other = prose_of(reply.raw)
    if not other:
        return text
    return min((text, other), key=lambda each: abs(off_length(each, draft.standard)))


async def without_forbidden(stage: Stage, draft: DraftOrder, text: str) -> str:
    """Have the sentences that hold a forbidden phrase said anew, once.

    A new sentence that is no better is not taken.
    """
    hits = forbidden(text, draft.standard) if text else ()
    if not hits:
        return text
    sentences = sentences_with(text, hits)
    reply = await stage.ask(
        "sentences",
        WRITER,
        prompt=_SENTENCES,
        model=draft.model,
        sentences=shown("draft", "\n".join(f"{n}. {each}" for n, each in enumerate(sentences, 1))),
        phrases=listed("voice", dict.fromkeys(f"{hit.quote} ({hit.pattern})" for hit in hits)),
    )
    lines = {
        number: line
        for number, line in numbered_lines(reply.raw, len(sentences)).items()
        if not forbidden(line, draft.standard)
    }
    return replaced(text, sentences, lines)


def _room(draft: DraftOrder) -> int:
    return max(400, draft.standard.word_target * _TOKENS_PER_WORD + 200)


def _fenced(text: str) -> str:
    return fence(shown("draft", text[:1500]))
