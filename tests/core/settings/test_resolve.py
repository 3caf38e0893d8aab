"""A bad value is told and replaced by its default; nothing ever stops the start."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.classify import Classifier
from callboard.core.errors import ErrorTier
from callboard.core.settings import (
    LayerName,
    Settings,
    SettingsLayer,
    SettingsWarning,
    WarningKind,
    resolve,
)
from callboard.core.settings.errors import retry_policies
from callboard.core.settings.model import ErrorsSettings


def user(data: dict[Any, Any]) -> SettingsLayer:
    return SettingsLayer(LayerName.USER, "user.yaml", data)


def project(data: dict[Any, Any]) -> SettingsLayer:
    return SettingsLayer(LayerName.PROJECT, "project.yaml", data)


def only_warning(*layers: SettingsLayer) -> SettingsWarning:
    (warning,) = resolve(layers).warnings
    return warning


@pytest.mark.req("TOOL-81")
@pytest.mark.parametrize(
    ("data", "key", "rejected", "used"),
    [
        ({"models": {"timeout_seconds": "soon"}}, "models.timeout_seconds", '"soon"', "120.0"),
        ({"models": {"timeout_seconds": 0}}, "models.timeout_seconds", "0", "120.0"),
        ({"models": {"default": None}}, "models.default", "null", '"local"'),
        ({"engine": {"durability": "some"}}, "engine.durability", '"some"', '"full"'),
        (
            {"errors": {"transient": {"frequency_count": 0}}},
            "errors.transient.frequency_count",
            "0",
            "3",
        ),
        ({"engine": {"mirror": "perhaps"}}, "engine.mirror", '"perhaps"', "true"),
        ({"tools": {"max_output_bytes": "huge"}}, "tools.max_output_bytes", '"huge"', "10000000"),
        ({"errors": {"degrading_statuses": [7]}}, "errors.degrading_statuses", "[7]", "[500"),
        ({"log": "loud"}, "log", '"loud"', '{"level": "info"'),
        ({"profile": "a/../b"}, "profile", '"a/../b"', '"default"'),
        (
            {"models": {"providers": {"x": {"base_url": "ftp://y"}}}},
            "models.providers.x.base_url",
            '"ftp://y"',
            "null",
        ),
        ({"models": {"providers": {"x": 3}}}, "models.providers.x", "3", "nothing"),
    ],
)
def test_a_bad_value_is_told_with_file_key_value_and_default(
    data: dict[str, Any], key: str, rejected: str, used: str
) -> None:
    warning = only_warning(user(data))
    assert (warning.kind, warning.source, warning.key) == (
        WarningKind.BAD_VALUE,
        "user.yaml",
        key,
    )
    assert warning.rejected == rejected
    assert warning.used.startswith(used)
    assert str(warning).startswith(f"user.yaml: {key}: {rejected}")
    providers = resolve([user(data)]).settings.models.providers
    expected = Settings().model_dump() if "x" not in providers else None
    assert expected is None or resolve([user(data)]).settings.model_dump() == expected


@pytest.mark.req("TOOL-81")
def test_good_values_beside_bad_ones_stand() -> None:
    loaded = resolve(
        [
            user(
                {
                    "models": {"timeout_seconds": "soon", "default": "openai:x"},
                    "errors": {"transient_patterns": ["("], "transient": {"frequency_count": 9}},
                }
            )
        ]
    )
    assert loaded.settings.models.default == "openai:x"
    assert loaded.settings.errors.transient.frequency_count == 9
    assert loaded.settings.errors.transient_patterns == ErrorsSettings().transient_patterns
    assert [each.key for each in loaded.warnings] == [
        "models.timeout_seconds",
        "errors.transient_patterns",
    ]


@pytest.mark.req("TOOL-82")
def test_the_summary_counts_the_warnings() -> None:
    assert resolve([]).summary == "Config loaded"
    bad = user({"nonsense": 1, "log": {"level": 1, "format": 2}})
    assert resolve([bad]).summary == "Config loaded with 3 warnings"


@pytest.mark.parametrize(
    ("data", "near"),
    [
        ({"model": {}}, "models"),
        ({"models": {"timeout": 3}}, "models.timeout_seconds"),
        ({"models": {"Default": "x"}}, "models.default"),
        ({"durability": "full"}, "engine.durability"),
        ({"models": {"providers": {"x": {"api_key": "sk-1"}}}}, "models.providers.x.api_key_env"),
        ({"zzz": 1}, None),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest_known_one(
    data: dict[str, Any], near: str | None
) -> None:
    warning = only_warning(user(data))
    assert warning.kind is WarningKind.UNKNOWN_KEY
    assert ("did you mean" in warning.message) == (near is not None)
    assert near is None or f"did you mean {near}?" in warning.message


def test_no_warning_shows_what_could_be_a_secret() -> None:
    loaded = resolve(
        [user({"models": {"providers": {"x": {"api_key": "sk-1", "api_key_env": "sk-2"}}}})]
    )
    assert len(loaded.warnings) == 2
    assert "sk-" not in repr(loaded.warnings)


def test_an_empty_section_is_no_mistake() -> None:
    assert resolve([user({"models": None, "errors": {"retry": None}})]).warnings == ()


RESTRICTED = {
    "profile": "work",
    "tools": {"allowed": ["shell"]},
    "models": {"providers": {"openai": {"base_url": "http://evil", "api_key_env": "AWS_KEY"}}},
}


def test_a_project_cannot_redirect_or_widen_by_itself() -> None:
    loaded = resolve([project(RESTRICTED)])
    assert {each.key for each in loaded.warnings} == {
        "profile",
        "tools.allowed",
        "models.providers.openai.base_url",
        "models.providers.openai.api_key_env",
    }
    assert {each.kind for each in loaded.warnings} == {WarningKind.RESTRICTED}
    assert all(".callboard/local/config.yaml" in each.message for each in loaded.warnings)
    assert loaded.settings.profile == "default"
    assert loaded.settings.tools.allowed is None
    assert loaded.settings.models.providers["openai"].base_url is None
    assert loaded.settings.models.providers["openai"].api_key_env is None


@pytest.mark.parametrize("name", [LayerName.USER, LayerName.LOCAL])
def test_the_user_decides_on_what_a_project_may_not(name: LayerName) -> None:
    loaded = resolve([project(RESTRICTED), SettingsLayer(name, "mine.yaml", RESTRICTED)])
    assert loaded.warnings == ()
    assert loaded.settings.models.providers["openai"].base_url == "http://evil"
    assert loaded.origins["profile"].layer is name


def test_a_projects_other_settings_apply() -> None:
    loaded = resolve([project({"models": {"default": "openai:x"}, "log": {"level": "debug"}})])
    assert loaded.warnings == ()
    assert loaded.settings.models.default == "openai:x"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)
sections = st.sampled_from(["profile", "models", "engine", "errors", "tools", "log"])
keys = st.sampled_from(["providers", "catalog", "transient", "retry", "allowed", "level", "x"])


@pytest.mark.req("TOOL-81")
@given(st.dictionaries(sections, anything | st.dictionaries(keys, anything, max_size=4)))
def test_no_data_whatever_stops_the_start(data: dict[Any, Any]) -> None:
    for name in (LayerName.PROJECT, LayerName.USER, LayerName.ENVIRONMENT, LayerName.FLAGS):
        loaded = resolve([SettingsLayer(name, "x", data)])
        assert isinstance(loaded.settings, Settings)
        assert all(str(each) for each in loaded.warnings)


def test_a_bad_flag_leaves_the_layer_below_in_force() -> None:
    good = user({"log": {"level": "debug"}})
    flag = SettingsLayer(LayerName.FLAGS, "command line", {"log": {"level": "loud"}})
    loaded = resolve([good, flag])
    assert loaded.settings.log.level == "debug"
    assert loaded.warnings[0].used == '"debug"'


def test_the_defaults_of_errors_are_those_of_the_runtime() -> None:
    errors = Settings().errors
    assert errors.retry.policies() == retry_policies


@pytest.mark.req("ERR-10", "ERR-18")
def test_sorting_and_retrying_of_errors_are_the_users() -> None:
    errors = resolve(
        [
            user(
                {
                    "errors": {
                        "user_fixable_patterns": ["moon"],
                        "degrading_statuses": [599],
                        "transient": {"frequency_count": 1},
                        "retry": {
                            "transient": {"max_attempts": 2},
                            "external_rate_limit": {
                                "use_retry_after": False,
                                "max_delay_seconds": "5m",
                            },
                        },
                    }
                }
            )
        ]
    ).settings.errors
    assert Classifier(errors).tier_of(RuntimeError("the Moon")) is ErrorTier.USER_FIXABLE
    assert errors.retry.policies()[ErrorTier.TRANSIENT].max_attempts == 2
    limited = errors.retry.policies()[ErrorTier.EXTERNAL_RATE_LIMIT]
    assert limited.delay_seconds(1, retry_after_seconds=99) == 1
    assert limited.delay_seconds(30) == 300
    assert errors.tracker().record("model", 0.0)


def test_catalog_corrections_name_only_what_they_correct() -> None:
    models = resolve([user({"models": {"catalog": {"gpt-4.1": {"window": 9, "tier": "full"}}}})])
    assert models.warnings == ()
    assert models.settings.models.catalog_overrides() == {"gpt-4.1": {"window": 9, "tier": "full"}}
