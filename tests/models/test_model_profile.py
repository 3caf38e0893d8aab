"""Trying a model out, with scripted models that behave and that do not."""

import pytest

from callboard.models import DirectGate, Line, Script, Usage, probe

pytestmark = pytest.mark.anyio


async def test_a_good_model_gets_a_good_profile() -> None:
    script = Script(
        Line("The sea. The sea. The sea.", prompt_type="probe_text", usage=Usage(8, 6)),
        Line(json={"animal": "hen", "legs": 2, "can_fly": True}, usage=Usage(9, 7)),
    )
    profile = await probe(DirectGate({"script": script}), "script")
    assert profile.text.startswith("The sea.")
    assert profile.keeps_schema
    assert profile.data["animal"] == "hen"
    assert profile.usage == Usage(17, 13)
    script.verify()


async def test_a_model_that_breaks_the_schema_is_described_not_failed() -> None:
    script = Script("Fine.", Line("no JSON, sorry", times=2))
    profile = await probe(DirectGate({"script": script}), "script")
    assert not profile.keeps_schema
    assert "no JSON" in (profile.schema_problem or "")
    assert profile.text == "Fine."
