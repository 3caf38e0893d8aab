"""Keys of a project's own, profiles as readable files, and service accounts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from callboard.cli.main import main
from callboard.core.errors import InvalidInput
from callboard.core.settings import Settings
from callboard.models import ProviderConfig
from callboard.models.credentials import Credentials, Scrubber, Secret, service_account
from callboard.models.credentials.ties import Ties
from callboard.models.providers.address import locate
from callboard.studio.configuration import Configuration
from callboard.studio.keys import open_credentials
from callboard.studio.project import Project

KEY = "-".join(("sk", "own", "0123456789abcdef"))
OTHER = "-".join(("sk", "usr", "0123456789abcdef"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's configuration folder, with a project beside it as the current one."""
    config = tmp_path / "config"
    config.mkdir()
    monkeypatch.setenv("CALLBOARD_CONFIG_DIR", str(config))
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "CALLBOARD_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "project"
    project.mkdir()
    Project.init(project)
    monkeypatch.chdir(project)
    return config


@pytest.fixture
def auth(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    assert folder.is_dir()

    def run(*words: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert main(["auth", *words, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture(scope="module")
def account_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a service account, with a private key made for this test."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = made.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    content = {
        "type": "service_account",
        "project_id": "stage-door",
        "private_key_id": "abc",
        "private_key": pem.decode(),
        "client_email": "prompter@stage-door.example",
        "token_uri": "http://127.0.0.1:9/token",
    }
    path = tmp_path_factory.mktemp("account") / "account.json"
    path.write_text(json.dumps(content, indent=2))
    return path


@pytest.mark.req("TOOL-97")
def test_a_project_may_have_a_key_of_its_own_which_wins_there_and_nowhere_else(
    folder: Path, auth: Callable[..., Any], tmp_path: Path
) -> None:
    root = tmp_path / "project"
    auth("openai", "--api-key", OTHER, "--no-verify")
    told = auth("openai", "--api-key", KEY, "--no-verify", "--for-project")
    assert (told["stored_in"], told["from"]) == ("project", "project's encrypted file")
    file = root / ".callboard" / "local" / "credentials.enc"
    assert KEY.encode() not in file.read_bytes()
    assert "local/" in (root / ".callboard" / ".gitignore").read_text()
    environ = {"CALLBOARD_CONFIG_DIR": str(folder)}
    here = open_credentials(Settings(), environ, project=Project(root))
    elsewhere = open_credentials(Settings(), environ)
    assert here.status("openai").found.secret == Secret(KEY)
    assert elsewhere.status("openai").found.secret == Secret(OTHER)
    # The environment wins over both.
    environ["OPENAI_API_KEY"] = "sk-env"
    set_by_hand = open_credentials(Settings(), environ, project=Project(root))
    assert set_by_hand.status("openai").found.secret == Secret("sk-env")


def test_removing_a_key_takes_the_project_s_own_along(auth: Callable[..., Any]) -> None:
    auth("openai", "--api-key", OTHER, "--no-verify")
    auth("openai", "--api-key", KEY, "--no-verify", "--for-project")
    assert auth("remove", "openai")["removed_from"] == ["project", "file"]


def test_outside_of_a_project_there_is_no_place_for_its_key(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no project"):
        Credentials.open({}, tmp_path).save("openai", Secret(KEY), for_project=True)


@pytest.mark.req("TOOL-95")
def test_a_profile_is_a_file_that_says_which_providers_have_credentials_and_no_secret(
    folder: Path, auth: Callable[..., Any]
) -> None:
    auth("openai", "--api-key", KEY, "--no-verify", "--profile", "work")
    auth("mistral", "--api-key", OTHER, "--no-verify", "--profile", "work")
    auth("remove", "mistral", "--profile", "work")
    file = folder / "profiles" / "work.yaml"
    assert yaml.safe_load(file.read_text()) == {
        "name": "work",
        "providers": {
            "mistral": {"has_credentials": False},
            "openai": {"has_credentials": True},
        },
    }
    assert KEY not in file.read_text()
    auth("openai", "--api-key", OTHER, "--no-verify")
    assert auth("status")["profiles"] == ["default", "work"]


def test_a_profile_file_that_cannot_be_read_costs_a_note_and_no_key(
    folder: Path, auth: Callable[..., Any]
) -> None:
    (folder / "profiles").mkdir()
    (folder / "profiles" / "default.yaml").write_text("}{ not yaml")
    assert auth("openai", "--api-key", KEY, "--no-verify")["has_key"]


def test_a_profile_is_chosen_by_flag_variable_local_user_settings_else_default(
    folder: Path, auth: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    local = root / ".callboard" / "local" / "config.yaml"

    def chosen(**flags: Any) -> str:
        return Configuration(Project(root), flags=flags).settings.profile

    # A project's shared file arrives with a clone: it may not choose whose keys are used.
    (root / ".callboard" / "config.yaml").write_text("profile: clone\n")
    assert chosen() == "default"
    (folder / "config.yaml").write_text("profile: user\n")
    assert chosen() == "user"
    local.parent.mkdir(exist_ok=True)
    local.write_text("profile: local\n")
    assert chosen() == "local"
    monkeypatch.setenv("CALLBOARD_PROFILE", "shell")
    assert chosen() == "shell"
    assert chosen(profile="flag") == "flag"
    assert auth("status")["profile"] == "shell"
    assert auth("status", "--profile", "typed")["profile"] == "typed"


@pytest.mark.req("LLM-13")
def test_a_service_account_is_loaded_from_its_file_and_used_as_the_key_of_the_cloud(
    folder: Path, auth: Callable[..., Any], account_file: Path
) -> None:
    told = auth("google", "--credentials-file", str(account_file), "--no-verify")
    assert (told["provider"], told["has_key"]) == ("google-cloud", True)
    private = json.loads(account_file.read_text())["private_key"]
    line = private.splitlines()[1]
    for file in folder.rglob("*"):
        assert file.is_dir() or line.encode() not in file.read_bytes()
    keys = open_credentials(Settings(), {"CALLBOARD_CONFIG_DIR": str(folder)})
    address = locate("google-vertex", ProviderConfig(), {})
    secret = address.find_key(keys, Ties())
    assert secret is not None
    opened: Any = address.open(secret)
    assert opened.client._api_client.project == "stage-door"
    used = opened.client._api_client._credentials
    assert used.service_account_email == "prompter@stage-door.example"


def test_of_a_service_account_not_even_the_private_part_is_shown(account_file: Path) -> None:
    secret = service_account(account_file.read_text())
    private = json.loads(account_file.read_text())["private_key"]
    scrubber = Scrubber([secret])
    assert private not in scrubber.scrub(f"refused: {private}")
    assert "PRIVATE KEY" not in scrubber.scrub(json.dumps({"sent": private}))


@pytest.mark.parametrize("text", ["sk-123", "[]", '{"type": "service_account"}', "{}"])
def test_a_file_that_is_no_service_account_is_refused(
    text: str, auth: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(text)
    auth("google", "--credentials-file", str(path), "--no-verify", code=2)
    with pytest.raises(InvalidInput, match="not the file of a service account"):
        service_account(text)


def test_a_key_is_given_in_one_way_only(auth: Callable[..., Any], account_file: Path) -> None:
    auth("google", "--credentials-file", str(account_file), "--api-key", KEY, code=2)
