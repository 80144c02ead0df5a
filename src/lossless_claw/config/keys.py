"""Every configuration key, declared once: its type, default, environment name and meaning.

The loader, the reference page and completion read these declarations; nothing else repeats
them. Nothing here reads a file or the environment (spec compaction-assembly-recall 8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeAlias, TypeVar, overload

from msgspec import Struct

V = TypeVar("V", bool, int, float, str)
D = TypeVar("D")

Owner: TypeAlias = type[object]
UNIT = (0, 1)


class Key(Struct, Generic[V, D], frozen=True):
    """One setting. As an attribute of `Config` it gives that configuration's value.

    Args:
        name: The name in the host's configuration file and on the command line.
        type: What a value is: bool, int, float or str.
        default: What holds when nobody says anything; None where it is derived or absent.
        env: The environment variable, None where there is none.
        sentence: What it does, for people.
        minimum: The least value that is accepted.
        maximum: The greatest value that is accepted.
        choices: The only texts that are accepted.
        aliases: Older names that a host's file may use.
        deprecated: What to use instead, where the key is on its way out.
    """

    name: str
    type: type[V]
    default: D
    env: str | None
    sentence: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] | None = None
    aliases: tuple[str, ...] = ()
    deprecated: str | None = None

    @overload
    def __get__(self, config: None, owner: Owner) -> Key[V, D]: ...
    @overload
    def __get__(self, config: Settings, owner: Owner) -> V | D: ...
    def __get__(self, config: Settings | None, owner: Owner) -> Key[V, D] | V | D:
        if config is None:
            return self
        value: V | D = config.value(self.name)
        return value

    def __set__(self, config: Settings, value: object) -> None:
        raise AttributeError(f"{self.name} is read-only: load another configuration instead")

    @property
    def form(self) -> str:
        """What a value has to look like, for people."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        noun = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
        return noun[self.type] + _bounds(self.minimum, self.maximum)


def _bounds(minimum: float | None, maximum: float | None) -> str:
    if minimum is not None and maximum is not None:
        return f" from {minimum:g} to {maximum:g}"
    if minimum is not None:
        return f", at least {minimum:g}"
    return "" if maximum is None else f", at most {maximum:g}"


class Settings:
    """What a key reads its value from."""

    def value(self, name: str) -> Any:
        """Return the value of the key called *name*."""
        raise NotImplementedError


class Declared(Settings):
    """The keys, each an attribute under its Python name."""

    database_path = Key(
        "databasePath",
        str,
        None,
        "LCM_DATABASE_PATH",
        "The database file; lcm.db in the state directory by default.",
        aliases=("dbPath",),
    )
    timezone = Key(
        "timezone",
        str,
        None,
        "TZ",
        "The IANA zone that times are shown in; UTC by default.",
    )
    context_threshold = Key(
        "contextThreshold",
        float,
        0.75,
        "LCM_CONTEXT_THRESHOLD",
        "The share of the budget above which the context is compacted after a turn.",
        *UNIT,
    )
    hard_threshold = Key(
        "hardThreshold",
        float,
        0.95,
        "LCM_HARD_THRESHOLD",
        "The share of the budget above which assembling compacts first.",
        *UNIT,
    )
    target_threshold = Key(
        "targetThreshold",
        float,
        0.5,
        "LCM_TARGET_THRESHOLD",
        "The share of the budget that a compaction goes down to.",
        *UNIT,
    )
    fresh_tail_count = Key(
        "freshTailCount",
        int,
        64,
        "LCM_FRESH_TAIL_COUNT",
        "How many of the newest messages are never summarised.",
        minimum=1,
    )
    fresh_tail_max_tokens = Key(
        "freshTailMaxTokens",
        int,
        None,
        "LCM_FRESH_TAIL_MAX_TOKENS",
        "The most tokens those messages take; half of the target by default.",
        minimum=0,
    )
    leaf_chunk_tokens = Key(
        "leafChunkTokens",
        int,
        20_000,
        "LCM_LEAF_CHUNK_TOKENS",
        "How many tokens of messages one leaf summary is made from at most.",
        minimum=1,
    )
    leaf_target_tokens = Key(
        "leafTargetTokens",
        int,
        2_400,
        "LCM_LEAF_TARGET_TOKENS",
        "How long a leaf summary is to be, in tokens.",
        minimum=1,
    )
    condensed_target_tokens = Key(
        "condensedTargetTokens",
        int,
        2_000,
        "LCM_CONDENSED_TARGET_TOKENS",
        "How long a condensed summary is to be, in tokens.",
        minimum=1,
    )
    leaf_min_fanout = Key(
        "leafMinFanout",
        int,
        8,
        "LCM_LEAF_MIN_FANOUT",
        "How many leaf summaries are condensed into one at least.",
        minimum=2,
    )
    condensed_min_fanout = Key(
        "condensedMinFanout",
        int,
        4,
        "LCM_CONDENSED_MIN_FANOUT",
        "How many condensed summaries are condensed again into one at least.",
        minimum=2,
    )
    condensed_min_fanout_hard = Key(
        "condensedMinFanoutHard",
        int,
        2,
        "LCM_CONDENSED_MIN_FANOUT_HARD",
        "The same while the budget presses.",
        minimum=2,
    )
    max_sweep_iterations = Key(
        "maxSweepIterations",
        int,
        12,
        "LCM_MAX_SWEEP_ITERATIONS",
        "How many calls one compaction makes at most of a summarizer that costs.",
        minimum=1,
    )
    sweep_deadline_ms = Key(
        "sweepDeadlineMs",
        int,
        120_000,
        "LCM_SWEEP_DEADLINE_MS",
        "How long one compaction takes at most, in milliseconds.",
        minimum=1,
    )
    summary_max_overage_factor = Key(
        "summaryMaxOverageFactor",
        float,
        3.0,
        "LCM_SUMMARY_MAX_OVERAGE_FACTOR",
        "How many times its target a summary may be long before it is cut.",
        minimum=1,
    )
    fallback_max_tokens = Key(
        "fallbackMaxTokens",
        int,
        512,
        "LCM_FALLBACK_MAX_TOKENS",
        "How long the summary is that stands in when no model answers, in tokens.",
        minimum=64,
    )
    summary_timeout_ms = Key(
        "summaryTimeoutMs",
        int,
        60_000,
        "LCM_SUMMARY_TIMEOUT_MS",
        "How long one call of the summarizer may take, in milliseconds.",
        minimum=1,
    )
    max_assembly_token_budget = Key(
        "maxAssemblyTokenBudget",
        int,
        None,
        "LCM_MAX_ASSEMBLY_TOKEN_BUDGET",
        "The most tokens an assembled context has, whatever budget is given.",
        minimum=1_000,
    )
    max_expand_tokens = Key(
        "maxExpandTokens",
        int,
        4_000,
        "LCM_MAX_EXPAND_TOKENS",
        "How many tokens one page of expanded text has at most.",
        minimum=1,
    )


ATTRIBUTES: Mapping[str, str] = {
    key.name: attribute for attribute, key in vars(Declared).items() if isinstance(key, Key)
}
"""The Python attribute of each key, by the key's name."""

KEYS: tuple[Key[Any, Any], ...] = tuple(vars(Declared)[name] for name in ATTRIBUTES.values())
"""Every key, in the order of the reference page."""

NAMES: Mapping[str, Key[Any, Any]] = {
    name: key for key in KEYS for name in (key.name, *key.aliases)
}
"""Every key by its name and by its older names."""

ACCEPTED_UNUSED = frozenset(
    {
        "autoRotateSessionFiles",
        "bootstrapMaxTokens",
        "cacheAwareCompaction",
        "circuitBreakerCooldownMs",
        "circuitBreakerThreshold",
        "compactUntilUnderDeadlineMs",
        "contextThresholdOverrides",
        "customInstructions",
        "delegationTimeoutMs",
        "dynamicLeafChunkTokens",
        "enableSummaryThinking",
        "enabled",
        "expansionModel",
        "expansionProvider",
        "fallbackProviders",
        "hostFallbackMode",
        "ignoreSessionPatterns",
        "incrementalMaxDepth",
        "independentLogFile",
        "largeFileSummaryModel",
        "largeFileSummaryProvider",
        "largeFileThresholdTokens",
        "largeFileTokenThreshold",
        "largeFilesDir",
        "newSessionRetainDepth",
        "proactiveThresholdCompactionMode",
        "promptAwareEviction",
        "pruneHeartbeatOk",
        "recallScope",
        "replayFloodThresholdExternal",
        "replayFloodThresholdInternal",
        "skipStatelessSessions",
        "statelessSessionPatterns",
        "stripInjectedContextTags",
        "stubLargeToolPayloads",
        "summaryCallWindowMs",
        "summaryMaxCallsPerWindow",
        "summaryModel",
        "summaryPrefixTargetTokens",
        "summaryProvider",
        "summarySpendBackoffMs",
        "sweepMaxDepth",
        "transcriptGcEnabled",
    }
)
"""Keys of upstream's configuration that have no effect here and may stay in a host's file."""
