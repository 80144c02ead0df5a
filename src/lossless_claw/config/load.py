"""Settings from defaults, the host's file, the environment and overrides, as one frozen value.

Overrides win over the environment, the environment over the file, the file over the default
(spec compaction-assembly-recall 8.1). A bad value stops the load and says where it stands; an
unknown key in a host's file is only reported. Nothing here looks anything up by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from lossless_claw.config import host_file
from lossless_claw.config.keys import ACCEPTED_UNUSED, ATTRIBUTES, KEYS, NAMES, Declared, Key
from lossless_claw.config.parse import parse
from lossless_claw.errors import ConfigError

AnyKey: TypeAlias = Key[Any, Any]


class Found(NamedTuple):
    """A value and where it came from."""

    value: Any
    origin: str


DEFAULT = "default"
_POSIX_ZONE = re.compile(r"[:/<]|[A-Za-z]{3,}[-+]?[0-9]")


class Config(Declared):
    """All settings, read-only, each under its Python name (`config.fresh_tail_count`).

    Attributes:
        problems: What is wrong with the host's file without stopping anything.
    """

    def __init__(self, found: Mapping[str, Found], problems: tuple[str, ...] = ()):
        self._found = dict(found)
        self.problems = problems

    def value(self, name: str) -> Any:
        """Return the value of the key called *name* (`freshTailCount`)."""
        return self._found[name].value

    def origin(self, name: str) -> str:
        """Return where the value of *name* comes from, in words for people.

        `default`, `environment LCM_...`, `file /path`, `override`, or `default, follows KEY`
        for a default that gave way to a related key.
        """
        return self._found[name].origin

    def changed(self) -> dict[str, Any]:
        """Return the settings that somebody gave, by key name."""
        return {n: f.value for n, f in self._found.items() if not f.origin.startswith(DEFAULT)}

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{n}={v!r}' for n, v in self.changed().items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._found == other._found

    __hash__ = None  # type: ignore[assignment]


def load(
    *,
    environ: Mapping[str, str],
    file: Path | None,
    overrides: Mapping[str, Any],
) -> Config:
    """Return the settings that hold together.

    Args:
        environ: The environment; a variable that is set but blank counts as unset.
        file: The host's configuration file, which need not exist.
        overrides: Values by key name (`contextThreshold`) or attribute (`context_threshold`).

    Raises:
        ConfigError: If a value is not of its key's form, two values contradict each other, or
            an override names no key.
        ConfigParseError: If the file is no JSON.
    """
    given = host_file.read(file)
    sources = [
        dict(_overrides(overrides)),
        dict(_environment(environ)),
        dict(_from_file(given, f"file {file}")),
    ]
    found = {key.name: _first(key, sources) for key in KEYS}
    return Config(_reconcile(found), tuple(_problems(given, file)))


def _first(key: AnyKey, sources: list[dict[str, Found]]) -> Found:
    for source in sources:
        if key.name in source:
            return source[key.name]
    return Found(key.default, DEFAULT)


def _overrides(overrides: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    attributes = {attribute: name for name, attribute in ATTRIBUTES.items()}
    for name, value in overrides.items():
        key = NAMES.get(attributes.get(name, name))
        if key is None:
            raise ConfigError(f"override {name}: no such key", hint=_nearest(name), key=name)
        if (parsed := parse(key, value, "override")) is not None:
            yield key.name, Found(parsed, "override")


def _environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Found]]:
    for key in KEYS:
        text = environ.get(key.env or "", "").strip()
        if text and not _is_posix_zone(key, text):
            origin = f"environment {key.env}"
            yield key.name, Found(parse(key, text, origin), origin)


def _is_posix_zone(key: AnyKey, text: str) -> bool:
    # TZ may also be a file (":/etc/localtime") or a rule ("CET-1CEST"), which are no names of a
    # zone: times are then shown in UTC.
    return key.env == "TZ" and _POSIX_ZONE.match(text) is not None


def _from_file(given: Mapping[str, Any], origin: str) -> Iterator[tuple[str, Found]]:
    for key in KEYS:
        # The documented name wins over an older one (spec 8.2).
        for name in (key.name, *key.aliases):
            parsed = parse(key, given.get(name), f"{origin}, {name}")
            if parsed is not None:
                yield key.name, Found(parsed, origin)
                break


class Order(NamedTuple):
    """Two keys of which the first may not exceed the second."""

    low: str
    high: str


ORDERS = (
    Order("targetThreshold", "contextThreshold"),
    Order("contextThreshold", "hardThreshold"),
    Order("leafTargetTokens", "leafChunkTokens"),
    Order("condensedMinFanoutHard", "condensedMinFanout"),
    Order("summaryTimeoutMs", "sweepDeadlineMs"),
)


def _reconcile(found: dict[str, Found]) -> dict[str, Found]:
    """Return *found* with every order kept: a default gives way to a value that was given."""
    for low, high in ORDERS:
        first, second = found[low], found[high]
        if first.value <= second.value:
            continue
        if first.origin.startswith(DEFAULT):
            found[low] = Found(_follow(low, high, second.value), f"{DEFAULT}, follows {high}")
        elif second.origin.startswith(DEFAULT):
            found[high] = Found(_follow(high, low, first.value), f"{DEFAULT}, follows {low}")
        else:
            raise ConfigError(
                f"{low} ({first.value:g}, {first.origin}) is greater than "
                f"{high} ({second.value:g}, {second.origin})",
                hint=f"Lower {low} or raise {high}.",
                keys=[low, high],
            )
    return found


def _follow(name: str, other: str, value: float) -> float:
    """Return the value of *name* in the defaults' proportion to *other*, within its bounds."""
    key, base = NAMES[name], NAMES[other]
    scaled = key.type(value * key.default / base.default)
    least = scaled if key.minimum is None else max(scaled, key.type(key.minimum))
    bounded: float = least if key.maximum is None else min(least, key.type(key.maximum))
    return bounded


def _problems(given: Mapping[str, Any], file: Path | None) -> Iterator[str]:
    for name in given:
        key = NAMES.get(name)
        if key is None and name in ACCEPTED_UNUSED:
            yield f"{file}: {name} has no effect in this version"
        elif key is None:
            yield f"{file}: unknown key {name}. {_nearest(name)}".rstrip()
        elif name != key.name and given.get(key.name) is not None:
            yield f"{file}: {name} is an older name of {key.name}, which is set too and wins"
        elif key.deprecated:
            yield f"{file}: {name} is deprecated. {key.deprecated}"


def _nearest(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.6)
    return f"Did you mean {close[0]}?" if close else ""
