"""Stories of Twee, Twine and Ink that come in, and go out again."""

import asyncio
import itertools
import json
import re
import time
from dataclasses import replace
from html import unescape

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from callboard.core.errors import InvalidInput
from callboard.packs.questfoundry.bars.integrity import read_integrity
from callboard.packs.questfoundry.bars.leaks import read_shown_code
from callboard.packs.questfoundry.book.model import (
    Book,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.formats.arrival import kind_of_file, merge, read_story
from callboard.packs.questfoundry.formats.export import build, losses
from callboard.packs.questfoundry.formats.prose import WORDS
from callboard.packs.questfoundry.formats.reading.dialects import HARLOWE, SUGARCUBE
from callboard.packs.questfoundry.formats.reading.ink import read_ink
from callboard.packs.questfoundry.formats.reading.twine import read_twee, read_twine
from callboard.packs.questfoundry.formats.writing.ink import ink_of
from callboard.packs.questfoundry.formats.writing.twine import own_dialect, twee_of
from callboard.packs.questfoundry.playtest.bot import PlaytestBot
from callboard.packs.questfoundry.playtest.transcript import ModelPlayer, play
from quest_random_books import books
from quest_story_files import ink_files, twee_files

DIALECTS = (SUGARCUBE, HARLOWE)
TWEE = """\
:: StoryTitle
The Weir

:: StoryData
{"ifid": "4E0A1D0C-7C6B-4C39-8B39-2E2B8C2D9A11", "format": "SugarCube",
 "format-version": "2.30.0", "start": "Weir", "tag-colors": {"wet": "blue"}}

:: Weir [wet hub] {"position":"100,200"}
The ''gate'' hums for <<print $name>>.
<<set $wet to true>>
* [[Climb the gate->Gate]]
* [[Lower path]]
<<if $wet and not $dry>>[[Wring your coat|Lower path][$dry to true]]<</if>>
<<if $strength gt 3>>You feel strong. [[Lift the gate->Gate]]<</if>>

:: Gate
<<if $dry>><<link "Slip through" "Lower path">><</link>><<else>><<linkappend "Slip through">> Your
coat catches on the bars.<</linkappend>><</if>>
[[Weir<-Go back]]
[[Jump|The Deep]]

:: Lower path
The end.

:: Shop [script]
window.shop = {};

:: Gate
another
"""


def _same_to_readers(one: Book, two: Book) -> None:
    for moves in itertools.islice(PlaytestBot(one).playthroughs(), 20):
        assert play(ModelPlayer(one), moves).text() == play(ModelPlayer(two), moves).text()


def test_what_twee_says_plainly_becomes_the_book() -> None:
    read = read_twee(TWEE)
    book = read.book
    assert (book.title, book.start) == ("The Weir", "weir")
    assert book.ifid == "4E0A1D0C-7C6B-4C39-8B39-2E2B8C2D9A11"
    weir = book.by_id["weir"]
    assert weir.kind is SectionKind.HUB and weir.tags == ("wet",)
    assert weir.effects == (KeyChange("set", "wet"),)
    ways = {each.label: each for each in weir.choices}
    assert ways["Climb the gate"].to == "gate"
    assert ways["Wring your coat"].requires == (KeyTest("wet"), KeyTest("dry", negated=True))
    assert ways["Wring your coat"].effects == (KeyChange("set", "dry"),)
    # Nobody here knows how strong a reader is, so the way is there, and the question is kept.
    assert ways["Lift the gate"].requires == ()
    slip = book.by_id["gate"].choices[0]
    assert slip.gateway and book.gateway_by_id[slip.gateway].key == "dry"
    assert book.gateway_by_id[slip.gateway].refusal == "Your coat catches on the bars."
    assert book.by_id["lower-path"].kind is SectionKind.TERMINAL
    assert book.by_id["gate"].choices[2].to == "The Deep"
    assert any("'Gate'" in note for note in read.notes)


def test_what_is_not_understood_is_listed_and_comes_out_as_it_was() -> None:
    book = read_twee(TWEE).book
    kept = {each.text for each in book.verbatim}
    assert {"''", "<<print $name>>", "<<if $strength gt 3>>", "[[Lift the gate->Gate]]"} <= kept
    out = twee_of(book).decode()
    assert "The ''gate'' hums for <<print $name>>." in out
    assert "<<if $strength gt 3>>You feel strong. [[Lift the gate->Gate]]<</if>>" in out
    assert out.count("Lift the gate") == 1
    assert ":: Shop [script]\nwindow.shop = {};" in out and ":: Gate\nanother" in out
    assert '"position":"100,200"' in out and '"tag-colors"' in out
    assert read_twee(out).book == book


def test_markup_of_one_story_format_is_words_in_another() -> None:
    out = twee_of(read_twee(TWEE).book, HARLOWE).decode()
    assert "<<" not in out.partition(":: Shop")[0]


def test_words_beside_kept_markup_change_and_the_markup_stays() -> None:
    book = read_twee(TWEE).book
    weir = replace(book.by_id["weir"], text="<<print $name>> waits; <<run x()>> is only said.")
    edited = replace(book, sections=(weir, *book.sections[1:]))
    out = twee_of(edited).decode()
    assert "<<print $name>> waits; &#60;&#60;run x()" in out


@pytest.mark.parametrize(
    "name", ["a b", "A [b] {c}", "back\\slash", 'quo"ted', "x->y", "x|y", "a<-b", "$x", "Ünïcode"]
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_passage_name_can_be_linked_to(name: str, dialect: str) -> None:
    book = read_twee(":: Start\n[[Go on there|Other]]\n\n:: Other\nx").book
    renamed = replace(book.by_id["other"], title=name)
    book = replace(book, sections=(book.sections[0], renamed))
    again = read_twee(twee_of(book, dialect).decode()).book
    assert again.sections[1].title == name
    assert again.sections[0].choices[0].to == again.sections[1].id


def test_line_ends_and_byte_order_marks_are_no_part_of_a_story() -> None:
    plain = _rewritten(read_twee(TWEE).book)
    windows = "\ufeff" + TWEE.replace("\n", "\r\n")
    read = read_twee(windows).book
    assert replace(read, verbatim=()) == replace(plain, verbatim=())
    assert _built(read, "twee") == windows.encode()


def test_a_file_of_another_encoding_keeps_its_letters_and_says_so() -> None:
    read = read_story(":: Start\nCafé “noir” – ende.".encode("cp1252"))
    assert read.book.by_id["start"].text == "Café “noir” – ende."
    assert "no UTF-8 from byte 12 on" in read.notes[0]


def test_a_story_without_data_starts_at_start_or_says_where_else() -> None:
    read = read_twee(":: Other\nx\n\n:: Start\n[[Other]]")
    assert read.book.start == "start" and not read.notes
    read = read_twee(":: Other\n[[More]]\n\n:: More\nx")
    assert read.book.start == "other" and "'Other'" in read.notes[0]


def test_a_missing_passage_is_never_taken_for_a_section() -> None:
    book = read_twee(":: Start\n[[go there|the-cave]]\n\n:: The cave\nx").book
    assert book.by_id["start"].choices[0].to not in book.by_id
    assert read_twee(twee_of(book).decode()).book == book


def test_a_key_that_something_unread_may_set_guards_nothing() -> None:
    book = read_twee(
        ":: Start\n<<if $won>>[[Take the crown|End]]<</if>>\n[[Fight on|Fight]]\n\n"
        ":: Fight\n<<if $hp gt 3>><<set $won to true>><</if>>[[Go back|Start]]\n\n:: End\nx"
    ).book
    assert book.keys == ()
    assert "end" in {each.to for each in book.by_id["start"].choices}


def test_a_key_set_after_it_was_asked_for_guards_nothing() -> None:
    book = read_twee(
        ":: Start\n<<if $seen>>[[Go on now|End]]<</if>>"
        "<<set $seen to true>>\n[[Start]]\n\n:: End\nx"
    ).book
    assert book.by_id["start"].choices[0].requires == ()


@pytest.mark.parametrize(
    "told",
    [
        "[[Go on|B]]",
        "[[Go on->B]]",
        "[[B<-Go on]]",
        '<<link "Go on" "B">><</link>>',
        "<<link [[Go on|B]]>><</link>>",
        '<<link "Go on">><<goto "B">><</link>>',
        "<<button 'Go on' 'B'>><</button>>",
    ],
)
def test_every_way_to_link_in_sugarcube(told: str) -> None:
    choice = read_twee(f":: A\nx\n{told}\n\n:: B\ny <<nobr>><</nobr>>").book.sections[0].choices[0]
    assert (choice.label, choice.to) == ("Go on", "b")


@pytest.mark.parametrize(
    "told",
    ['(link-goto: "Go on", "B")', "[[Go on->B]]", '(link: "Go on")[(goto: "B")]', "[[B<-Go on]]"],
)
@pytest.mark.parametrize("guard", ["(if: $k)[{}]", "(if: $k is true)[{}]", "{}"])
def test_every_way_to_link_in_harlowe(told: str, guard: str) -> None:
    text = f":: A\n(set: $k to true)\n{guard.format(told)}\n\n:: B\ny"
    choice = read_twee(text).book.sections[0].choices[0]
    assert (choice.label, choice.to) == ("Go on", "b")
    assert choice.requires == ((KeyTest("k"),) if "if" in guard else ())


PAGE = """<!DOCTYPE html><html><head><title>x</title></head><body>
<tw-storydata name="A &amp; B" startnode="2" creator="Twine" ifid="ID-1" format="Harlowe"
 format-version="3.2.1" zoom="1" hidden><style role="stylesheet" id="twine-user-stylesheet"
 type="text/twine-css">b { color: red }</style><script role="script" id="twine-user-script"
 type="text/twine-javascript">window.x = 1 < 2;</script><tw-tag name="a" color="red"></tw-tag>
<tw-passagedata pid="1" name="End" tags="" position="1,2" size="100,100">Over &lt;b&gt;.
</tw-passagedata><tw-passagedata pid="2" name="First one" tags="a" position="3,4" size="100,100">
:: no header
[[Go on-&gt;End]]</tw-passagedata></tw-storydata></body></html>"""


def test_a_page_of_twine_is_read_with_its_scripts_kept() -> None:
    book = read_twine(PAGE).book
    assert (book.title, book.start, book.ifid) == ("A & B", "first-one", "ID-1")
    assert [each.title for each in book.sections] == ["End", "First one"]
    assert "window.x = 1 < 2;" in "".join(each.text for each in book.verbatim)
    again = read_twee(twee_of(book, HARLOWE).decode()).book
    assert replace(again, verbatim=()) == replace(book, verbatim=())
    assert [each.text for each in _rewritten(again).verbatim] == [
        each.text for each in _rewritten(book).verbatim
    ]


STRANGE_PAGE = PAGE.replace(
    'creator="Twine"',
    'creator="Twine" creator-version="2.6.1" options="debug" tags="short dark" x-own="&lt;1&gt;"',
).replace('zoom="1"', 'zoom="0.6"')


def _facts(page: bytes) -> tuple[set[tuple[str, str]], ...]:
    """Return what the page says in its tags, element by element."""
    tags = re.findall(rb"<(tw-storydata|tw-tag|tw-passagedata)\b([^>]*)>", page)
    return tuple(
        {(name.decode(), unescape(value.decode())) for name, value in _ATTRIBUTE.findall(each)}
        for _, each in sorted(tags)
    )


_ATTRIBUTE = re.compile(rb'([\w-]+)="([^"]*)"')


def test_what_a_page_says_of_itself_comes_back_in_a_page_and_in_twee() -> None:
    read = read_story(STRANGE_PAGE.encode())
    page = _built(read.book, "twine")
    assert _facts(page) == _facts(STRANGE_PAGE.encode())
    again = read_story(page).book
    assert again.sections == read.book.sections and again.start == "first-one"
    assert "window.x = 1 < 2;" in page.decode() and "b { color: red }" in page.decode()
    data = _built(read.book, "twee").decode().partition("StoryData\n")[2].partition("\n\n")[0]
    told = json.loads(data)
    assert told["creator-version"] == "2.6.1" and told["options"] == "debug" and told["zoom"] == 0.6
    assert (told["tags"], told["tag-colors"], told["x-own"]) == ("short dark", {"a": "red"}, "<1>")
    assert _facts(_built(read_story(_built(read.book, "twee")).book, "twine")) == _facts(page)
    assert any("begin with `::`" in each for each in read.notes)


def test_a_page_that_starts_at_no_passage_says_which_is_taken() -> None:
    read = read_twine(PAGE.replace('startnode="2"', 'startnode="99"'))
    assert "The story starts at passage 99, not in the page; it is taken to be 'End'" in read.notes
    named = PAGE.replace('startnode="2"', 'startnode="99"').replace("First one", "Start")
    assert any("taken to be 'Start'" in each for each in read_twine(named).notes)


@pytest.mark.parametrize(
    "page",
    [
        '<div id="storeArea"><div tiddler="Start" tags="">Hi</div></div>',
        '<div id="store-area" data-size="2" hidden><div tiddler="Start">Hi [[A]]</div></div>',
    ],
)
def test_a_page_of_twine_1_is_named_with_the_way_out(page: str) -> None:
    with pytest.raises(InvalidInput, match="Twine 1") as refused:
        read_story(f"<html><body>{page}</body></html>".encode())
    assert "Open it in Twine 2" in (refused.value.fix or "")


INK = """\
# title: The Weir
VAR wet = false
VAR strength = 3
-> weir

=== weir ===
# title: At the weir
~ wet = true
The gate hums.

It is late \\-> or early.
+ [Climb the gate] -> gate
+ {wet} [Wring your coat]
    ~ wet = false
    -> path

=== gate ===
// only a rusty one
You see {strength > 2: a weak|a strong} gate.
* {strength > 2} [Lift it] It gives. -> path
+ Go back
    -> weir

=== path ===
The end.
-> END

=== function louder(x) ===
~ return x + 1
"""


def test_what_ink_says_plainly_becomes_the_book_and_the_rest_stays() -> None:
    book = read_ink(INK).book
    assert (book.title, book.start) == ("The Weir", "weir")
    weir = book.by_id["weir"]
    assert weir.text == "The gate hums.\n\nIt is late -> or early."
    assert weir.choices[1].requires == (KeyTest("wet"),)
    assert weir.choices[1].effects == (KeyChange("clear", "wet"),)
    assert [(each.label, each.to) for each in book.by_id["gate"].choices] == [
        ("Lift it", "gate.c1"),
        ("Go back", "weir"),
    ]
    lifted = book.by_id["gate.c1"]
    assert (lifted.text, [each.to for each in lifted.choices]) == ("It gives.", ["path"])
    assert book.by_id["path"].kind is SectionKind.TERMINAL
    out = ink_of(book, WORDS).decode()
    gate = INK[INK.index("=== gate") : INK.index("=== path")].strip()
    assert gate in out and "=== function louder(x) ===\n~ return x + 1" in out
    assert "VAR strength = 3" in out
    assert read_ink(out).book == book


def test_a_kept_knot_gives_way_to_what_the_book_says_now() -> None:
    book = read_ink(INK).book
    gate = replace(book.by_id["gate"], text="A new gate.")
    edited = replace(book, sections=(book.sections[0], gate, book.sections[2]))
    out = ink_of(edited, WORDS).decode()
    assert "A new gate." in out and "a weak" not in out


WOVEN = """\
VAR lamp = false
Once there was a lamp.
 * "Hello, lamp!"
    It says nothing.
 * [Wait] You wait in the dark.
    ** [Wait longer]
       Still dark.
    ** Sing -> sing
 * Go on -> hub
- The night goes on.
* [Take the lamp]
  ~ lamp = true
* [Leave it] -> DONE
- -> hub

=== hub
// the middle
You stand in the hall. # mood: quiet
* [Look at the clock] It is late. -> hub
* [Open the door] -> door
+ {lamp and not done} [Light the lamp] -> sing
+ {not lamp} [Curse the dark]
  You curse. -> hub

=== sing
La la. -> END

=== door
= outside
Rain.
* (deep) [Walk] -> inside
* Run[.] fast.
- -> sing
= inside
Dry. -> deep
"""


def _ways(book: Book, section: str) -> list[tuple[str, str]]:
    return [(each.label, each.to) for each in book.by_id[section].choices]


def test_a_weave_is_a_section_for_each_stretch_between_choices() -> None:
    book = read_ink(WOVEN.replace(" and not done", "")).book
    assert all(each.is_form for each in book.verbatim) and book.start == "opening"
    assert _ways(book, "opening") == [
        ('"Hello, lamp!"', "opening.c1"),
        ("Wait", "opening.c2"),
        ("Go on", "hub"),
    ]
    assert book.by_id["opening.c1"].text == '"Hello, lamp!"\nIt says nothing.'
    assert _ways(book, "opening.c1") == [("…", "opening.g1")] == _ways(book, "opening.c3")
    assert _ways(book, "opening.c2") == [("Wait longer", "opening.c3"), ("Sing", "sing")]
    take, leave = book.by_id["opening.g1"].choices
    assert (take.to, take.effects) == ("hub", (KeyChange("set", "lamp"),))
    assert book.by_id[leave.to].kind is SectionKind.TERMINAL
    assert _ways(book, "door") == [("Walk", "door.deep"), ("Run.", "door.c1")]
    assert book.by_id["door.c1"].text == "Run fast." and _ways(book, "door.c1") == [("…", "sing")]
    assert _ways(book, "door.inside") == [("…", "door.deep")]


def test_a_choice_that_is_offered_once_is_closed_where_somebody_comes_back() -> None:
    book = read_ink(WOVEN.replace(" and not done", "")).book
    assert not book.by_id["opening"].choices[0].requires
    look, door, light, curse = book.by_id["hub"].choices
    assert look.requires == (KeyTest("hub_1_taken", negated=True),)
    assert look.effects == (KeyChange("set", "hub_1_taken"),)
    assert light.requires == (KeyTest("lamp"),) and not door.effects[1:]
    assert curse.requires == (KeyTest("lamp", negated=True),)


def test_a_weave_is_written_out_as_it_stands_and_comes_back_the_same() -> None:
    book = read_ink(WOVEN).book
    strange = [each for each in book.verbatim if not each.is_form]
    assert [each.why for each in strange] == ["a condition that is no key"]
    out = ink_of(book, WORDS).decode()
    assert [line for line in WOVEN.splitlines() if line not in out.splitlines()] == []
    assert "_taken" not in out and read_ink(out).book == book
    louder = tuple(replace(each, text=f"{each.text}!") for each in book.sections)
    edited = replace(book, sections=louder)
    again = ink_of(edited, WORDS).decode()
    assert "VAR hub_1_taken = false" in again and "* " not in again


def test_a_book_that_looked_into_no_weave_still_gives_its_knot_back() -> None:
    book = read_ink("-> hub\n\n=== hub\nYou wait.\n* [Look] It is late.\n- -> END").book
    kept = replace(book.verbatim[-1], dialect="", why="choices that are offered once")
    whole = Section("hub", text="You wait.")
    aged = replace(book, sections=(whole,), verbatim=(kept,))
    assert kept.text in ink_of(aged, WORDS).decode()


@given(twee_files())
def test_an_untouched_twee_file_comes_back_byte_for_byte(text: str) -> None:
    book = read_story(text.encode(), "twee").book
    assume(book.sections)
    assert twee_of(book, own_dialect(book)) == text.encode()


@given(twee_files())
def test_twee_comes_back_the_same_whatever_it_held(text: str) -> None:
    book = _rewritten(read_twee(text).book)
    dialects = {each.dialect for each in book.verbatim if each.dialect}
    for dialect in DIALECTS:
        again = _rewritten(read_twee(twee_of(book, dialect).decode()).book)
        if dialects == {dialect}:
            assert (again.sections, again.gateways) == (book.sections, book.gateways)
            assert _kept(again) == _kept(book)
        once_more = _rewritten(read_twee(twee_of(again, dialect).decode()).book)
        assert once_more == again


def _built(book: Book, form: str) -> bytes:
    return next(iter(asyncio.run(build(book, [form])).values()))


def _rewritten(book: Book) -> Book:
    """Return a book that has nothing but itself to be written from."""
    kept = [
        replace(each, text=each.text.strip("\ufeff \n"))
        for each in book.verbatim
        if not each.is_source
    ]
    return replace(book, verbatim=tuple(kept))


def _kept(book: Book) -> list[object]:
    return [each for each in book.verbatim if each.name != "StoryData" and not each.is_form]


@given(ink_files)
def test_ink_comes_back_the_same_whatever_it_held(text: str) -> None:
    book = read_ink(text).book
    assert read_ink(ink_of(book, WORDS).decode()).book == book


@given(books(are_written=False), st.sampled_from(DIALECTS))
def test_a_book_says_and_does_the_same_after_twee(book: Book, dialect: str) -> None:
    again = read_twee(twee_of(book, dialect).decode()).book
    assert not _kept(again)
    _same_to_readers(book, again)
    assert read_twee(twee_of(again, dialect).decode()).book == again


@given(books(are_written=False))
def test_a_book_says_and_does_the_same_after_ink(book: Book) -> None:
    again = read_ink(ink_of(book, WORDS).decode()).book
    assert not [each for each in again.verbatim if each.section and not each.is_form]
    _same_to_readers(book, again)
    assert read_ink(ink_of(again, WORDS).decode()).book == again


@given(books())
def test_an_untouched_export_changes_nothing_in_its_book(book: Book) -> None:
    for kind, data in (("twee", twee_of(book)), ("ink", ink_of(book, WORDS))):
        merged, diff = merge(book, read_story(data), kind)  # type: ignore[arg-type]
        assert diff.is_empty, diff
        assert merged.sections == tuple(dict.fromkeys(book.sections))


def test_an_edited_export_is_a_diff_and_untouched_sections_keep_all_they_have() -> None:
    book = read_twee(TWEE).book
    keyed = replace(book.by_id["lower-path"], id="S-07", keystone=True)
    weir = replace(
        book.by_id["weir"],
        choices=tuple(
            replace(each, to="S-07" if each.to == "lower-path" else each.to)
            for each in book.by_id["weir"].choices
        ),
    )
    gate = replace(
        book.by_id["gate"],
        choices=tuple(
            replace(each, to="S-07" if each.to == "lower-path" else each.to)
            for each in book.by_id["gate"].choices
        ),
    )
    book = replace(book, sections=(weir, gate, keyed))
    text = twee_of(book).decode()
    assert merge(book, read_story(text.encode()), "twee")[1].is_empty
    edited = text.replace("The end.", "The end, wet.") + "\n:: New room\n[[Go back now->Weir]]\n"
    merged, diff = merge(book, read_story(edited.encode()), "twee")
    assert (diff.added, diff.changed, diff.removed) == (("new-room",), ("S-07",), ())
    assert merged.by_id["S-07"].text == "The end, wet." and merged.by_id["S-07"].keystone
    assert merged.by_id["weir"] is book.by_id["weir"]
    renamed = text.replace(":: Lower path", ":: Low path").replace("Lower path", "Low path")
    assert "S-07" in merge(book, read_story(renamed.encode()), "twee")[0].by_id


@pytest.mark.parametrize(("text", "kind"), [(TWEE, "twee"), (PAGE, "twine"), (INK, "ink")])
def test_a_file_is_known_by_what_is_in_it(text: str, kind: str) -> None:
    assert kind_of_file(text) == kind


def test_a_file_that_is_no_story_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="no story"):
        read_story(b"just words")


@pytest.mark.parametrize(
    "piece",
    [
        *("<<a ", "<<if $x>>", "[[a", "(a:", '"', '<<a "', "''", "/*", "[", "(if: $a)[", "<b"),
        *(
            "* [[A->B]]\n",
            "$x ",
            "&#36;",
            "{",
            "\n\n",
            "<<set $a to true>> ",
            "\n:: a\n",
            "\\",
            "<!--",
        ),
    ],
)
@pytest.mark.parametrize("harlowe", [False, True])
def test_reading_takes_time_in_proportion_to_the_file(piece: str, harlowe: bool) -> None:
    kind = "Harlowe" if harlowe else "SugarCube"
    head = f':: StoryData\n{{"ifid":"A","format":"{kind}"}}\n\n:: A\n'

    def seconds(chars: int) -> float:
        text = head + piece * (chars // len(piece))
        began = time.thread_time()
        twee_of(read_twee(text).book, kind.lower())
        return time.thread_time() - began

    # What grows with the square takes far longer than two seconds for the larger file.
    longest = max(8 * seconds(20_000), 2.0)
    assert any(seconds(80_000) < longest for _ in range(2))


SNOWMAN = """\
:: StoryTitle
The Chest

:: StoryData
{"ifid": "A", "format": "Snowman", "format-version": "2.0.2", "start": "Room"}

:: Room
<h2>A *small* room</h2>
<% if (!s.open) { %>
  You may [[open the chest.|Chest]]
  [[Kick it->Chest]]
<% } else { %>
  It is <%= s.mood %>.
<% } %>
You can [[leave->Out]] or [[stay|Room]] here.

[[Look up->Out]]

:: Chest
<% s.open = true %>Empty. [[Room]]

:: Out
Rain.
"""
CHAPBOOK = """\
:: StoryData
{"ifid": "A", "format": "Chapbook", "format-version": "2.2.0", "start": "Room"}

:: Room
gold: 3
--
A room with {gold} coins.

[if gold > 2]
[[Buy the lamp->Shop]]

[continue]
You can [[leave->Out]] now. {embed passage: 'Shop'}

[JavaScript]
engine.extend('2.0', () => [[1], [2]]);

:: Shop
Closed. [[Room]]

:: Out
Rain.
"""


@pytest.mark.parametrize(
    ("text", "inside"), [(SNOWMAN, "[[Kick it->Chest]]"), (CHAPBOOK, "[[Buy the lamp->Shop]]")]
)
def test_a_link_within_a_program_stays_there_when_the_words_change(text: str, inside: str) -> None:
    book = read_story(text.encode()).book
    assert _built(book, "twee") == text.encode()
    room = book.by_id["room"]
    assert inside in room.text and any(each.to == "out" for each in room.choices)
    edited = replace(room, text=room.text.replace("oom", "oom, dark,", 1))
    out = _built(_with(book, edited), "twee").decode()
    body, was = (each.partition(":: Room\n")[2].partition("\n:: ")[0] for each in (out, text))
    assert "oom, dark," in body and inside in body and body.count(inside) == 1
    code = [each for each in was.split("\n") if each[:1] in ("<", "[", "{") and "oom" not in each]
    at = [body.find(each) for each in code if not each.startswith("[[Look")]
    assert at == sorted(at) and min(at) >= 0
    assert "[[leave->Out]]" in body.partition("You can")[2].split("\n")[0]
    # What nobody touched stands as it stood.
    assert out.partition(":: Room\n")[0] == text.partition(":: Room\n")[0]
    assert out.endswith(text[text.index(":: Out") :])
    assert read_story(out.encode()).book.by_id["room"] == edited


def _with(book: Book, section: Section) -> Book:
    sections = [section if each.id == section.id else each for each in book.sections]
    return replace(book, sections=tuple(sections))


def test_a_program_of_another_format_is_words_in_sugarcube_and_named_among_the_losses() -> None:
    book = read_story(SNOWMAN.encode()).book
    out = _built(book, "twee-sugarcube").decode()
    assert '"format": "SugarCube"' in out and "<%" not in out
    assert any("parts kept of Snowman do not work" in each for each in losses(book, ["html"]))
    assert not losses(book, ["twee", "twine"])
    gated = replace(book.by_id["out"], kind=SectionKind.NORMAL, choices=book.by_id["room"].choices)
    first = replace(gated.choices[0], requires=(KeyTest("lamp"),))
    bound = _with(book, replace(gated, choices=(first,)))
    assert "no program is written for Snowman" in losses(bound, ["twee"])[0]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_link_within_a_sentence_keeps_its_words_and_its_place(dialect: str) -> None:
    head = f':: StoryData\n{{"ifid": "A", "format": "{dialect}"}}\n\n'
    body = "You can [[go north|N]] or [[S]] today.\n\n[[Rest->N]]"
    text = f"{head}:: Start\n{body}\n\n:: N\nx\n\n:: S\ny"
    read = read_twee(text)
    start = read.book.by_id["start"]
    assert start.text == "You can go north or S today."
    anchors = {each.text: each.places for each in read.book.verbatim if each.is_anchor}
    assert anchors == {"go north": (8,), "S": (20,)}
    assert "Links within sentences: 2" in read.shown[0]
    assert losses(read.book, ["html", "pdf", "twee"])[-1].endswith(
        "2 links that stood within sentences stand below the text"
    )
    edited = _with(read.book, replace(start, text="So, you can go north or S, then."))
    for form in (dialect, *DIALECTS):
        out = twee_of(edited, form).decode()
        said = next(line for line in out.split("\n") if line.startswith("So, you can"))
        assert said.startswith("So, you can [[go north->N]] or ") and said.endswith(", then.")
        assert out.count("go north") == 1
        again = read_twee(out).book
        assert again.by_id["start"] == edited.by_id["start"]
    # A link that is no more leaves its words behind.
    fewer = _with(read.book, replace(start, choices=start.choices[1:]))
    assert "You can go north or" in twee_of(fewer, dialect).decode()
    # One whose passage has another name leads there.
    moved = _with(read.book, replace(read.book.by_id["n"], title="North"))
    assert "[[go north->North]]" in twee_of(moved, dialect).decode()


def test_what_is_new_or_gone_changes_nothing_else_in_the_file() -> None:
    book = read_twee(TWEE).book
    fresh = Section("cave", "Cave", "Dark.", SectionKind.TERMINAL)
    more = replace(book, sections=(*book.sections, fresh))
    assert _built(more, "twee").decode() == f"{TWEE}\n:: Cave [ending]\nDark.\n"
    fewer = replace(book, sections=book.sections[:-1])
    assert _built(fewer, "twee").decode() == TWEE.replace(":: Lower path\nThe end.\n\n", "")
    named = replace(book, title="The Dam")
    assert _built(named, "twee").decode() == TWEE.replace("The Weir\n", "The Dam\n")
    numbered = replace(book, ifid="B")
    assert _built(numbered, "twee").decode().partition(":: Weir")[2] == TWEE.partition(":: Weir")[2]


def test_an_edited_file_is_the_form_of_the_book_from_then_on() -> None:
    book = read_twee(TWEE).book
    edited = TWEE.replace("The end.", "The  end,   wet.  ") + "\n:: New  [x]\nHere  <b>.\n"
    merged, diff = merge(book, read_story(edited.encode()), "twee")
    assert (diff.added, diff.changed) == (("new",), ("lower-path",))
    assert _built(merged, "twee") == edited.encode()


def test_a_list_of_links_is_what_its_author_wrote() -> None:
    twee = read_twee(":: Start\n* [[A]]\n* [[B]]\n\n:: A\nx\n\n:: B\n").book
    assert _unwritten(twee) == ["b"]
    ink = read_ink(
        "-> hub\n\n=== hub\n+ [Left] -> left\n+ [Right] -> hub\n\n=== left\nx -> END"
    ).book
    assert _unwritten(ink) == []
    # A draft of our own that waits for its words still does.
    assert _unwritten(replace(twee, verbatim=())) == ["start", "b"]


def _unwritten(book: Book) -> list[str]:
    return [each.place for each in read_integrity(book) if each.check == "no_text"]


OPEN = Book(
    "The Stair",
    "hall",
    (
        Section("hall", "Hall", "A hall.", choices=(StoryChoice("c", "Go up now", "stair"),)),
        Section("stair", "Stair", "A stair. Then?", SectionKind.NORMAL),
    ),
)


@pytest.mark.parametrize("form", ["html", "markdown", "twee-sugarcube", "twee-harlowe", "ink"])
def test_a_section_that_is_left_open_says_so_in_every_format(form: str) -> None:
    out = re.sub(r"\\", "", _built(OPEN, form).decode())
    assert out.count(WORDS.left_open) == 1 and "The end." not in out
    if form.startswith(("twee", "ink")):
        again = read_story(out.encode()).book
        stair = again.by_id["stair"]
        assert (stair.text, stair.kind, stair.tags) == ("A stair. Then?", SectionKind.NORMAL, ())
        assert _built(again, form).decode() == out


def test_a_section_that_is_left_open_says_so_to_whoever_plays_it() -> None:
    assert play(ModelPlayer(OPEN), [0]).sights[-1].lines == ("A stair. Then?", WORDS.left_open)
    assert any("stair" in each.place for each in read_integrity(OPEN) if each.check == "dead_end")


TUNNELS = """\
-> house

=== house
You go round.
-> room ->
Back again.
-> END

=== room
A room.
+ [Stay] ->->
+ [Look] -> room
- Dust.
"""


def test_a_tunnel_of_ink_is_kept_listed_and_named_where_readers_see_it() -> None:
    book = read_ink(TUNNELS).book
    assert {each.name: each.why for each in book.verbatim} == {
        "house": "a tunnel",
        "room": "a tunnel",
    }
    assert ink_of(book, WORDS).decode().split() == TUNNELS.split()
    seen = {each.place: each.evidence for each in read_shown_code(book)}
    assert seen["house"] == "readers see “-> room ->”" and "room" not in seen
    # Only a player knows where the way back leads, so it is not the next gather.
    stayed = book.by_id[book.by_id["room"].choices[0].to]
    assert not stayed.choices and stayed.id in book.unread
    assert stayed.id in seen


def test_a_first_divert_needs_no_section_of_its_own() -> None:
    told = "// ours\n->start\nVAR a = false\n/* x */\nEXTERNAL f(x)\n\n=== start\nRain. -> END\n"
    book = read_ink(told).book
    assert book.start == "start" and [each.id for each in book.sections] == ["start"]
    assert "EXTERNAL f(x)" in ink_of(book, WORDS).decode()
    assert read_ink(ink_of(book, WORDS).decode()).book == book


def test_ink_of_words_alone_is_one_section_that_ends() -> None:
    words = "Hello, world!\n"
    assert kind_of_file(words, "hello.INK") == "ink"
    (only,) = read_story(words.encode(), "ink").book.sections
    assert (only.text, only.kind) == ("Hello, world!", SectionKind.TERMINAL)
