from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.config import Config, load
from lossless_claw.config.keys import ATTRIBUTES, KEYS, NAMES, Key
from lossless_claw.config.parse import parse
from lossless_claw.errors import ConfigError, ConfigParseError


def plugin_file(folder, config):
    path = folder / "openclaw.json"
    data = {"secret": "token-123", "plugins": {"entries": {"lossless-claw": {"config": config}}}}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def from_file(folder, **config):
    return load(environ={}, file=plugin_file(folder, config), overrides={})


def from_environment(**environ):
    return load(environ=environ, file=None, overrides={})


def test_every_key_has_its_default_when_nobody_says_anything():
    config = from_environment()
    for key in KEYS:
        assert config.value(key.name) == key.default
        assert getattr(config, ATTRIBUTES[key.name]) == key.default
        assert config.origin(key.name) == "default"


def test_the_defaults_are_those_of_the_specification():
    config = from_environment()
    assert (config.context_threshold, config.hard_threshold, config.target_threshold) == (
        0.75,
        0.95,
        0.5,
    )
    assert (config.fresh_tail_count, config.fresh_tail_max_tokens) == (64, None)
    assert (config.leaf_chunk_tokens, config.leaf_target_tokens) == (20_000, 2_400)
    assert (config.leaf_min_fanout, config.condensed_min_fanout) == (8, 4)
    assert config.fallback_max_tokens == 512


def test_names_variables_and_aliases_are_unique():
    variables = [key.env for key in KEYS if key.env]
    assert len(set(variables)) == len(variables)
    assert len(NAMES) == sum(1 + len(key.aliases) for key in KEYS)
    assert all(key.sentence.endswith(".") for key in KEYS)


def test_overrides_win_over_the_environment_and_that_over_the_file(tmp_path):
    file = plugin_file(tmp_path, {"freshTailCount": 1, "leafMinFanout": 5, "maxExpandTokens": 7})
    config = load(
        environ={"LCM_FRESH_TAIL_COUNT": "2", "LCM_LEAF_MIN_FANOUT": "6"},
        file=file,
        overrides={"freshTailCount": 3},
    )
    assert (config.fresh_tail_count, config.leaf_min_fanout, config.max_expand_tokens) == (3, 6, 7)
    assert config.origin("freshTailCount") == "override"
    assert config.origin("leafMinFanout") == "environment LCM_LEAF_MIN_FANOUT"
    assert config.origin("maxExpandTokens") == f"file {file}"


def test_an_override_may_use_the_python_name():
    assert load(environ={}, file=None, overrides={"leaf_min_fanout": 3}).leaf_min_fanout == 3


def test_an_unknown_override_is_an_error_with_the_nearest_name():
    with pytest.raises(ConfigError) as caught:
        load(environ={}, file=None, overrides={"freshTailCont": 3})
    assert "freshTailCount" in caught.value.hint


def test_a_blank_variable_counts_as_unset(tmp_path):
    file = plugin_file(tmp_path, {"freshTailCount": 9})
    config = load(environ={"LCM_FRESH_TAIL_COUNT": "  "}, file=file, overrides={})
    assert config.fresh_tail_count == 9


@pytest.mark.parametrize("text", ["12abc", "1.0", "1e3", "", "0x10", "-", "٣", "1_000", "true"])
def test_whole_numbers_are_read_strictly(text):
    environ = {"LCM_LEAF_CHUNK_TOKENS": text}
    if not text:
        assert load(environ=environ, file=None, overrides={}).leaf_chunk_tokens == 20_000
        return
    with pytest.raises(ConfigError) as caught:
        load(environ=environ, file=None, overrides={})
    message = caught.value.message
    assert "leafChunkTokens" in message
    assert "environment LCM_LEAF_CHUNK_TOKENS" in message
    assert "a whole number, at least 1" in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("contextThreshold", 1.5),
        ("contextThreshold", -0.1),
        ("contextThreshold", True),
        ("contextThreshold", "NaN"),
        ("freshTailCount", 0),
        ("freshTailCount", 2.5),
        ("freshTailCount", True),
        ("freshTailCount", [1]),
        ("condensedMinFanoutHard", 1),
        ("fallbackMaxTokens", 63),
        ("maxAssemblyTokenBudget", 999),
        ("databasePath", 7),
    ],
)
def test_a_bad_value_names_key_source_and_form(tmp_path, name, value):
    with pytest.raises(ConfigError) as caught:
        from_file(tmp_path, **{name: value})
    assert name in caught.value.message
    assert str(tmp_path) in caught.value.message
    assert NAMES[name].form in caught.value.message


@pytest.mark.parametrize(
    ("given", "expected"),
    [("true", True), ("1", True), ("ON", True), ("false", False), ("0", False), (False, False)],
)
def test_booleans_have_a_few_spellings(given, expected):
    assert parse(Key("flag", bool, True, None, "A flag."), given, "test") is expected


@pytest.mark.parametrize(
    ("key", "given"),
    [
        (Key("flag", bool, True, None, "A flag."), "maybe"),
        (Key("flag", bool, True, None, "A flag."), 1),
        (Key("scope", str, "one", None, "A choice.", choices=("one", "all")), "everyone"),
    ],
)
def test_flags_and_choices_take_nothing_else(key, given):
    with pytest.raises(ConfigError, match=key.form):
        parse(key, given, "test")


def test_numbers_in_a_file_may_be_texts_and_texts_are_trimmed(tmp_path):
    config = from_file(tmp_path, leafChunkTokens=" 5000 ", databasePath="  /x/y.db ", timezone=" ")
    assert config.leaf_chunk_tokens == 5000
    assert config.database_path == "/x/y.db"
    assert config.timezone is None


def test_an_unknown_key_of_the_host_is_reported_and_stops_nothing(tmp_path):
    config = from_file(tmp_path, freshTailCuont=3, nothingLikeIt=1, summaryModel="x")
    typo, foreign, unused = config.problems
    assert "freshTailCuont" in typo
    assert "Did you mean freshTailCount?" in typo
    assert "nothingLikeIt" in foreign
    assert "Did you mean" not in foreign
    assert "summaryModel has no effect" in unused


def test_the_documented_name_wins_over_its_alias_and_the_conflict_is_reported(tmp_path):
    config = from_file(tmp_path, dbPath="/old.db", databasePath="/new.db")
    assert config.database_path == "/new.db"
    assert "dbPath is an older name" in config.problems[0]
    assert from_file(tmp_path, dbPath="/old.db").database_path == "/old.db"


def test_a_missing_file_is_no_file(tmp_path):
    assert load(environ={}, file=tmp_path / "none.json", overrides={}) == from_environment()


@pytest.mark.parametrize("text", ["{", "{} // comment", '{"a": 1,}', "", "[" * 100_000])
def test_a_file_that_is_no_json_is_refused_without_quoting_it(tmp_path, text):
    path = tmp_path / "openclaw.json"
    path.write_text(text + "secret-7", encoding="utf-8")
    with pytest.raises(ConfigParseError) as caught:
        load(environ={}, file=path, overrides={})
    assert str(path) in caught.value.message
    assert "secret-7" not in caught.value.message


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ([], "the file itself"),
        ({"plugins": []}, "plugins"),
        ({"plugins": {"entries": 1}}, "plugins.entries"),
        ({"plugins": {"entries": {"lossless-claw": {"config": "x"}}}}, "lossless-claw.config"),
    ],
)
def test_a_level_that_is_no_object_is_named(tmp_path, data, place):
    path = tmp_path / "openclaw.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(environ={}, file=path, overrides={})
    assert caught.value.code == "CONFIG_SHAPE_INVALID"
    assert place in caught.value.message


def test_a_default_gives_way_to_a_related_value_that_was_given():
    config = from_environment(LCM_CONTEXT_THRESHOLD="0.3")
    assert config.target_threshold == pytest.approx(0.2)
    assert config.origin("targetThreshold") == "default, follows contextThreshold"
    assert from_environment(LCM_CONTEXT_THRESHOLD="1").hard_threshold == 1
    assert from_environment(LCM_LEAF_CHUNK_TOKENS="1000").leaf_target_tokens == 120


def test_two_given_values_that_contradict_each_other_are_refused():
    with pytest.raises(ConfigError) as caught:
        from_environment(LCM_CONTEXT_THRESHOLD="0.3", LCM_TARGET_THRESHOLD="0.4")
    assert "targetThreshold" in caught.value.message
    assert "environment LCM_CONTEXT_THRESHOLD" in caught.value.message


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "contextThreshold": st.floats(0, 1),
            "leafChunkTokens": st.integers(1, 10**6),
            "condensedMinFanout": st.integers(2, 50),
            "sweepDeadlineMs": st.integers(1, 10**6),
        },
    )
)
def test_one_sided_settings_always_hold_together(overrides):
    config = load(environ={}, file=None, overrides=overrides)
    assert 0 <= config.target_threshold <= config.context_threshold <= config.hard_threshold <= 1
    assert 1 <= config.leaf_target_tokens <= config.leaf_chunk_tokens
    assert 2 <= config.condensed_min_fanout_hard <= config.condensed_min_fanout
    assert 1 <= config.summary_timeout_ms <= config.sweep_deadline_ms
    assert all(config.value(name) == value for name, value in overrides.items())


@pytest.mark.parametrize("zone", [":/etc/localtime", "CET-1CEST", "<+03>-3"])
def test_a_tz_that_is_no_zone_name_means_the_system_zone(zone):
    assert from_environment(TZ=zone).timezone is None


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Etc/GMT+1"])
def test_a_tz_that_is_a_zone_name_is_taken(zone):
    assert from_environment(TZ=zone).timezone == zone


def test_a_configuration_cannot_be_changed():
    config = from_environment()
    assert isinstance(config, Config)
    with pytest.raises(AttributeError):
        config.fresh_tail_count = 3
