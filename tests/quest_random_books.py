"""Books drawn by chance for the tests of formats and of the bot, with prose that bites."""

from hypothesis import strategies as st

from callboard.packs.questfoundry.book.model import (
    Book,
    Codeword,
    EndingTitle,
    Gateway,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)

NASTY = (
    *(":: Passage [tag]", "[[a->b]]", "[[a|b]]", "<<set $x to 1>>", "$x _y $$", "-> END", "->->"),
    *("{x: y|z}", "# tag", "</script><script>alert(1)</script>", "~ x = true", "*stars* **two**"),
    *("//slashes//", "a // b", "/* c */", "back\\slash \\n \\", "שלום עולם", "🎉 ok", "''bold''"),
    *("(if: $x)[no]", '(link-goto: "a", "b")', "`code`", "<b>&amp; & &#36;</b>", "=== knot ==="),
    *("= stitch", "+ [choice]", "- gather", "* * *", "TODO: later", "VAR x = 1", "<- thread", "<>"),
    *(
        "1. one",
        "0. zero",
        "> quote",
        "| a | b |",
        "!heading",
        "---",
        "___",
        "{{{raw}}}",
        '"""q"""',
    ),
    *("@@x;y@@", "a|b", "<%= x %>", "http://example.org/x", "?name", "^^up^^ ~~down~~", "{", "}"),
    *("[", "]", "<", ">", "'quoted' \"twice\"", "é ü 漢字", "<!-- no -->", "==x==", "|hook>[x]"),
)
words = st.sampled_from(
    ("the", "ferry", "lamp", "waits", "by", "a", "quiet", "shore.", "You", "go")
)
line = st.one_of(
    st.lists(words, min_size=1, max_size=6).map(" ".join),
    st.lists(st.one_of(words, st.sampled_from(NASTY)), min_size=1, max_size=4).map(" ".join),
    st.text(
        st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("Cs", "Cc")),
        max_size=20,
    ),
)
prose = st.lists(st.one_of(line, st.just("")), max_size=5).map("\n".join)
KEYS = ("lamp", "rope", "old key", "ключ")


@st.composite
def books(draw: st.DrawFn, *, most: int = 7, are_written: bool = True) -> Book:
    """Draw a book; every section can be named, not every one is reached."""
    number = draw(st.integers(1, most))
    ids = [f"s{index}" for index in range(number)]
    key = st.sampled_from(KEYS)
    tests = st.lists(st.builds(KeyTest, key, st.booleans()), max_size=2, unique=True).map(tuple)
    changes = st.lists(
        st.builds(KeyChange, st.sampled_from(("set", "clear")), key), max_size=2
    ).map(tuple)
    gateways: list[Gateway] = []
    sections: list[Section] = []
    for index, each in enumerate(ids):
        choices: list[StoryChoice] = []
        for at in range(draw(st.integers(0, 3))):
            gateway = None
            if draw(st.integers(0, 4)) == 0:
                gateway = f"g-{each}-{at}"
                gateways.append(
                    Gateway(gateway, each, draw(key), draw(st.booleans()), "", draw(line))
                )
            goals = ids if are_written else [*ids, "nowhere"]
            choices.append(
                StoryChoice(
                    f"{each}-c{at}",
                    draw(line),
                    draw(st.sampled_from(goals)),
                    draw(tests),
                    draw(changes),
                    gateway,
                )
            )
        is_end = not choices or draw(st.integers(0, 9)) == 0
        kind = SectionKind.TERMINAL if is_end else SectionKind.NORMAL
        sections.append(
            Section(each, draw(line), draw(prose), kind, index == 0, tuple(choices), draw(changes))
        )
    return Book(
        draw(line) or "A book",
        ids[0],
        tuple(sections),
        ifid="6B1FEF33-2B5C-4D0B-9E39-0D3A6A1A7F10",
        gateways=tuple(gateways),
        endings=tuple(EndingTitle(each, "An end") for each in ids[-1:]),
        codewords=(Codeword("lamp", "LANTERN", reviewed=True), Codeword("rope", "HEMP")),
    )
