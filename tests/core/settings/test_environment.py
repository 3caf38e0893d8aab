"""Variables are read against the known keys, because underscores say two things."""

import pytest

from callboard.core.settings import (
    LayerName,
    LoadedSettings,
    VariableFile,
    WarningKind,
    environment_layer,
    key_of,
    named_files,
    resolve,
    variable_of,
)
from callboard.core.settings.schema import ANY_NAME, values


def load(environment: dict[str, str], *files: VariableFile) -> LoadedSettings:
    layer, warnings = environment_layer(environment, files)
    return resolve([layer], warnings)


@pytest.mark.req("TOOL-78")
@pytest.mark.parametrize(
    ("variable", "key"),
    [
        ("CALLBOARD_PROFILE", ("profile",)),
        ("CALLBOARD_LOG_LEVEL", ("log", "level")),
        ("CALLBOARD_MODELS_DEFAULT", ("models", "default")),
        ("CALLBOARD_MODELS_TIMEOUT_SECONDS", ("models", "timeout_seconds")),
        (
            "CALLBOARD_ERRORS_RETRY_EXTERNAL_RATE_LIMIT_MAX_DELAY_SECONDS",
            ("errors", "retry", "external_rate_limit", "max_delay_seconds"),
        ),
        (
            "CALLBOARD_MODELS_PROVIDERS_MY_PROXY_BASE_URL",
            ("models", "providers", "my_proxy", "base_url"),
        ),
        ("CALLBOARD_MODELS_CATALOG_TINY_TIER", ("models", "catalog", "tiny", "tier")),
        ("CALLBOARD_MODELS", None),
        ("CALLBOARD_MODELS_PROVIDERS", None),
        ("CALLBOARD_MODELS_TIMEOUT", None),
        ("CALLBOARD_", None),
    ],
)
def test_a_variable_names_one_key(variable: str, key: tuple[str, ...] | None) -> None:
    assert key_of(variable) == key


@pytest.mark.req("TOOL-78")
def test_every_key_has_a_variable_of_its_own() -> None:
    keys = [key for key, _ in values()]
    assert len(keys) > 30
    for key in keys:
        real = tuple("some_name" if name == ANY_NAME else name for name in key)
        assert key_of(variable_of(real)) == real


@pytest.mark.req("TOOL-78")
def test_values_take_the_type_of_their_key() -> None:
    loaded = load(
        {
            "CALLBOARD_MODELS_TIMEOUT_SECONDS": "1h",
            "CALLBOARD_ENGINE_MIRROR": "false",
            "CALLBOARD_ERRORS_TRANSIENT_FREQUENCY_COUNT": "7",
            "CALLBOARD_TOOLS_ALLOWED": "read_file, list_files",
            "CALLBOARD_ERRORS_RATE_LIMIT_STATUSES": "[420, 429]",
            "CALLBOARD_ERRORS_TRANSIENT_PATTERNS": "[ab]lip",
        }
    )
    assert loaded.warnings == ()
    assert loaded.settings.models.timeout_seconds == 3_600
    assert loaded.settings.engine.mirror is False
    assert loaded.settings.errors.transient.frequency_count == 7
    assert loaded.settings.tools.allowed == ("read_file", "list_files")
    assert loaded.settings.errors.rate_limit_statuses == (420, 429)
    assert loaded.settings.errors.transient_patterns == ("[ab]lip",)
    origin = loaded.origins["models.timeout_seconds"]
    assert (origin.layer, origin.source) == (
        LayerName.ENVIRONMENT,
        "CALLBOARD_MODELS_TIMEOUT_SECONDS",
    )


@pytest.mark.req("TOOL-80")
def test_a_value_that_does_not_parse_is_ignored_and_told() -> None:
    layer, _ = environment_layer({"CALLBOARD_MODELS_TIMEOUT_SECONDS": "soon"})
    below, _ = environment_layer({"CALLBOARD_MODELS_TIMEOUT_SECONDS": "5"})
    user = type(below)(LayerName.USER, "user.yaml", below.data)
    loaded = resolve([user, layer])
    assert loaded.settings.models.timeout_seconds == 5
    (warning,) = loaded.warnings
    assert warning.source == "CALLBOARD_MODELS_TIMEOUT_SECONDS"
    assert (warning.rejected, warning.used) == ('"soon"', "5.0")


@pytest.mark.req("TOOL-79")
def test_a_file_variable_names_a_tree() -> None:
    environment = {
        "CALLBOARD_MODELS_PROVIDERS_FILE": "/etc/p.yaml",
        "CALLBOARD_MODELS_PROVIDERS_ACME_FILE": "acme.yaml",
        "CALLBOARD_MODELS_FILE": "m.yaml",
        "CALLBOARD_LOG_LEVEL": "debug",
        "CALLBOARD_NONSENSE_FILE": "x",
    }
    named = {each.variable: (each.key, each.file) for each in named_files(environment)}
    assert named == {
        "CALLBOARD_MODELS_PROVIDERS_FILE": (("models", "providers"), "/etc/p.yaml"),
        "CALLBOARD_MODELS_PROVIDERS_ACME_FILE": (("models", "providers", "acme"), "acme.yaml"),
        "CALLBOARD_MODELS_FILE": (("models",), "m.yaml"),
    }


@pytest.mark.req("TOOL-79")
def test_the_tree_is_merged_at_its_path_and_a_single_value_wins() -> None:
    environment = {
        "CALLBOARD_MODELS_FILE": "m.yaml",
        "CALLBOARD_MODELS_PROVIDERS_FILE": "p.yaml",
        "CALLBOARD_MODELS_PROVIDERS_ACME_BASE_URL": "https://three",
    }
    data = {
        "CALLBOARD_MODELS_FILE": {
            "default": "acme:x",
            "providers": {"acme": {"base_url": "https://one", "api_key_env": "ONE"}},
        },
        "CALLBOARD_MODELS_PROVIDERS_FILE": {
            "acme": {"base_url": "https://two"},
            "b": {"base_url": "https://b"},
        },
    }
    files = [
        VariableFile(each.variable, each.key, each.file, data[each.variable])
        for each in named_files(environment)
    ]
    loaded = load(environment, *files)
    models = loaded.settings.models
    assert loaded.warnings == ()
    assert models.default == "acme:x"
    assert models.providers["acme"].base_url == "https://three"
    assert models.providers["acme"].api_key_env == "ONE"
    assert models.providers["b"].base_url == "https://b"
    assert loaded.origins["models.providers.b.base_url"].source == "p.yaml"
    assert loaded.origins["models.default"].source == "m.yaml"


def test_an_unknown_variable_is_told_with_the_nearest_one() -> None:
    (warning,) = load({"CALLBOARD_LOG_LEVELS": "x"}).warnings
    assert warning.kind is WarningKind.UNKNOWN_VARIABLE
    assert "CALLBOARD_LOG_LEVEL?" in warning.message
    (group,) = load({"CALLBOARD_MODELS": "x"}).warnings
    assert "CALLBOARD_MODELS_FILE" in group.message


def test_what_is_not_ours_or_empty_is_left_alone() -> None:
    environment = {
        "PATH": "/bin",
        "CALLBOARD_CONFIG_DIR": "/x",
        "CALLBOARD_LOG_LEVEL": "",
        "XCALLBOARD_LOG_LEVEL": "debug",
    }
    assert load(environment).warnings == ()
    assert load(environment).settings.log.level == "info"
