"""Markdown as prose: front matter, blocks, sentences, dialogue, and quotes that hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.library.story.index.names import count_names
from callboard.library.story.index.outline import read_outline
from callboard.library.story.text import Document, words_of
from callboard.library.story.text.sentences import LONGEST_CHARS

PIECES = st.sampled_from(
    [
        "---\n", "title: A\n", "# One\n", "## Scene 2\n", "\n", "\r\n", "\r", "- item one.\n",
        "> A letter. It was cold.\n", "1. first\n", "1914. It began.\n", "```\ncode. Here.\n```\n",
        "~~~\n", "<!-- hidden. Note. -->", "%% note %%", "| a | b |\n|---|---|\n| c | d |\n",
        "“Stop!” Holmes cried. ", "“I — ", "He said: ‘Go.’ Then Mr. Smith left. ", "*She* ran. ",
        "[[Kael|the captain]] fell… ", "[a link](http://x.y) and\nmore. ", "— Dash speech. ",
        "«Oui», dit-il. ", "Er ging. ", "\\*not bold\\* ", "  indented  text ", "\t", "…", "***\n",
        "\ufeff", "\u00a0", "ünïcode Öl. ", "これは本です。彼は言った。", "TODO: x\n",
        "POV: Kael\n",
        "<b>bold</b> ", "#\n", "* * *\n", "a_b_c _emph_. ", "No. 3 was No. ", "...\n",
    ]
)  # fmt: skip


def holds(document: Document, text: str, first: int, last: int) -> bool:
    return text in "\n".join(document.lines[first - 1 : last])


@pytest.mark.req("CR-40", "CR-46")
@given(st.lists(PIECES, max_size=30).map("".join))
def test_every_sentence_is_quoted_word_for_word_at_its_lines(text: str) -> None:
    document = Document("a.md", text)
    for sentence in document.sentences:
        quote = document.quote(sentence)
        assert quote.text.strip()
        assert 1 <= quote.line_start <= quote.line_end <= len(document.lines)
        assert holds(document, quote.text, quote.line_start, quote.line_end)
        assert words_of(sentence.text) == sentence.words
        assert len(sentence.narration) == len(sentence.text)


@given(st.text(max_size=400))
def test_any_text_is_a_document(text: str) -> None:
    document = Document("a.md", text)
    assert document.word_count == sum(len(sentence.words) for sentence in document.sentences)
    for sentence in document.sentences:
        quote = document.quote(sentence)
        assert holds(document, quote.text, quote.line_start, quote.line_end)


@pytest.mark.req("CR-40")
def test_prose_leaves_out_what_nobody_reads_aloud() -> None:
    text = (
        "---\ntitle: Ashes\n---\n# Ashes\n\nPOV: Kael\n\nHe ran. <!-- why? --> He fell.\n\n"
        "```\nprint('no')\n```\n\n| a | b |\n|---|---|\n| c | d |\n\n%% note %%\n\n* * *\n\n"
        "It ended."
    )
    document = Document("a.md", text)
    assert [sentence.text for sentence in document.sentences] == [
        "He ran.",
        "He fell.",
        "It ended.",
    ]
    assert [sentence.line_start for sentence in document.sentences] == [8, 8, 22]
    assert document.front == {"title": "Ashes"}
    assert document.fields["pov"] == "Kael"
    assert [heading.text for heading in document.headings] == ["Ashes"]
    assert document.breaks == (20,)
    assert document.rows[0].cells == ("c", "d")


@pytest.mark.req("CR-40")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Holmes met Dr. Mortimer. They left.", 2),
        ("He lived in St. James Street. It was cold.", 2),
        ("“Stop!” Holmes cried. He ran.", 2),
        ("“Stop!” She ran.", 2),
        ("“Stop!” I cried.", 1),
        ("“Is it?” asked Watson.", 1),
        ("“It is.” Watson nodded.", 2),
        ("Her initials were L. L. and nothing else.", 1),
        ("He was an M.R.C.S. The others were not.", 2),
        ("No. 3 was locked. No. He was sure.", 3),
        ("So did I. The rest stayed.", 2),
        ("I went round the sun. Let me return.", 2),
        ("Here I am. Then we left.", 2),
        ("He came at 5 p.m. The house was dark.", 2),
        ("He paid etc. and left.", 1),
        ("Well… I suppose so.", 1),
        ("It was over… The door closed.", 2),
        ("It was $3.50 for two.", 1),
        ("He stopped—“What?”—and went on.", 1),
        ("(He left.) She stayed.", 2),
        ("これは本です。彼は言った。", 2),
        ("Er ging. Sie blieb. Übrigens war es kalt.", 3),
    ],
)
def test_sentences_end_where_readers_stop(text: str, expected: int) -> None:
    found = [sentence.text for sentence in Document("a.md", text).sentences]
    assert len(found) == expected, found


@pytest.mark.req("CR-40")
@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("“Go,” he said. “Now.”", "“Go,” “Now.”"),
        ('"Go," he said.', '"Go,"'),
        ("«Va», dit-il.", "«Va»"),
        ("„Geh“, sagte er.", "„Geh“"),
        ("— Go now, he said.", "— Go now, he said."),
        ("‘It was the boys’ fault,’ he said.", "‘It was the boys’ fault,’"),
        ("'Go,' he said. It was Tom's.", "'Go,'"),
        ("It wasn’t the boys’ fault.", ""),
        ("“Go on to the end of this", "“Go on to the end of this"),
    ],
)
def test_speech_is_told_from_narration(text: str, spoken: str) -> None:
    sentences = Document("a.md", text).sentences
    assert " ".join(each.dialogue for each in sentences if each.has_dialogue) == spoken


def test_a_story_told_aloud_is_narration_with_speech_inside() -> None:
    told = ["“I went out.", "“It was cold. ‘Who goes?’ he cried.", "“I ran.", "“That is all.”"]
    sentences = Document("a.md", "\n\n".join(told)).sentences
    assert [each.text for each in sentences if each.has_dialogue] == ["‘Who goes?’ he cried."]


@pytest.mark.req("CR-38")
@pytest.mark.parametrize(
    ("front", "key", "value"),
    [
        ("when: 1204-01-10", "when", "1204-01-10"),
        ("when: 12:30", "when", "12:30"),
        ("scene: 010", "scene", "010"),
        ("scene: 7", "scene", 7),
        ("flashback: yes", "flashback", True),
        ("characters: [Kael, Mira]", "characters", ["Kael", "Mira"]),
    ],
)
def test_front_matter_says_what_its_author_wrote(front: str, key: str, value: object) -> None:
    assert Document("a.md", f"---\n{front}\n---\nText.").front[key] == value


def test_front_matter_that_is_not_yaml_is_told_and_still_not_prose() -> None:
    document = Document("a.md", "---\ntitle: [Ashes\npov: Kael\n---\nHe ran.")
    assert document.front_error is not None
    assert "line 3" in document.front_error or "line 2" in document.front_error
    assert document.fields["pov"] == "Kael"
    assert [sentence.text for sentence in document.sentences] == ["He ran."]
    assert document.sentences[0].line_start == 5


def test_prose_between_two_rules_is_not_front_matter() -> None:
    document = Document("a.md", "---\n\nShe came home.\n\n---\n\nHe left.")
    assert [sentence.text for sentence in document.sentences] == ["She came home.", "He left."]


def test_aliases_in_front_matter_cannot_blow_up() -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    document = Document("a.md", "---\n" + "\n".join(lines) + "\n---\nText.")
    assert document.front == {}
    assert document.front_error is not None


def test_an_unclosed_fence_is_a_break_not_code_to_the_end() -> None:
    document = Document("a.md", "He ran.\n\n~~~\n\nShe slept.")
    assert [sentence.text for sentence in document.sentences] == ["He ran.", "She slept."]


@pytest.mark.req("CR-40")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_editors_do(end: str) -> None:
    document = Document("a.md", end.join(["\ufeff# One", "", "He ran", "home.", "", "She slept."]))
    assert [(each.line_start, each.line_end) for each in document.sentences] == [(3, 4), (6, 6)]
    assert document.quote(document.sentences[0]).text == "He ran\nhome."
    assert document.headings[0].text == "One"


@pytest.mark.req("CR-42")
def test_other_languages_are_told_from_english() -> None:
    german = (
        "Der alte Mann ging durch den Wald und sah das Haus, in dem er geboren worden war. " * 5
    )
    french = (
        "Le vieil homme traversa la forêt et vit la maison où il était né, puis il pleura. " * 5
    )
    english = "The old man went through the wood and saw the house in which he had been born. " * 5
    assert not Document("a.md", german).is_english
    assert not Document("a.md", french).is_english
    assert Document("a.md", english).is_english
    assert Document("a.md", "").is_english


@pytest.mark.parametrize(
    "piece", [".", "? ", "<!--", "%%", "[[", "_a", "~~~\n", "|a|b|\n|-|-|\n", "Aa of ", "‘a ", "— "]
)
def test_a_hostile_text_takes_no_longer_than_a_long_one(piece: str) -> None:
    # Quadratic work on this much text would run into the timeout of the tests.
    document = Document("outline.md", piece * (300_000 // len(piece)))
    assert len(document.sentences) <= 300_000
    count_names(document)
    read_outline(document)


def test_a_sentence_that_fills_pages_is_read_in_pieces() -> None:
    text = "Mara said " + "her eyes were green and " * 2_000
    document = Document("Story/one.md", text)
    assert max(len(each.text) for each in document.sentences) <= LONGEST_CHARS
    assert " ".join(each.text for each in document.sentences).split() == text.split()
    word = Document("Story/two.md", "a" * 10_000)
    assert "".join(each.text for each in word.sentences) == "a" * 10_000


@pytest.mark.parametrize("nested", ["[" * 60_000, "- " * 30_000, "{a: " * 15_000])
def test_front_matter_nested_without_end_is_only_an_error(nested: str) -> None:
    document = Document("Story/one.md", f"---\na: b\nc:\n  {nested}\n---\n\nMara ran.\n")
    assert document.front_error is not None
    assert "nested deeper" in document.front_error or "not YAML" in document.front_error
    assert [each.text for each in document.sentences][-1] == "Mara ran."
