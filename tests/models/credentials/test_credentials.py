"""Where keys are looked for, in which order, and where they are stored."""

import logging
from pathlib import Path
from typing import Any

import pytest

from callboard.core.errors import InvalidInput
from callboard.models import (
    DirectGate,
    Message,
    MissingKey,
    ModelRequest,
    ProviderConfig,
    RemoteProvider,
    UnknownModel,
)
from callboard.models.credentials import (
    Credentials,
    CredentialsUnreadable,
    CredentialsUnusable,
    EncryptedFile,
    Keychain,
    KeyPlace,
    KeySource,
    Secret,
    account_of,
    variables_of,
)
from callboard.models.credentials.ties import Tie, Ties, address_of

VARIABLES = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "google": "GOOGLE_API_KEY",
}


def house(
    folder: Path,
    keychain: Keychain,
    environ: dict[str, str] | None = None,
    profile: str = "default",
) -> Credentials:
    file = EncryptedFile(folder, machine=lambda: "m", user=lambda: "u")
    return Credentials(environ or {}, keychain, file, profile)


@pytest.mark.req("LLM-05", "LLM-06", "TOOL-87")
@pytest.mark.parametrize("provider", sorted(VARIABLES))
def test_environment_then_keyring_then_file(tmp_path: Path, keyring: Any, provider: str) -> None:
    variable = VARIABLES[provider]
    environ = {variable: "from-environment"}
    credentials = house(tmp_path, Keychain(keyring), environ)
    keyring.set_password("callboard:default", provider, "from-keyring")
    credentials.file.set("default", provider, Secret("from-file"))

    found = credentials.status(provider).found
    assert found is not None
    assert (found.secret.reveal(), found.place, found.variable) == (
        "from-environment",
        KeyPlace.ENVIRONMENT,
        variable,
    )
    environ[variable] = "  "
    found = credentials.status(provider).found
    assert found is not None
    assert (found.secret.reveal(), found.place) == ("from-keyring", KeyPlace.KEYRING)
    keyring.kept.clear()
    found = credentials.status(provider).found
    assert found is not None
    assert (found.secret.reveal(), found.place) == ("from-file", KeyPlace.FILE)
    credentials.file.delete("default", provider)
    assert credentials.status(provider).found is None


@pytest.mark.req("TOOL-88")
def test_a_broken_keyring_is_passed_over(
    tmp_path: Path, no_keyring: Keychain, caplog: pytest.LogCaptureFixture
) -> None:
    credentials = house(tmp_path, no_keyring)
    with caplog.at_level(logging.DEBUG):
        assert credentials.save("openai", Secret("a-key")) is KeyPlace.FILE
    found = credentials.status("openai").found
    assert found is not None
    assert found.place is KeyPlace.FILE
    assert "a-key" not in caplog.text, "the words of a keyring's error may hold the key"


@pytest.mark.req("TOOL-88")
@pytest.mark.parametrize("chosen", ["keyring.backends.fail.Keyring", "no.such.Backend"])
def test_no_keyring_at_all_is_no_error(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    import keyring
    import keyring.core

    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", chosen)
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    keychain = Keychain()
    assert keychain.get("default", "openai") is None
    assert not keychain.set("default", "openai", Secret("k"))
    assert not keychain.delete("default", "openai")


@pytest.mark.req("TOOL-89", "TOOL-90")
def test_storing_prefers_the_keyring_and_is_per_profile(tmp_path: Path, keyring: Any) -> None:
    home = house(tmp_path, Keychain(keyring))
    work = house(tmp_path, Keychain(keyring), profile="work")
    assert home.save("openai", Secret("home-key")) is KeyPlace.KEYRING
    assert work.save("openai", Secret("work-key")) is KeyPlace.KEYRING
    assert keyring.kept == {
        ("callboard:default", "openai"): "home-key",
        ("callboard:work", "openai"): "work-key",
    }
    assert not home.file.path.exists()
    assert work.remove("openai") == (KeyPlace.KEYRING,)
    assert work.status("openai").found is None
    assert home.status("openai").found is not None


@pytest.mark.req("TOOL-89")
def test_a_keyring_that_keeps_nothing_is_noticed(tmp_path: Path, forgetful_keyring: Any) -> None:
    credentials = house(tmp_path, Keychain(forgetful_keyring))
    assert credentials.save("openai", Secret("k")) is KeyPlace.FILE
    assert credentials.status("openai").found is not None


def test_a_new_key_in_the_keyring_leaves_no_old_one_in_the_file(
    tmp_path: Path, keyring: Any, no_keyring: Keychain
) -> None:
    house(tmp_path, no_keyring).save("openai", Secret("old"))
    credentials = house(tmp_path, Keychain(keyring))
    credentials.save("openai", Secret("new"))
    keyring.kept.clear()
    assert credentials.status("openai").found is None


def test_a_keyring_that_holds_on_to_an_old_key_is_told(tmp_path: Path, keyring: Any) -> None:
    keyring.kept["callboard:default", "openai"] = "old"
    keyring.set_password = _refuse
    keyring.delete_password = _refuse
    credentials = house(tmp_path, Keychain(keyring))
    with pytest.raises(CredentialsUnusable, match="does not let go"):
        credentials.save("openai", Secret("new"))
    with pytest.raises(CredentialsUnusable, match="does not let go"):
        credentials.remove("openai")


def _refuse(*_args: str) -> None:
    raise PermissionError("locked")


@pytest.mark.parametrize("value", ["", "two words", "line\nbreak", "käse", "tab\t"])
def test_what_is_no_key_is_refused_without_being_repeated(
    tmp_path: Path, keyring: Any, value: str
) -> None:
    with pytest.raises(InvalidInput, match="not a key") as caught:
        house(tmp_path, Keychain(keyring)).save("openai", Secret(value))
    assert not value or value not in caught.value.message
    assert not keyring.kept


def test_other_names_of_a_provider_share_its_key() -> None:
    assert {account_of(name) for name in ("openai", "openai-chat", "openai-responses")} == {
        "openai"
    }
    assert variables_of("google-gla") == variables_of("google")
    assert variables_of("house") == ()


def test_a_survey_tells_what_it_can_and_what_stood_in_the_way(
    tmp_path: Path, no_keyring: Keychain
) -> None:
    credentials = house(tmp_path, no_keyring, {"GROQ_API_KEY": "in-the-environment"})
    (tmp_path / "credentials.enc").write_text("rubbish")
    (tmp_path / "credentials.salt").write_bytes(b"s" * 32)
    names = [(name, variables_of(name)) for name in ("groq", "openai")]
    survey = credentials.survey(names)
    assert [each.origin for each in survey.keys] == ["GROQ_API_KEY", ""]
    assert isinstance(survey.problem, CredentialsUnreadable)
    assert "in-the-environment" not in repr(survey)


def test_what_was_found_is_cut_out_of_texts(tmp_path: Path, keyring: Any) -> None:
    credentials = house(tmp_path, Keychain(keyring), {"GROQ_API_KEY": "of-the-environment"})
    credentials.save("openai", Secret("of-the-keyring"))
    credentials.status("groq")
    shown = credentials.scrub("of-the-keyring and of-the-environment")
    assert shown == "[key removed] and [key removed]"


# --- through the provider -------------------------------------------------------------------


def ask(model: str) -> ModelRequest:
    return ModelRequest(model, (Message("user", "hi"),))


def gate(keys: KeySource, **configs: ProviderConfig) -> DirectGate:
    ties = Ties(
        given=[Tie(name, address_of(each.base_url)) for name, each in configs.items()
               if each.base_url]
    )  # fmt: skip
    return DirectGate({}, fallback=RemoteProvider({}, configs, keys=keys, ties=ties))


@pytest.mark.anyio
@pytest.mark.req("TOOL-87", "LLM-09")
async def test_a_stored_key_is_sent_to_its_provider_and_to_no_other(
    tmp_path: Path, keyring: Any, provider: Any, good_key: str
) -> None:
    credentials = house(tmp_path, Keychain(keyring))
    credentials.save("openai", Secret(good_key))
    at_server = ProviderConfig(base_url=provider.url)
    asked = gate(credentials, openai=at_server, house=at_server)
    for model in ("openai:tiny", "house:tiny"):
        with pytest.raises(Exception, match="401"):
            await asked.complete(ask(model))
    await asked.close()
    assert good_key in provider.sent[0]
    assert good_key not in provider.sent[1]


@pytest.mark.anyio
async def test_a_key_stored_for_a_name_of_your_own_is_sent_there(
    tmp_path: Path, keyring: Any, provider: Any, good_key: str
) -> None:
    credentials = house(tmp_path, Keychain(keyring))
    credentials.save("house", Secret(good_key))
    asked = gate(credentials, house=ProviderConfig(base_url=provider.url))
    with pytest.raises(Exception, match="401"):
        await asked.complete(ask("house:tiny"))
    await asked.close()
    assert good_key in provider.sent[0]


@pytest.mark.anyio
async def test_a_key_replaced_after_a_refusal_is_used_by_the_next_call(
    tmp_path: Path, keyring: Any, provider: Any, good_key: str, bad_key: str
) -> None:
    credentials = house(tmp_path, Keychain(keyring))
    credentials.save("house", Secret(bad_key))
    asked = gate(credentials, house=ProviderConfig(base_url=provider.url))
    for stored in (bad_key, good_key):
        credentials.save("house", Secret(stored))
        with pytest.raises(Exception, match="401"):
            await asked.complete(ask("house:tiny"))
    await asked.close()
    assert bad_key in provider.sent[0]
    assert good_key in provider.sent[1]


@pytest.mark.anyio
@pytest.mark.req("TOOL-87")
async def test_no_key_anywhere_says_so_and_names_every_way_out(
    tmp_path: Path, keyring: Any
) -> None:
    asked = gate(house(tmp_path, Keychain(keyring)))
    with pytest.raises(MissingKey, match="no credentials found for 'openai'") as caught:
        await asked.complete(ask("openai:gpt-4o"))
    assert "callboard auth openai" in (caught.value.fix or "")
    assert "OPENAI_API_KEY" in (caught.value.fix or "")


@pytest.mark.anyio
@pytest.mark.req("LLM-11")
async def test_a_provider_switched_off_is_never_asked(
    tmp_path: Path, keyring: Any, provider: Any
) -> None:
    config = ProviderConfig(base_url=provider.url, enabled=False)
    asked = gate(house(tmp_path, Keychain(keyring)), house=config)
    with pytest.raises(UnknownModel, match="switched off") as caught:
        await asked.complete(ask("house:tiny"))
    assert "models.providers.house.enabled" in (caught.value.fix or "")
    assert not provider.sent
