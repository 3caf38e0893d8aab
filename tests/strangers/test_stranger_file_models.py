"""Models that are files are named by the user alone; a clone's names open and write nothing."""

import json
import os
from pathlib import Path

import pytest
from clone import REPLIES, Clone

from callboard.api.app import create_app
from callboard.studio.opening import Opening
from door_server import served

REFUSED = "only you may"


def loot(clone: Clone, link: str = "minutes.jsonl") -> str:
    """Ship what writes into the user's profile, and return the model that would do it."""
    clone.ship("$(touch OWNED).yaml", REPLIES)
    (clone.root / link).symlink_to("../../.profile")
    return f"record:{link}:script:$(touch OWNED).yaml"


@pytest.mark.parametrize("place", [".callboard/config.yaml", ".callboard/local/config.yaml"])
@pytest.mark.parametrize(
    "settings",
    [
        "models: {{default: '{model}'}}",
        "models: {{default: 'script', fallback_default: ['{model}']}}",
        "models: {{default: 'nobody:m', fallbacks: {{nobody: ['{model}']}}}}",
    ],
)
def test_settings_of_a_clone_name_no_file(clone: Clone, place: str, settings: str) -> None:
    before = clone.profile.read_bytes()
    clone.ship(place, settings.format(model=loot(clone)) + "\n")
    told = clone.chat()
    assert told.code != 0
    assert clone.profile.read_bytes() == before
    shown = clone.call("doctor").all
    assert place in shown and "models." in shown
    # One key is refused for its value, another because a clone may not set it at all.
    assert "--model" in shown or "came with the project and is not applied" in shown


def test_the_users_own_default_does_not_make_an_agents_file_taken(clone: Clone) -> None:
    before = clone.profile.read_bytes()
    clone.own(f"models: {{default: 'script:{clone.home}/mine.yaml'}}\n")
    (clone.home / "mine.yaml").write_text(REPLIES)
    assert clone.chat().code == 0
    clone.ship(".callboard/agents.yaml", f"- {{id: writer, model: '{loot(clone)}'}}\n")
    told = clone.chat()
    assert told.code != 0
    assert clone.profile.read_bytes() == before
    for needed in ("agents.yaml", "writer", REFUSED, "--model"):
        assert needed in told.err


@pytest.mark.anyio
async def test_a_request_names_no_file(clone: Clone, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    clone.ship("x.yaml", REPLIES)
    own = f"script:{clone.home}/mine.yaml"
    (clone.home / "mine.yaml").write_text(REPLIES)
    flags = {"pack": "writers_factory", "models": {"default": own}}
    app = create_app(clone.root, Opening(flags=flags, environment=clone.variables()))
    async with served(app) as client:
        for model in (f"record:{outside}:{own}", f"script:{clone.root}/x.yaml", "script:/dev/zero"):
            talk = {"message": "hello", "model": model}
            refused = await client.post("/api/factory/chat", json=talk)
            assert refused.status_code == 400
            assert refused.json()["error"]["code"] == "file_model_refused"
            assert REFUSED in refused.text
            checked = await client.post("/api/factory/tournaments/check", json={"agents": [model]})
            assert [each["is_usable"] for each in checked.json()] == [False]
            contest = {"test_prompt": "A bell rings.", "agents": [model]}
            held = await client.post("/api/factory/tournaments", json=contest)
            assert held.status_code >= 400
        # What the user named when the server was started may be said again.
        spoken = await client.post("/api/factory/chat", json={"message": "hello", "model": own})
        assert spoken.status_code == 200, spoken.text
    assert not outside.exists()


def test_a_routed_file_of_a_pack_is_refused(clone: Clone) -> None:
    clone.ship(".callboard/config.yaml", "pack: writers_factory\n")
    before = clone.profile.read_bytes()
    own = f"models:\n  routes: {{chat: '{loot(clone)}', default: '{loot(clone, 'b.jsonl')}'}}\n"
    clone.ship(".callboard/writers_factory.yaml", own)
    told = clone.call("factory", "chat", "--message", "hello")
    assert told.code != 0
    assert REFUSED in told.err
    assert clone.profile.read_bytes() == before


def test_a_stored_run_goes_on_only_with_the_file_the_user_names_again(clone: Clone) -> None:
    clone.ship("slow.yaml", "replies:\n  - {fail: {status: 400, message: no}, times: always}\n")
    clone.ship("good.yaml", REPLIES)
    assert clone.chat("--model", "script:slow.yaml").code != 0
    assert clone.call("runs", "retry", "last", "--model", "script:good.yaml").code == 0
    assert clone.chat(CALLBOARD_MODELS_DEFAULT="script:good.yaml").code == 0


def test_what_the_user_names_works_from_every_place_of_their_own(clone: Clone) -> None:
    # Outside of the clone: a file in it is found by its tools, and changes the prompts.
    (clone.home / "good.yaml").write_text(REPLIES)
    rest = f"{clone.home}/tapes/one.jsonl:script:{clone.home}/good.yaml"
    assert clone.chat("--model", f"record:{rest}").code == 0
    clone.own(f"models: {{default: 'replay:{rest}'}}\n")
    told = clone.chat()
    assert told.code == 0, told.err
    # The clone may repeat what the user named, letter by letter, and nothing near it.
    script = f"script:{clone.home}/good.yaml"
    clone.own(f"models: {{default: '{script}'}}\n")
    clone.ship(".callboard/agents.yaml", f"- {{id: writer, model: '{script}'}}\n")
    told = clone.chat()
    assert told.code == 0, told.err
    near = script.replace("/good.yaml", "/./good.yaml")
    clone.ship(".callboard/agents.yaml", f"- {{id: writer, model: '{near}'}}\n")
    assert clone.chat().code != 0


@pytest.mark.parametrize(
    "model",
    ["script:/dev/zero", "script:pipe", "script:.", "script:/dev/null", "replay:pipe.jsonl:local",
     "replay:zero.jsonl:local"],
)  # fmt: skip
def test_a_file_that_is_none_is_refused_at_once(clone: Clone, model: str) -> None:
    os.mkfifo(clone.root / "pipe")
    os.mkfifo(clone.root / "pipe.jsonl")
    (clone.root / "zero.jsonl").symlink_to("/dev/zero")
    told = clone.chat("--model", model)
    assert told.code != 0
    assert "regular file" in told.err or "link" in told.err or "directory" in told.err
    assert "mistake in Callboard" not in told.err


def test_a_file_that_is_too_large_is_refused(clone: Clone) -> None:
    with (clone.root / "huge.yaml").open("wb") as file:
        file.truncate(5_000_000_000)
    told = clone.chat("--model", "script:huge.yaml")
    assert told.code != 0 and "larger than" in told.err


def test_a_users_cassette_is_not_reached_by_a_clones_link(clone: Clone) -> None:
    clone.ship("good.yaml", REPLIES)
    before = clone.profile.read_bytes()
    (clone.root / "talk.jsonl").symlink_to("../../.profile")
    (clone.root / "tapes").symlink_to("../..")
    (clone.home / "diary.jsonl").write_text('{"version":1}\nmine')
    for file in ("talk.jsonl", "tapes/diary.jsonl", "tapes/new.jsonl"):
        told = clone.chat("--model", f"record:{file}:script:good.yaml")
        assert told.code != 0 and "link" in told.err
        told = clone.chat("--model", f"replay:{file}:script:good.yaml")
        assert told.code != 0 and "link" in told.err
    assert clone.profile.read_bytes() == before
    assert (clone.home / "diary.jsonl").read_text() == '{"version":1}\nmine'
    assert not (clone.home / "new.jsonl").exists()


@pytest.mark.parametrize(
    "text", ["one line without an end", '{"name": "x"}\n{"torn', "\n", "[1]\n"]
)
def test_what_is_no_cassette_is_never_written_to(clone: Clone, text: str) -> None:
    clone.ship("good.yaml", REPLIES)
    clone.ship("notes.jsonl", text)
    told = clone.chat("--model", "record:notes.jsonl:script:good.yaml")
    assert told.code != 0 and "no cassette" in told.err
    assert (clone.root / "notes.jsonl").read_text() == text


def test_a_torn_cassette_is_still_mended(clone: Clone) -> None:
    clone.ship("good.yaml", REPLIES)
    model = "record:talk.jsonl:script:good.yaml"
    assert clone.chat("--model", model).code == 0
    tape = clone.root / "talk.jsonl"
    whole = tape.read_bytes()
    tape.write_bytes(whole + whole[:50])
    assert clone.chat("--model", model).code == 0
    assert tape.read_bytes().startswith(whole)
    assert all(json.loads(line)["version"] == 1 for line in tape.read_text().splitlines())
    tape.write_bytes(whole[:7])
    assert clone.chat("--model", model).code == 0
    assert len(tape.read_text().splitlines()) == len(whole.splitlines())
