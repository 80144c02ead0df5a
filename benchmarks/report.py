"""Figures beside their goals: what is met, what is missed, as a table or as JSON.

Values in, text out. What misses its goal says so; nothing is rounded before it is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from benchmarks.figures import Figure

REFERENCE = Path(__file__).with_name("reference.json")
COLUMNS = ("figure", "size", "unit", "wall", "cpu", "goal", "ours/goal", "upstream", "note")
_RIGHT = frozenset({"size", "wall", "cpu", "goal", "ours/goal", "upstream"})


class Expected(Struct, frozen=True):
    """What the reference says of a figure.

    `goal_when_exact` takes the place of `goal` where the search bounded nothing. `upstream` is
    by size; `any` stands for all sizes.
    """

    title: str
    unit: str
    better: str
    goal: float | None
    prototype: float | str | None
    upstream: dict[str, float | str]
    goal_when_exact: float | None = None


class Reference(Struct, frozen=True):
    """The committed column: figures in the order of the table."""

    about: str
    figures: dict[str, Expected]


class Row(Struct, frozen=True):
    """A figure as it is reported.

    `verdict` is "ok", or "over" for a cost and "under" for a rate that misses its goal; None
    without a goal. It is judged by CPU time where there is one, `wall_verdict` by the wall.
    `share` is ours / goal.
    """

    figure: Figure
    title: str
    unit: str
    goal: float | None
    share: float | None
    verdict: str | None
    wall_verdict: str | None
    prototype: float | str | None
    upstream: float | str | None


class Report(Struct, frozen=True):
    """Everything that a run found, and on what."""

    machine: dict[str, Any]
    corpus: str
    sizes: tuple[int, ...]
    rows: tuple[Row, ...]
    about_reference: str
    units: dict[str, str] = field(
        default_factory=lambda: {"verdict": "by CPU time where there is one, else by `wall`"}
    )


def load_reference() -> Reference:
    """Return the committed goals and upstream's figures."""
    return msgspec.json.decode(REFERENCE.read_bytes(), type=Reference)


def rows(figures: Sequence[Figure], reference: Reference) -> tuple[Row, ...]:
    """Return the figures in the order of the reference, by size, each beside its goal.

    Raises:
        KeyError: If the reference does not know a figure.
    """
    order = {name: place for place, name in enumerate(reference.figures)}
    ordered = sorted(figures, key=lambda figure: (order[figure.name], figure.size or 0))
    return tuple(_row(figure, reference.figures[figure.name]) for figure in ordered)


def _row(figure: Figure, expected: Expected) -> Row:
    exact = expected.goal_when_exact
    goal = exact if figure.is_exact and exact is not None else expected.goal
    upstream = expected.upstream.get(str(figure.size), expected.upstream.get("any"))
    judged = figure.wall if figure.cpu is None else figure.cpu
    return Row(
        figure, expected.title, expected.unit, goal,
        None if judged is None or not goal else judged / goal,
        _verdict(judged, goal, expected.better), _verdict(figure.wall, goal, expected.better),
        expected.prototype, upstream,
    )  # fmt: skip


def _verdict(value: float | None, goal: float | None, better: str) -> str | None:
    if goal is None:
        return None
    if value is None:
        return "not measured"
    if better == "higher":
        return "ok" if value >= goal else "under"
    return "ok" if value <= goal else "over"


def as_json(report: Report) -> bytes:
    """Return the report as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def as_text(report: Report) -> str:
    """Return the report as an aligned table, with a list of what misses its goal."""
    cells = [COLUMNS, *(_cells(row) for row in report.rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS))]
    lines = ["  ".join(_aligned(line, widths)).rstrip() for line in cells]
    machine = ", ".join(f"{name} {value}" for name, value in report.machine.items())
    return "\n".join(
        [f"{machine}; corpus of {report.corpus}", "", lines[0], "-" * len(lines[0]), *lines[1:],
         "", *_closing(report.rows)]
    )  # fmt: skip


def _cells(row: Row) -> tuple[str, ...]:
    figure = row.figure
    return (
        row.title,
        "" if figure.size is None else f"{figure.size:,}",
        row.unit,
        _number(figure.wall),
        _number(figure.cpu),
        _number(row.goal),
        _judgement(row),
        _number(row.upstream),
        figure.note,
    )


def _judgement(row: Row) -> str:
    if row.verdict is None:
        return ""
    share = "" if row.share is None else f"{row.share:.2f} "
    differs = row.wall_verdict != row.verdict
    return f"{share}{row.verdict}" + (f" (wall {row.wall_verdict})" if differs else "")


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        text.rjust(width) if name in _RIGHT else text.ljust(width)
        for text, width, name in zip(line, widths, COLUMNS, strict=True)
    ]


def _number(value: float | str | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}"


def _closing(found: Sequence[Row]) -> list[str]:
    judged = [row for row in found if row.verdict is not None]
    missed = [row for row in judged if row.verdict != "ok"]
    lines = [f"{len(judged) - len(missed)} of {len(judged)} goals are met, by CPU time."]
    for row in missed:
        size = "" if row.figure.size is None else f" at {row.figure.size:,}"
        lines.append(f"  missed: {row.title}{size}: {_judgement(row)}")
    return lines
