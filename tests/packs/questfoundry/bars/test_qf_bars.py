"""Bars as somebody meets them: bad days, built files, quick second looks."""

import io
import zipfile
from dataclasses import replace

import pytest

from callboard.packs.questfoundry.bars.judging import BookMemory, judge
from callboard.packs.questfoundry.bars.ways import Effort
from callboard.packs.questfoundry.book.model import (
    Book,
    Codeword,
    KeyChange,
    KeyTest,
    ProseStyle,
    Return,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.growing.shapes import GrowthPlan, grow
from callboard.packs.questfoundry.verdict import Bar, BarStatus, GatecheckReport


def small(text: str = "You wait by the door.", **more: object) -> Book:
    sections = (
        Section(
            "gate_1",
            "The gate",
            text,
            choices=(
                StoryChoice("c1", "Open the gate", "yard_1"),
                StoryChoice("c2", "Climb the wall", "end_1"),
            ),
        ),
        Section(
            "yard_1", "The yard", "You look round.", choices=(StoryChoice("c3", "Leave", "end_1"),)
        ),
        Section("end_1", "The end", "You go home.", SectionKind.TERMINAL),
    )
    return replace(Book("Gate", "gate_1", sections), **more)  # type: ignore[arg-type]


def checks(report: GatecheckReport, bar: Bar | None = None) -> set[str]:
    found = report.findings if bar is None else report.bar(bar).findings
    return {each.check for each in found}


@pytest.mark.req("QF-91")
def test_all_eight_bars_have_a_status_and_those_not_asked_for_are_na() -> None:
    report = judge(small(), bars=(Bar.INTEGRITY, Bar.STYLE), mode="pre_gate")
    assert [each.bar for each in report.bars] == list(Bar)
    asked = {each.bar for each in report.bars if each.status is not BarStatus.NA}
    assert asked == {Bar.INTEGRITY, Bar.STYLE}
    assert all(each.evidence for each in report.bars)


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("The ashes are cold.", False),
        ("You wash your hands, splash, and go.", False),
        ("There is ash on the floor.", True),
    ],
)
def test_a_key_is_found_as_a_whole_word_only(text: str, is_found: bool) -> None:
    book = small(text)
    choice = StoryChoice("c9", "Sweep the floor", "end_1", (KeyTest("ash", negated=True),))
    first = replace(book.sections[0], choices=(*book.sections[0].choices, choice))
    book = replace(book, sections=(first, *book.sections[1:]))
    assert ("key_word" in checks(judge(book))) is is_found


def test_a_plain_key_that_is_marked_as_one_is_a_leak() -> None:
    book = small("Write down the codeword ash.")
    choice = StoryChoice("c9", "Sweep the floor", "end_1", (KeyTest("ash", negated=True),))
    first = replace(book.sections[0], choices=(*book.sections[0].choices, choice))
    report = judge(replace(book, sections=(first, *book.sections[1:])))
    assert "key_shown" in checks(report, Bar.PRESENTATION)


def test_a_spoiler_is_found_in_any_script_and_behind_hidden_marks() -> None:
    book = small("You meet Var\u200bgas here.", spoilers=("Vargas",))
    assert "spoiler" in checks(judge(book))
    book = small("你在这里遇见国王了。", spoilers=("国王",), language="zh")
    assert "spoiler" in checks(judge(book))


def test_right_to_left_labels_are_read_and_told_apart() -> None:
    book = small()
    labels = ("פתח את השער", "טפס על החומה")
    first = book.sections[0]
    named = tuple(replace(c, label=label) for c, label in zip(first.choices, labels, strict=True))
    report = judge(replace(book, sections=(replace(first, choices=named), *book.sections[1:])))
    assert not checks(report, Bar.ACCESSIBILITY)
    same = tuple(replace(c, label=f"\u2067{labels[0]}\u2069") for c in first.choices)
    report = judge(replace(book, sections=(replace(first, choices=same), *book.sections[1:])))
    assert checks(report, Bar.ACCESSIBILITY) == {"label_same"}


def test_a_hub_of_ten_thousand_choices_is_judged() -> None:
    rooms = tuple(
        Section(
            f"r_{n}",
            "A room",
            "You look round.",
            effects=(KeyChange("set", f"k_{n}"),) if n < 64 else (),
            choices=(StoryChoice(f"b_{n}", "Return", "hub_1"),),
        )
        for n in range(10_000)
    )
    ways = tuple(StoryChoice(f"c_{n}", f"Enter room {n}", f"r_{n}") for n in range(10_000))
    out = StoryChoice("c_out", "Leave", "end_1", tuple(KeyTest(f"k_{n}") for n in range(64)))
    hub = Section("hub_1", "The hub", "You wait.", SectionKind.HUB, choices=(*ways, out))
    end = Section("end_1", "The end", "You go home.", SectionKind.TERMINAL)
    report = judge(Book("Hub", "hub_1", (hub, *rooms, end)))
    assert report.bar(Bar.REACHABILITY).status is BarStatus.GREEN
    assert report.bar(Bar.NONLINEARITY).status is BarStatus.GREEN


def test_ten_thousand_labels_alike_are_told_in_few_words() -> None:
    ways = tuple(StoryChoice(f"c_{n}", "Go in", f"r_{n % 7}") for n in range(10_000))
    rooms = tuple(Section(f"r_{n}", "A room", "You end.", SectionKind.TERMINAL) for n in range(7))
    report = judge(
        Book("Hub", "hub_1", (Section("hub_1", "Hub", "You wait.", choices=ways), *rooms))
    )
    assert "label_same" in checks(report, Bar.ACCESSIBILITY)
    assert len(report.findings) < 300


def test_a_single_key_for_every_door_of_a_long_hall_is_decided() -> None:
    """A door that asks for all of 64 keys is opened by a reader who goes round first."""
    book = grow(GrowthPlan(sections=1_000, gateways=64))
    report = judge(book, effort=Effort(500_000))
    assert report.bar(Bar.REACHABILITY).status is BarStatus.GREEN


def test_undecided_is_yellow_by_name_and_never_green() -> None:
    report = judge(grow(GrowthPlan(sections=4_000, gateways=20)), effort=Effort(500))
    reachability = report.bar(Bar.REACHABILITY)
    assert reachability.status is BarStatus.YELLOW
    assert "unreachable_undecided" in checks(report, Bar.REACHABILITY)
    assert any("stopped" in fact for fact in reachability.facts)


def test_style_in_another_language_is_not_checked_rather_than_fine() -> None:
    style = ProseStyle(pov="second", tense="present")
    text = "Du stehst vor dem Tor und wartest auf den Abend."
    report = judge(small(text, language="de", style=style))
    assert report.bar(Bar.STYLE).status is BarStatus.UNKNOWN


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("“I am here, I tell you, my friend, I am,” says the guard. You nod.", None),
        ("You nod. The guard is old. You see that he was a sailor once.", None),
        ("I nod. My guard is old. I see my own hands.", "person"),
        ("You nodded. The guard was old. You saw that it was late. You went.", "tense"),
    ],
)
def test_person_and_tense_are_those_of_the_narration(text: str, check: str | None) -> None:
    report = judge(small(text, style=ProseStyle(pov="second", tense="present")))
    assert checks(report, Bar.STYLE) == ({check} if check else set())


def page(body: str) -> bytes:
    return f"<!doctype html><html><body><h1>Gate</h1>{body}</body></html>".encode()


@pytest.mark.req("QF-97", "QF-123")
@pytest.mark.parametrize(
    ("body", "check"),
    [
        ("<p>Now you hold has_rope_1.</p>", "key_shown"),
        ("<p>Write down EMBER.</p>", "codeword_on_screen"),
        ("<p>Go to <b>yard_1</b>.</p>", "id_shown"),
        ("<p title='made with seed=77'>Go.</p>", "machine_word"),
        ('<script type="application/json">{"t": "the king is dead"}</script>', "spoiler"),
        ("<img src='x.png'>", "built_alt"),
        ("<h3>Yard</h3>", "heading_order"),
        ("<a href='#nowhere'>Go</a>", "broken_anchor"),
        ("<p id='a'>Go</p><p id='a'>Go</p>", "broken_anchor"),
    ],
)
def test_built_pages_are_read_as_players_see_them(body: str, check: str) -> None:
    book = rope_book()
    built = {"book.html": page(body)}
    report = judge(book, surfaces=built, rebuilt=built)
    assert check in checks(report)
    fine = {"book.html": page("<p>You wait.</p><script>var has_rope_1 = 'EMBER'</script>")}
    assert check not in checks(judge(book, surfaces=fine, rebuilt=fine))


def rope_book(*, reviewed: bool = True) -> Book:
    book = small(spoilers=("the king is dead",))
    first = replace(book.sections[0], effects=(KeyChange("set", "has_rope_1"),))
    asks = StoryChoice("c9", "Tie the rope", "end_1", (KeyTest("has_rope_1"),))
    yard = replace(book.sections[1], choices=(*book.sections[1].choices, asks))
    return replace(
        book,
        sections=(first, yard, book.sections[2]),
        codewords=(Codeword("has_rope_1", "EMBER", reviewed),),
    )


@pytest.mark.parametrize("name", ["book.md", "book.epub"])
def test_paper_prints_reviewed_codewords_and_no_others(name: str) -> None:
    text = "If you have the codeword EMBER, turn to 12."
    data = text.encode()
    if name.endswith("epub"):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("c1.xhtml", page(f"<p>{text}</p>"))
        data = held.getvalue()
    built = {name: data}
    assert not checks(judge(rope_book(), surfaces=built, rebuilt=built), Bar.PRESENTATION)
    report = judge(rope_book(reviewed=False), surfaces=built, rebuilt=built)
    assert report.bar(Bar.PRESENTATION).status is BarStatus.RED


def test_links_between_the_pages_of_an_epub_lead_to_pages_and_anchors() -> None:
    held = io.BytesIO()
    links = "".join(
        f"<a href='{link}'>Go</a>"
        for link in ("c2.xhtml#here", "c2.xhtml#gone", "c3.xhtml", "https://example.org/c4")
    )
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("text/c1.xhtml", page(links))
        archive.writestr("text/c2.xhtml", page("<p id='here'>You wait.</p>"))
    built = {"book.epub": held.getvalue()}
    report = judge(small(), surfaces=built, rebuilt=built)
    broken = [each.evidence for each in report.findings if each.check == "broken_anchor"]
    assert len(broken) == 2
    assert "c2.xhtml#gone" in broken[0] and "c3.xhtml" in broken[1]


def test_a_file_that_cannot_be_read_is_not_checked_unless_its_text_comes_along() -> None:
    built = {"book.pdf": b"%PDF", "broken.epub": b"no zip"}
    report = judge(small(), surfaces=built, rebuilt=built)
    assert report.bar(Bar.PRESENTATION).status is BarStatus.UNKNOWN
    assert {each.place for each in report.findings} == {"book.pdf", "broken.epub"}
    built = {"book.pdf": b"%PDF", "book.pdf.txt": b"You wait."}
    report = judge(small(), surfaces=built, rebuilt=built)
    assert report.bar(Bar.PRESENTATION).status is BarStatus.GREEN


@pytest.mark.req("QF-123")
def test_determinism_compares_two_builds_byte_by_byte() -> None:
    one, other = {"book.md": b"You wait."}, {"book.md": b"You want."}
    assert judge(small()).bar(Bar.DETERMINISM).status is BarStatus.NA
    assert judge(small(), surfaces=one).bar(Bar.DETERMINISM).status is BarStatus.UNKNOWN
    same = judge(small(), surfaces=one, rebuilt=dict(one))
    assert same.bar(Bar.DETERMINISM).status is BarStatus.GREEN
    differs = judge(small(), surfaces=one, rebuilt=other).bar(Bar.DETERMINISM)
    assert differs.status is BarStatus.RED and "byte 6" in differs.evidence
    lacks = judge(small(), surfaces=one, rebuilt={})
    assert checks(lacks, Bar.DETERMINISM) == {"build_missing"}


def test_a_second_look_says_the_same_as_a_first() -> None:
    book = grow(GrowthPlan(sections=120, gateways=5, choices=300))
    memory = BookMemory()
    judge(book, previous=memory)
    for number in (3, 50, 100):
        section = book.sections[number]
        section = replace(section, text="I am. I was. I go to my s00001.", choices=())
        sections = (*book.sections[:number], section, *book.sections[number + 1 :])
        book = replace(book, sections=sections)
        assert judge(book, previous=memory) == judge(book)
    book = replace(book, spoilers=("path",))
    assert judge(book, previous=memory) == judge(book)
    assert judge(book, previous=memory) == judge(book)


def test_more_loops_than_can_be_followed_are_undecided_by_name() -> None:
    size = 3_000
    line = tuple(
        Section(
            f"s_{n}",
            "A bend",
            "You walk.",
            choices=(
                StoryChoice("on", "Walk on", f"s_{(n + 1) % size}"),
                StoryChoice("out", "Leave", "end_1"),
            ),
        )
        for n in range(size)
    )
    end = Section("end_1", "The end", "You go home.", SectionKind.TERMINAL)
    loops = tuple(Return(f"s_{n}", f"s_{n - 1}", "You are tired.") for n in range(1, size))
    report = judge(Book("Line", "s_0", (*line, end), returns=loops))
    assert checks(report, Bar.NONLINEARITY) == {"loop_without_difference", "loop_undecided"}
