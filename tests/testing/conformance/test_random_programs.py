"""Random programs of steps, branches and questions, lost at random moments, end as if nothing was.

The effects lie outside of what is lost: a list that the test holds, as the world would.
"""

import asyncio
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world import World

from callboard.core.vocabulary import RunState
from sizes import size
from stores import ON_A_FILE

leaves = st.sampled_from(["pure", "idempotent", "once", "once without probe", "ask"])
programs = st.lists(
    st.recursive(
        leaves,
        lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda each: ("parallel", each)),
        max_leaves=6,
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.chaos
@pytest.mark.timeout(300)
@ON_A_FILE
@settings(max_examples=size(40, 400))
@given(program=programs, losses=st.lists(st.integers(1, 60), max_size=5))
def test_an_interrupted_program_gives_what_the_uninterrupted_one_gives(
    program: list[Any], losses: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        calm, stormy = World(Path(one), program), World(Path(two), program)
        expected, _ = asyncio.run(calm.perform([]))
        run, seen = asyncio.run(stormy.perform(losses))
    assert run.state is RunState.DONE, run.error
    assert run.result == expected.result
    assert sorted(set(stormy.executed)) == sorted(calm.executed)
    for finished, position in seen:
        assert not finished & set(stormy.executed[position:])
    counts = Counter(stormy.executed)
    for key, count in counts.items():
        # An effect that must happen once does; anything else may be repeated per loss.
        assert count == 1 or (count <= 1 + len(losses) and not is_once(program, key))


def is_once(program: list[Any], key: str) -> bool:
    part: Any = program
    for name in key.split("/"):
        number, _, index = name.partition(".")
        part = part[int(number)]
        if index:
            part = [part[1][int(index)]]
    return str(part).startswith("once")
