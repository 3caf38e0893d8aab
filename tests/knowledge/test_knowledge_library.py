"""The library: any text goes in, any query is asked, and passages say where they stand."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from knowledge_ground import LetterEmbedder, open_knowledge

from callboard.core.errors import InvalidInput
from callboard.knowledge import EmbeddingFailed, Indexing, OfflineEmbedder, SourceText
from callboard.knowledge.library.passages import cut
from callboard.store.integrity import check_integrity
from callboard.store.sqlite.salvage import salvage
from stores import ON_A_FILE

pytestmark = pytest.mark.anyio

HARBOUR = """---
title: Harbour
---
# The harbour

Ships lie at anchor, waiting for the tide.

## Smugglers

The smugglers landed brandy at night.

```
# no heading
```
"""


async def test_passages_name_their_lines_and_headings(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        library = knowledge.library
        report = await library.put("notes", [SourceText("a.md", HARBOUR, title="Harbour")])
        assert (report.added, report.updated, report.unchanged, report.passages) == (1, 0, 0, 3)
        (found,) = library.search("notes", "smuggler", mode="text")
        assert (found.path, found.title, found.heading) == (
            "a.md",
            "Harbour",
            "The harbour > Smugglers",
        )
        lines = HARBOUR.split("\n")
        assert found.text == "\n".join(lines[found.line_start - 1 : found.line_end])
        assert found.text.startswith("## Smugglers")
        assert found.text.endswith("```")
        assert found.bm25 > 0
        (document,) = library.documents("notes")
        assert (document.path, document.passages) == ("a.md", 3)
        assert library.collections() == ("notes",)


async def test_unchanged_documents_cost_nothing(tmp_path: Path) -> None:
    embedder = LetterEmbedder()
    with open_knowledge(tmp_path, embedder=embedder) as (knowledge, _):
        library = knowledge.library
        one, two = SourceText("a.txt", "apples\n"), SourceText("b.txt", "pears\n")
        await library.put("notes", [one, two])
        asked = len(embedder.asked)
        report = await library.put("notes", [one, SourceText("b.txt", "plums\n")])
        assert (report.added, report.updated, report.unchanged) == (0, 1, 1)
        assert len(embedder.asked) == asked + 1
        assert library.search("notes", "pears", mode="text") == []
        assert [each.path for each in library.search("notes", "plums", mode="text")] == ["b.txt"]
    # Another model means other vectors, so everything is embedded again.
    with open_knowledge(tmp_path, embedder=LetterEmbedder("other")) as (knowledge, _):
        assert (await knowledge.library.put("notes", [one])).updated == 1


async def test_collections_are_apart_and_documents_go(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, database):
        library = knowledge.library
        for name in ("one", "two"):
            await library.put(name, [SourceText("a.txt", f"apples of {name}")])
        for mode in ("text", "vector", "hybrid"):
            assert [each.text for each in library.search("one", "apples", mode=mode)] == [
                "apples of one"
            ]
        assert await library.remove("one", "a.txt") == 1
        assert await library.remove("one", "a.txt") == 0
        for mode in ("text", "vector", "hybrid"):
            assert library.search("one", "apples", mode=mode) == []
            assert len(library.search("two", "apples", mode=mode)) == 1
        assert await library.remove("two") == 1
        assert library.collections() == ()
        assert (
            database.read(lambda c: c.execute("SELECT COUNT(*) FROM library_passages").fetchone())[
                0
            ]
            == 0
        )
        with pytest.raises(InvalidInput, match="collection needs a name"):
            await library.put(" ", [SourceText("a", "b")])
        with pytest.raises(InvalidInput, match="needs a path"):
            await library.put("one", [SourceText("", "b")])


async def test_words_and_meaning_together_find_more(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        library = knowledge.library
        library._embedder = OfflineEmbedder()
        texts = {
            "sea.txt": "The sailor steered his boat across the ocean through the storm.",
            "bread.txt": "The baker kneaded dough and lit the oven before dawn.",
            "law.txt": "The judge read the verdict to a silent court room.",
            "ship.txt": "A vessel named Halcyon appears once in the ledger.",
        }
        await library.put("notes", [SourceText(path, text) for path, text in texts.items()])
        # By meaning alone: no word is shared.
        assert library.search("notes", "ships at sea", 1, "vector")[0].path in (
            "sea.txt",
            "ship.txt",
        )
        assert library.search("notes", "court trial guilty", 1)[0].path == "law.txt"
        # By a rare word alone, which no meaning helps with.
        best = library.search("notes", "Halcyon", 1)[0]
        assert best.path == "ship.txt"
        assert best.bm25 > 0
        assert best.similarity is not None
        assert library.search("notes", "Halcyon") == library.search("notes", "Halcyon")
        assert library.search("notes", "zyzzyva", mode="text") == []
        assert library.search("notes", "bread", 0) == []


async def test_a_failing_embedder_stores_nothing(tmp_path: Path) -> None:
    with open_knowledge(tmp_path, embedder=LetterEmbedder(is_broken=True)) as (knowledge, _):
        with pytest.raises(EmbeddingFailed):
            await knowledge.library.put("notes", [SourceText("a.txt", "x")])
        assert knowledge.library.documents("notes") == ()


HOSTILE = [
    '"',
    "'",
    "a\x00b",
    "NEAR(a b)",
    "a AND",
    "OR",
    "NOT a",
    "col:a",
    "text:tide",
    "a*",
    "^a",
    "(((",
    "-a",
    "{a b}:c",
    "\ud800",
    "_",
    "'; DROP TABLE library_passages; --",
    "٣",
    "日本語",
    "",
    "   ",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.text(max_size=60) | st.sampled_from(HOSTILE) | st.from_regex(r'["*^():+\-{} a-zA-Z]{0,20}')
)
async def test_no_query_is_an_error(shelves, query: str) -> None:
    for mode in ("text", "vector", "hybrid"):
        found = shelves.search("notes", query, 3, mode)
        assert len(found) <= 3


@pytest.fixture(scope="module")
def shelves(tmp_path_factory: pytest.TempPathFactory):
    import asyncio

    with open_knowledge(tmp_path_factory.mktemp("shelves")) as (knowledge, _):
        documents = [SourceText("a.md", HARBOUR), SourceText("b.txt", "near and or not tide")]
        asyncio.run(knowledge.library.put("notes", documents))
        yield knowledge.library


@pytest.mark.parametrize("query", ["tide*", '"tide', "tide) OR (", "TIDE NOT tide", "text: tide"])
async def test_signs_in_a_query_do_not_hide_its_words(shelves, query: str) -> None:
    assert {each.path for each in shelves.search("notes", query, mode="text")} == {"a.md", "b.txt"}


lines = st.lists(
    st.text(max_size=30)
    | st.sampled_from(["", "# One", "## Two", "Title\n====", "- item", "```", "> quote", "---"])
    | st.sampled_from(["[a]: http://x", "word " * 400, "x" * 3000, "One. " * 600, "|a|b|\n|-|-|"]),
    max_size=25,
)


@given(st.sampled_from(["a.md", "a.txt", "noname"]), lines)
def test_no_line_is_lost_and_none_is_told_twice(path: str, parts: list[str]) -> None:
    text = "\n".join(parts)
    chunks = cut(path, text)
    whole = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    told = "".join("".join(chunk.text.split()) for chunk in chunks)
    assert told == "".join("".join(line.split()) for line in whole)
    last = 0
    for chunk in chunks:
        assert 0 < len(chunk.text) <= 1400
        assert chunk.text.strip()
        assert 1 <= chunk.line_start <= chunk.line_end <= len(whole)
        assert chunk.line_start >= last
        last = chunk.line_end
        span = "\n".join(whole[chunk.line_start - 1 : chunk.line_end])
        assert chunk.text in span
        if chunk.line_start != chunk.line_end:
            assert chunk.text == span


def test_long_lines_are_cut_between_sentences() -> None:
    line = "The night was long and the sea was loud. " * 100
    chunks = cut("a.txt", line)
    assert len(chunks) > 2
    assert all(chunk.text.endswith(".") for chunk in chunks)


async def test_a_large_collection_is_searched_with_an_index(tmp_path: Path) -> None:
    indexing = Indexing(tmp_path / "vectors", exact_up_to=100)
    words = [f"{a}{b}{c} {c}{a}" for a in "abcdefgh" for b in "ijklmn" for c in "opqrst"]
    documents = [SourceText(f"{number:03d}.txt", word) for number, word in enumerate(words)]

    def look(library):
        return [library.search("notes", word, 5, "vector") for word in words[::20]]

    with open_knowledge(tmp_path) as (knowledge, _):
        await knowledge.library.put("notes", documents)
        exact = look(knowledge.library)
    with open_knowledge(tmp_path, indexing=indexing) as (knowledge, _):
        assert look(knowledge.library) == exact
        knowledge.library.update_index("notes")
        (file,) = (tmp_path / "vectors").iterdir()
        _assert_near(look(knowledge.library), exact)
    with open_knowledge(tmp_path, indexing=indexing) as (knowledge, _):
        searchable = knowledge.library._database.read(
            lambda c: knowledge.library._searchable(c, "notes")
        )
        assert searchable.approximate is not None
        assert searchable.approximate._index is not None, "the file is read, not made anew"
        # What came after the index was made is found beside it.
        prepared = knowledge.library.prepare("notes", [SourceText("new.txt", "zzzz")])
        await knowledge.library._database.write(
            lambda c: knowledge.library.put_in(c, "notes", prepared)
        )
        assert knowledge.library.search("notes", "zz", 1, "vector")[0].path == "new.txt"
        await knowledge.library.remove("notes", "000.txt")
        found = knowledge.library.search("notes", words[0], 5, "vector")
        assert len(found) == 5
        assert "000.txt" not in {each.path for each in found}
    for damage in (b"", b"nonsense" * 100):
        file.write_bytes(damage)
        with open_knowledge(tmp_path, indexing=indexing) as (knowledge, _):
            assert knowledge.library.search("notes", "zz", 1, "vector")[0].path == "new.txt"
    shutil.rmtree(tmp_path / "vectors")
    with open_knowledge(tmp_path, indexing=indexing) as (knowledge, _):
        assert knowledge.library.search("notes", "zz", 1, "vector")[0].path == "new.txt"


def _assert_near(found, exact) -> None:
    hits = sum(
        len({each.path for each in one} & {each.path for each in other})
        for one, other in zip(found, exact, strict=True)
    )
    assert hits >= 0.9 * sum(map(len, exact))


@ON_A_FILE
async def test_full_text_is_sound_and_survives_salvage(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, database):
        await knowledge.library.put("notes", [SourceText("a.md", HARBOUR)])
        await knowledge.library.put("notes", [SourceText("a.md", HARBOUR + "\nmore\n")])
        assert check_integrity(database).is_sound
    rescued = tmp_path / "rescued"
    rescued.mkdir()
    kept = salvage(tmp_path / "callboard.db", rescued / "callboard.db")
    assert kept["library_passages"] == 3
    assert not any(name.startswith("library_text") for name in kept)
    with open_knowledge(rescued) as (knowledge, database):
        assert len(knowledge.library.search("notes", "smuggler", mode="text")) == 1
        assert check_integrity(database).is_sound
        database.submit(
            lambda c: (
                c.execute(
                    "INSERT INTO library_text (library_text, rank) VALUES ('integrity-check', 1)"
                ).rowcount
            )
        ).result()
