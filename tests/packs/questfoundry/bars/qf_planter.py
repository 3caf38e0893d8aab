"""Plants one flaw in a sound book, for every check that reads a book; chance picks the place."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from callboard.packs.questfoundry.book.model import (
    Book,
    Codeword,
    CodexEntry,
    Cue,
    Gateway,
    KeyChange,
    KeyTest,
    Picture,
    Return,
    Section,
    SectionKind,
    StoryChoice,
    Verbatim,
)
from callboard.packs.questfoundry.book.playing import is_end
from callboard.packs.questfoundry.canon.statements import statements_in

NEW_KEY = "has_nothing_9"


@dataclass(frozen=True)
class Planted:
    """A book with a flaw, the checks that may name it, and a word of the place they must name."""

    book: Book
    checks: frozenset[str]
    place: str


def changed(book: Book, section: Section) -> Book:
    sections = tuple(section if each.id == section.id else each for each in book.sections)
    return replace(book, sections=sections)


def added(book: Book, at: str, *choices: StoryChoice) -> Book:
    section = book.by_id[at]
    return changed(book, replace(section, choices=(*section.choices, *choices)))


def told(book: Book, at: str, text: str) -> Book:
    section = book.by_id[at]
    return changed(book, replace(section, text=f"{section.text} {text}"))


def open_section(book: Book, chance: Random) -> Section:
    return chance.choice([each for each in book.sections if not is_end(each)])


def plant(book: Book, flaw: str, seed: int) -> Planted:
    """Plant a flaw by the name of its check."""
    return FLAWS[flaw](book, Random(seed))


def _planted(book: Book, checks: str, place: str) -> Planted:
    return Planted(book, frozenset(checks.split()), place)


def no_start(book: Book, chance: Random) -> Planted:
    return _planted(replace(book, start="nowhere_at_all"), "no_start", "book")


def duplicate_id(book: Book, chance: Random) -> Planted:
    twin = chance.choice(book.sections)
    other = replace(book, sections=(*book.sections, replace(twin, text="You wait.")))
    return _planted(other, "duplicate_id", twin.id)


def dead_link(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    at = chance.randrange(len(section.choices))
    choices = list(section.choices)
    choices[at] = replace(choices[at], to="no_such_section")
    place = f"{section.id}/{choices[at].id}"
    return _planted(changed(book, replace(section, choices=tuple(choices))), "dead_link", place)


def dead_end(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    return _planted(changed(book, replace(section, choices=())), "dead_end", section.id)


def missing_reference(book: Book, chance: Random) -> Planted:
    kind = chance.randrange(3)
    if kind == 0:
        picture = Picture("p_lost", "no_such_section", "A door", alt="A door stands open.")
        return _planted(
            replace(book, pictures=(*book.pictures, picture)), "missing_reference", "p_lost"
        )
    if kind == 1:
        entry = CodexEntry("lost", "The lost", "It is lost.", see_also=("no_such_entry",))
        return _planted(
            replace(book, codex=(*book.codex, entry)), "missing_reference", "codex lost"
        )
    section = open_section(book, chance)
    choice = StoryChoice("c_lost", "Knock at the wall", section.choices[0].to, gateway="g_lost")
    return _planted(added(book, section.id, choice), "missing_reference", f"{section.id}/c_lost")


def choices_after_end(book: Book, chance: Random) -> Planted:
    end = chance.choice([each for each in book.sections if is_end(each)])
    choice = StoryChoice("c_after", "Begin once more", book.start)
    return _planted(added(book, end.id, choice), "choices_after_end", end.id)


def no_text(book: Book, chance: Random) -> Planted:
    section = chance.choice(book.sections)
    return _planted(changed(book, replace(section, text=" ")), "no_text", section.id)


def codeword_clash(book: Book, chance: Random) -> Planted:
    words = (Codeword("has_one_8", "KESTREL", True), Codeword(NEW_KEY, "Kestrel", True))
    other = replace(book, codewords=(*book.codewords, *words))
    return _planted(other, "codeword_clash", NEW_KEY)


def no_end(book: Book, chance: Random) -> Planted:
    sections = tuple(
        replace(each, kind=SectionKind.NORMAL, choices=(StoryChoice("c_on", "Go on", book.start),))
        if is_end(each)
        else each
        for each in book.sections
    )
    return _planted(replace(book, sections=sections), "no_end", "book")


def unreachable(book: Book, chance: Random) -> Planted:
    kind = chance.choice([SectionKind.NORMAL, SectionKind.TERMINAL])
    choices = () if kind is SectionKind.TERMINAL else (StoryChoice("c", "Leave", book.start),)
    lost = Section("s_lost_1", "The lost room", "You wait.", kind, choices=choices)
    return _planted(replace(book, sections=(*book.sections, lost)), "unreachable", "s_lost_1")


def behind_a_missing_key(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    lost = Section(
        "s_lost_1", "The lost room", "You wait.", choices=(StoryChoice("c", "Leave", section.id),)
    )
    way = StoryChoice("c_lost", "Squeeze through the crack", "s_lost_1", (KeyTest(NEW_KEY),))
    other = added(replace(book, sections=(*book.sections, lost)), section.id, way)
    return _planted(other, "unreachable unreachable_undecided", "s_lost_1")


def choice_never_open(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    way = StoryChoice("c_shut", "Squeeze through the crack", book.start, (KeyTest(NEW_KEY),))
    place = f"{section.id}/c_shut"
    return _planted(added(book, section.id, way), "choice_never_open choice_undecided", place)


def ring_without_exit(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    ring = tuple(
        Section(
            f"s_ring_{n}",
            "A bend",
            "You walk on.",
            choices=(StoryChoice(f"r{n}", "Turn the corner", f"s_ring_{(n + 1) % 3}"),),
        )
        for n in range(3)
    )
    other = replace(book, sections=(*book.sections, *ring))
    way = StoryChoice("c_ring", "Slip behind the curtain", "s_ring_0")
    return _planted(added(other, section.id, way), "ring_without_exit", "s_ring_0")


def soft_lock(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    cell = Section(
        "s_cell_1",
        "The cell",
        "You wait.",
        choices=(
            StoryChoice("c_pay", "Pay the guard", section.id, (KeyTest("has_bribe_7"),)),
            StoryChoice("c_wait", "Sit on the bench", "s_cell_2"),
        ),
    )
    bench = Section(
        "s_cell_2", "The bench", "You sit.", choices=(StoryChoice("c_up", "Rise", "s_cell_1"),)
    )
    # A bribe can be had, but whoever walks in without it never leaves.
    ways = (
        StoryChoice("c_in", "Open the low door", "s_cell_1"),
        StoryChoice(
            "c_rich",
            "Pocket a coin and open the low door",
            "s_cell_1",
            (),
            (KeyChange("set", "has_bribe_7"),),
        ),
    )
    other = replace(book, sections=(*book.sections, cell, bench))
    return _planted(added(other, section.id, *ways), "soft_lock", "s_cell")


def unread_code(book: Book, chance: Random) -> Planted:
    section = chance.choice(book.sections)
    code = Verbatim("x", "twee", "<<set $x to 1>>", "a macro", section.id)
    return _planted(replace(book, verbatim=(code,)), "unread_code", "book")


def code_shown(book: Book, chance: Random) -> Planted:
    section = chance.choice(book.sections)
    code = "<<print $gold>>"
    told = replace(section, text=f"{section.text} {code}")
    kept = Verbatim("x", "twee", code, "a macro", section.id, places=(len(section.text) + 1,))
    return _planted(replace(changed(book, told), verbatim=(kept,)), "code_shown", section.id)


def thin_hub(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    hub = Section(
        "s_hub_1",
        "The yard",
        "You wait.",
        SectionKind.HUB,
        choices=(StoryChoice("c_only", "Leave the yard", section.id),),
    )
    way = StoryChoice("c_hub", "Look into the yard", "s_hub_1")
    other = added(replace(book, sections=(*book.sections, hub)), section.id, way)
    return _planted(other, "thin_hub", "s_hub_1")


def loop_missing(book: Book, chance: Random) -> Planted:
    end = chance.choice([each for each in book.sections if is_end(each)])
    loop = Return(end.id, book.start, "You are older.")
    return _planted(replace(book, returns=(*book.returns, loop)), "loop_missing", end.id)


def _nook(book: Book, chance: Random, effects: tuple[KeyChange, ...], said: str) -> Planted:
    section = open_section(book, chance)
    nook = Section(
        "s_nook_1",
        "The nook",
        "You wait.",
        choices=(StoryChoice("c_back", "Step out again", section.id),),
        effects=effects,
    )
    way = StoryChoice("c_nook", "Peer into the nook", "s_nook_1")
    other = added(replace(book, sections=(*book.sections, nook)), section.id, way)
    other = replace(other, returns=(*book.returns, Return("s_nook_1", section.id, said)))
    return Planted(other, frozenset(), "s_nook_1")


def loop_without_difference(book: Book, chance: Random) -> Planted:
    planted = _nook(book, chance, (), "You are wiser.")
    return replace(planted, checks=frozenset({"loop_without_difference"}))


def loop_unnoticed(book: Book, chance: Random) -> Planted:
    planted = _nook(book, chance, (KeyChange("set", "has_seen_nook_1"),), "You are wiser.")
    return replace(planted, checks=frozenset({"loop_unnoticed"}))


def false_choice(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    twin = replace(
        chance.choice(section.choices), id="c_twin", label="Whistle a tune and stroll on"
    )
    return _planted(added(book, section.id, twin), "false_choice", section.id)


def _gate(book: Book, chance: Random, gateway: Gateway, checks: str) -> Planted:
    section = open_section(book, chance)
    gateway = replace(gateway, id="g_new_1", at=section.id)
    way = StoryChoice("c_gate", "Knock at the round door", book.start, gateway="g_new_1")
    other = replace(book, gateways=(*book.gateways, gateway))
    return _planted(added(other, section.id, way), checks, "g_new_1")


def gateway_without_key(book: Book, chance: Random) -> Planted:
    return _gate(book, chance, Gateway("", "", "", False, "A word", "No."), "gateway_without_key")


def gateway_without_phrase(book: Book, chance: Random) -> Planted:
    return _gate(book, chance, Gateway("", "", NEW_KEY, True, "", "No."), "gateway_without_phrase")


def gateway_without_refusal(book: Book, chance: Random) -> Planted:
    return _gate(book, chance, Gateway("", "", NEW_KEY, True, "A word"), "gateway_without_refusal")


def never_granted(book: Book, chance: Random) -> Planted:
    return _gate(book, chance, Gateway("", "", NEW_KEY, False, "A word", "No."), "never_granted")


def key_behind_gate(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    room = Section(
        "s_room_1",
        "The round room",
        "You wait.",
        effects=(KeyChange("set", NEW_KEY),),
        choices=(StoryChoice("c_out", "Step out", section.id),),
    )
    gateway = Gateway("g_new_1", section.id, NEW_KEY, False, "A word", "No.", ("s_room_1",))
    way = StoryChoice("c_gate", "Knock at the round door", "s_room_1", gateway="g_new_1")
    other = replace(book, sections=(*book.sections, room), gateways=(*book.gateways, gateway))
    return _planted(added(other, section.id, way), "key_behind_gate", "g_new_1")


def gateway_never_refuses(book: Book, chance: Random) -> Planted:
    return _gate(
        book, chance, Gateway("", "", NEW_KEY, True, "A word", "No."), "gateway_never_refuses"
    )


def contradiction(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    both = (KeyTest(NEW_KEY), KeyTest(NEW_KEY, negated=True))
    way = StoryChoice("c_both", "Do it and leave it", book.start, both)
    return _planted(added(book, section.id, way), "contradiction", f"{section.id}/c_both")


def wrong_grant(book: Book, chance: Random) -> Planted:
    at = chance.randrange(len(book.gateways))
    gateways = list(book.gateways)
    end = next(each for each in book.sections if is_end(each))
    gateways[at] = replace(gateways[at], granted_at=(end.id,))
    return _planted(replace(book, gateways=tuple(gateways)), "wrong_grant", gateways[at].id)


def unused_gateway(book: Book, chance: Random) -> Planted:
    idle = Gateway("g_idle_1", book.start, NEW_KEY, True, "A word", "No.")
    return _planted(replace(book, gateways=(*book.gateways, idle)), "unused_gateway", "g_idle_1")


def banned_word(book: Book, chance: Random) -> Planted:
    section = chance.choice(book.sections)
    style = replace(book.style, banned=("suddenly", "little did you know"))
    said = chance.choice(["Suddenly it rains.", "Little did you know of it."])
    return _planted(told(replace(book, style=style), section.id, said), "banned_word", section.id)


def person(book: Book, chance: Random) -> Planted:
    section = chance.choice(book.sections)
    text = "I take my hat and I go. My boots are wet, and I laugh to myself."
    return _planted(changed(book, replace(section, text=text)), "person", section.id)


def tense(book: Book, chance: Random) -> Planted:
    section = chance.choice(book.sections)
    text = "You walked to the door. It was shut, and you were tired. You had no light."
    return _planted(changed(book, replace(section, text=text)), "tense", section.id)


def _label(book: Book, chance: Random, label: str, check: str) -> Planted:
    section = open_section(book, chance)
    choice = replace(section.choices[0], label=label)
    other = changed(book, replace(section, choices=(choice, *section.choices[1:])))
    return _planted(other, check, f"{section.id}/{choice.id}")


def long_label(book: Book, chance: Random) -> Planted:
    return _label(book, chance, " ".join(["very"] * 20) + " long", "long_label")


def label_missing(book: Book, chance: Random) -> Planted:
    return _label(book, chance, chance.choice(["", " ", "\u202b\u202c"]), "label_missing")


def label_bidi(book: Book, chance: Random) -> Planted:
    return _label(book, chance, "\u202bלך אל הטחנה", "label_bidi")


def label_vague(book: Book, chance: Random) -> Planted:
    several = [each for each in book.sections if len(each.choices) > 1]
    section = chance.choice(several)
    choice = replace(section.choices[0], label=chance.choice(["Continue", "Click here", "More…"]))
    other = changed(book, replace(section, choices=(choice, *section.choices[1:])))
    return _planted(other, "label_vague", f"{section.id}/{choice.id}")


def _two_labels(book: Book, chance: Random, one: str, other: str, check: str) -> Planted:
    section = chance.choice([s for s in book.sections if len({c.to for c in s.choices}) > 1])
    first, second = (
        section.choices[0],
        next(c for c in section.choices if c.to != section.choices[0].to),
    )
    labels = {first.id: one, second.id: other}
    choices = tuple(replace(c, label=labels.get(c.id, c.label)) for c in section.choices)
    return _planted(changed(book, replace(section, choices=choices)), check, section.id)


def label_same(book: Book, chance: Random) -> Planted:
    return _two_labels(book, chance, "Open the door", "open the door!", "label_same")


def label_alike(book: Book, chance: Random) -> Planted:
    pairs = [
        ("Walk to the north gate", "Go to the north gate"),
        ("Take a coin", "Grab the coins"),
        ("Examine the map", "Look at the map"),
    ]
    one, other = chance.choice(pairs[:2])
    return _two_labels(book, chance, one, other, "label_alike")


def motif_missing(book: Book, chance: Random) -> Planted:
    style = replace(book.style, motifs=("a white moth",))
    return _planted(replace(book, style=style), "motif_missing", "book")


def reading_level(book: Book, chance: Random) -> Planted:
    section = chance.choice(book.sections)
    heavy = (
        "and you deliberate on the considerable administrative complications of the organisation"
    )
    style = replace(book.style, highest_grade=6.0)
    text = (" ".join([heavy.lower()] * 12)).capitalize() + "."
    other = changed(replace(book, style=style), replace(section, text=text))
    return _planted(other, "reading_level", section.id)


def style_not_checked(book: Book, chance: Random) -> Planted:
    return _planted(replace(book, language="de"), "style_not_checked", "book")


def _said(book: Book, chance: Random, text: str, check: str) -> Planted:
    """Say something on a surface that chance picks."""
    where = chance.randrange(4)
    section = open_section(book, chance)
    if where == 0:
        return _planted(told(book, section.id, text), check, section.id)
    if where == 1:
        return _planted(changed(book, replace(section, title=text)), check, section.id)
    if where == 2:
        picture = Picture("p_new", section.id, "A door", alt=f"{text} A door.")
        return _planted(replace(book, pictures=(picture,)), check, "p_new")
    entry = CodexEntry("fresh", "Fresh", text)
    return _planted(replace(book, codex=(entry,)), check, "fresh")


def spoiler(book: Book, chance: Random) -> Planted:
    other = replace(book, spoilers=("the miller is the king", "Vargas"))
    said = chance.choice(["They whisper that the miller is the King.", "“Vargas,” you say."])
    return _said(other, chance, said, "spoiler")


def key_shown(book: Book, chance: Random) -> Planted:
    return _said(book, chance, f"Note {chance.choice(book.keys)} and go.", "key_shown")


def key_word(book: Book, chance: Random) -> Planted:
    section = open_section(book, chance)
    way = StoryChoice("c_ash", "Brush it off", book.start, (KeyTest("ash", negated=True),))
    other = told(added(book, section.id, way), section.id, "There is ash on your sleeve.")
    return _planted(other, "key_word", section.id)


def id_shown(book: Book, chance: Random) -> Planted:
    shown = [f"Turn to {chance.choice(book.sections).id} now.", "See HK-20260101-07 first."]
    ids = [each.id for each in book.sections if any(c.isdigit() for c in each.id)]
    return _said(book, chance, shown[chance.randrange(2)] if ids else shown[1], "id_shown")


def machine_word(book: Book, chance: Random) -> Planted:
    said = ["As an AI you feel nothing.", "Made with seed=421.", "A language model says so."]
    return _said(book, chance, chance.choice(said), "machine_word")


def file_path(book: Book, chance: Random) -> Planted:
    said = ["It lies in /home/ann/book now.", "See art/plate_3.png for it."]
    return _said(book, chance, chance.choice(said), "file_path")


def technique_word(book: Book, chance: Random) -> Planted:
    picture = Picture("p_new", book.start, "A door", "Rendered door", "A door, depth of field.")
    return _planted(replace(book, pictures=(picture,)), "technique_word", "p_new")


def codeword_on_screen(book: Book, chance: Random) -> Planted:
    printed = chance.choice(book.codewords).printed
    return _said(book, chance, f"Write down {printed} at once.", "codeword_on_screen")


def codeword_unreviewed(book: Book, chance: Random) -> Planted:
    words = list(book.codewords)
    at = chance.randrange(len(words))
    words[at] = replace(words[at], reviewed=False)
    other = replace(book, codewords=tuple(words))
    return _planted(other, "codeword_unreviewed", words[at].key)


def codeword_missing(book: Book, chance: Random) -> Planted:
    words = [*book.codewords, Codeword("has_spare_1", "KESTREL", True)]
    gone = words.pop(chance.randrange(len(words) - 1))
    return _planted(replace(book, codewords=tuple(words)), "codeword_missing", gone.key)


def codeword_tells(book: Book, chance: Random) -> Planted:
    words = list(book.codewords)
    at = chance.randrange(len(words))
    words[at] = replace(words[at], printed=chance.choice(["", words[at].key]))
    return _planted(replace(book, codewords=tuple(words)), "codeword_tells", words[at].key)


def _picture(book: Book, alt: str, check: str) -> Planted:
    picture = Picture("p_new", book.start, "A door", alt=alt)
    return _planted(replace(book, pictures=(*book.pictures, picture)), check, "p_new")


def alt_missing(book: Book, chance: Random) -> Planted:
    return _picture(book, "  ", "alt_missing")


def alt_long(book: Book, chance: Random) -> Planted:
    return _picture(
        book, chance.choice(["A door. " * 4, "A door and " * 30 + "a wall."]), "alt_long"
    )


def alt_opening(book: Book, chance: Random) -> Planted:
    return _picture(
        book, chance.choice(["Image of a door.", "A picture of a door."]), "alt_opening"
    )


def _cue(book: Book, cue: Cue, check: str) -> Planted:
    return _planted(replace(book, cues=(*book.cues, cue)), check, cue.id)


def caption_missing(book: Book, chance: Random) -> Planted:
    return _cue(book, Cue("q_new", book.start, "A bell far away."), "caption_missing")


def caption_brackets(book: Book, chance: Random) -> Planted:
    return _cue(book, Cue("q_new", book.start, "A bell.", "A bell rings"), "caption_brackets")


def cue_untold(book: Book, chance: Random) -> Planted:
    return _cue(book, Cue("q_new", book.start, "", "[a bell rings]"), "cue_untold")


def loud_cue(book: Book, chance: Random) -> Planted:
    cue = Cue("q_new", book.start, "A bang.", "[a bang]", "high")
    return _cue(book, cue, "loud_cue")


def _canon(book: Book, *rows: tuple[str, str, str], **more: Any) -> Book:
    facts = [{"name": n, "attribute": a, "value": v} for n, a, v in rows]
    return replace(book, canon=statements_in({"canon_pack": {"entities": facts, **more}}))


def canon_clash(book: Book, chance: Random) -> Planted:
    other, name = chance.choice(["blue", "brown"]), chance.choice(["Oda", "The Ferryman"])
    rows = ((name, "eyes", "green"), (name, "eye colour", other))
    return _planted(_canon(book, *rows), "canon_clash", name)


def canon_doubt(book: Book, chance: Random) -> Planted:
    rule = {"statement": "Nobody can row the strait in winter"}
    told = {"question_id": "Q1", "answer": "Oda can row the strait in winter."}
    return _planted(_canon(book, constraints=[rule], answers=[told]), "canon_doubt", "Q1")


def prose_against_canon(book: Book, chance: Random) -> Planted:
    section = chance.choice(book.sections)
    other = told(book, section.id, "\n\nOda looks up with her blue eyes.")
    return _planted(_canon(other, ("Oda", "eyes", "green")), "prose_against_canon", section.id)


def codex_against_canon(book: Book, chance: Random) -> Planted:
    entry = CodexEntry("oda", "Oda", "Oda has blue eyes.")
    other = replace(book, codex=(*book.codex, entry))
    return _planted(_canon(other, ("Oda", "eyes", "green")), "codex_against_canon", "oda")


def dead_who_acts(book: Book, chance: Random) -> Planted:
    section = chance.choice(book.sections)
    other = changed(book, replace(section, text="You come in. “Sit down,” says Oda."))
    return _planted(_canon(other, ("Oda", "status", "dead")), "dead_who_acts", section.id)


def canon_not_read(book: Book, chance: Random) -> Planted:
    other = replace(book, language=chance.choice(["de", "fr-CA"]))
    return _planted(_canon(other, ("Oda", "eyes", "green")), "canon_not_read", "canon")


def secret_told(book: Book, chance: Random) -> Planted:
    entry = CodexEntry("oda", "Oda", "Oda is the miller's lost daughter.")
    other = replace(book, codex=(*book.codex, entry))
    other = _canon(other, ("Oda", "kin", "the miller's lost daughter"))
    return _planted(other, "secret_told", "oda")


FLAWS: dict[str, Callable[[Book, Random], Planted]] = {
    each.__name__: each
    for each in (
        no_start, duplicate_id, dead_link, dead_end, missing_reference, choices_after_end, no_text,
        codeword_clash, no_end, unreachable, behind_a_missing_key, choice_never_open,
        ring_without_exit, soft_lock, unread_code, thin_hub, loop_missing,
        loop_without_difference, loop_unnoticed, false_choice, gateway_without_key,
        gateway_without_phrase, gateway_without_refusal, never_granted, key_behind_gate,
        gateway_never_refuses, contradiction, wrong_grant, unused_gateway, banned_word, person,
        tense, long_label, label_missing, label_bidi, label_vague, label_same, label_alike,
        motif_missing, reading_level, style_not_checked, spoiler, key_shown, key_word, id_shown,
        machine_word, file_path, technique_word, codeword_on_screen, codeword_unreviewed,
        codeword_missing, codeword_tells, alt_missing, alt_long, alt_opening, caption_missing,
        caption_brackets, cue_untold, loud_cue, canon_clash, canon_doubt, prose_against_canon,
        codex_against_canon, dead_who_acts, canon_not_read, secret_told, code_shown,
    )
}  # fmt: skip
