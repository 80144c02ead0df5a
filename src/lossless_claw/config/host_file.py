"""The host's configuration file, of which our part is `plugins.entries.lossless-claw.config`.

Reads only. Whatever else the file holds (other plugins, secrets) never leaves this room.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from lossless_claw.errors import ConfigError, ConfigParseError

PLACE = ("plugins", "entries", "lossless-claw", "config")


class ConfigShapeError(ConfigError):
    """The configuration file is JSON, but our part of it is not where or what it should be."""

    code: ClassVar[str] = "CONFIG_SHAPE_INVALID"


class ConfigReadError(ConfigError):
    """The configuration file is there and cannot be read."""

    code: ClassVar[str] = "CONFIG_READ_FAILED"


def read(path: Path | None) -> dict[str, Any]:
    """Return our part of the host's file; empty when there is no file or no such part.

    Raises:
        ConfigReadError: If the file cannot be read.
        ConfigParseError: If it is not strict JSON in UTF-8.
        ConfigShapeError: If it, or a level above our part, is no object.
    """
    if path is None:
        return {}
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigReadError(
            f"{path}: {error.strerror}", hint="Check --config.", path=str(path)
        ) from error
    return _descend(_parse(data, path), path)


def _parse(data: bytes, path: Path) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        # The decoder's own words name line and column and never quote the file.
        raise ConfigParseError(
            f"{path} is not valid JSON: {_reason(error)}",
            hint="Comments and trailing commas are not JSON.",
            path=str(path),
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else "nested too deeply"


def _descend(level: Any, path: Path) -> dict[str, Any]:
    for depth, name in enumerate((*PLACE, None)):
        if level is None:
            return {}
        if not isinstance(level, dict):
            where = ".".join(PLACE[:depth]) or "the file itself"
            raise ConfigShapeError(f"{path}: {where} is not an object", path=str(path), at=where)
        if name is not None:
            level = level.get(name)
    found: dict[str, Any] = level
    return found
