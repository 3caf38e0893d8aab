"""Vectors: the bundled model, exact search against a naive one, and nothing loaded too early."""

import asyncio
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from knowledge_ground import LetterEmbedder

from callboard.knowledge import DimensionsDiffer, EmbeddingFailed, Knowledge, OfflineEmbedder
from callboard.knowledge.vectors import Space, embed_texts, stack
from callboard.studio.opening import Opening
from callboard.studio.studio import Studio
from callboard.testing.opening import SCRIPTED

SMALL = st.floats(-1, 1, width=16)


@pytest.fixture(scope="module")
def offline() -> OfflineEmbedder:
    return OfflineEmbedder()


def test_the_vectors_are_loaded_once_for_all_projects(
    offline: OfflineEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = offline.embed(["the tide"])

    def refuse(*_: Any) -> None:
        raise AssertionError("the weights were read a second time")

    monkeypatch.setattr("safetensors.numpy.load_file", refuse)
    assert (OfflineEmbedder().embed(["the tide"]) == expected).all()


def test_the_bundled_model_knows_what_is_alike(offline: OfflineEmbedder) -> None:
    rows = offline.embed(["a ship on the sea", "boats in the ocean", "the tax law of 1913", ""])
    assert rows.shape == (4, offline.dimensions)
    assert np.allclose(np.linalg.norm(rows[:3], axis=1), 1, atol=1e-5)
    assert not rows[3].any()
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.1


@given(st.lists(st.text(max_size=20), max_size=5))
def test_any_text_has_a_vector_that_never_changes(
    offline: OfflineEmbedder, texts: list[str]
) -> None:
    rows = offline.embed(texts)
    assert rows.shape == (len(texts), offline.dimensions)
    assert np.isfinite(rows).all()
    assert np.array_equal(rows, offline.embed(texts))
    for number, text in enumerate(texts):
        assert np.array_equal(offline.embed([text])[0], rows[number])


def test_stored_vectors_are_little_endian_floats() -> None:
    embedder = LetterEmbedder()
    (stored,) = embed_texts(embedder, ["ab"])
    assert len(stored) == 4 * embedder.dimensions
    half = np.float32(0.5) ** np.float32(0.5)
    assert struct.unpack("<2f", stored[:8]) == pytest.approx((half, half))
    assert np.array_equal(stack([stored], 26), embedder.embed(["ab"]))
    with pytest.raises(DimensionsDiffer):
        stack([stored], 25)


def test_an_embedder_that_miscounts_is_refused() -> None:
    embedder = LetterEmbedder()
    embedder.dimensions = 26
    embedder.embed = lambda texts: np.zeros((1, 5), dtype=np.float32)
    with pytest.raises(DimensionsDiffer, match=r"\(1, 5\)"):
        embed_texts(embedder, ["a"])
    with pytest.raises(EmbeddingFailed, match="letters"):
        embed_texts(LetterEmbedder(is_broken=True), ["a"])


@given(
    arrays.arrays(np.float32, st.tuples(st.integers(0, 12), st.just(3)), elements=SMALL),
    arrays.arrays(np.float32, 3, elements=SMALL),
    st.integers(0, 15),
    st.sets(st.integers(0, 11)),
)
def test_the_nearest_are_the_nearest_whatever_is_left_out(matrix, query, k, wanted) -> None:
    members = list(range(len(matrix)))
    space = Space(members, matrix)
    for chosen, found in (
        (members, space.nearest(query, k)),
        (
            [each for each in members if each in wanted],
            space.nearest(query, k, wanted.__contains__),
        ),
    ):
        assert len(found) == min(k, len(chosen))
        scores = {each: float(matrix[each] @ query) for each in chosen}
        expected = sorted((-round(scores[each], 5), each) for each in chosen)[:k]
        assert sorted(-round(score, 5) for _, score in found) == pytest.approx(
            [score for score, _ in expected], abs=2e-5
        )
        assert {each for each, _ in found} <= set(chosen)
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))


def test_a_query_of_another_length_is_refused() -> None:
    space = Space(["a"], np.zeros((1, 3), dtype=np.float32))
    with pytest.raises(DimensionsDiffer):
        space.nearest(np.zeros(4, dtype=np.float32), 1)


def test_a_studio_knows_without_loading_what_it_may_never_need(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from callboard.studio.studio import Studio\n"
        "async def look(root):\n"
        "    async with Studio.open(root) as studio:\n"
        "        studio.knowledge.graph('story').nodes()\n"
        "        studio.knowledge.facts('story').list()\n"
        "        studio.knowledge.library.collections()\n"
        "    heavy = {'numpy', 'rustworkx', 'wordllama', 'usearch', 'safetensors'}\n"
        "    print(sorted(heavy & set(sys.modules)))\n"
        "asyncio.run(look(Path(sys.argv[1])))\n"
    )
    (tmp_path / ".callboard").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_studio_wires_it(tmp_path: Path) -> None:
    async def look() -> None:
        (tmp_path / ".callboard").mkdir()
        async with Studio.open(tmp_path, Opening(flags=SCRIPTED)) as studio:
            assert isinstance(studio.knowledge, Knowledge)
            entry = await studio.knowledge.facts("story").save("world", "a", "b")
            assert entry.id.startswith("fact_")
            assert studio.knowledge.facts("story") is studio.knowledge.facts("story")

    asyncio.run(look())
