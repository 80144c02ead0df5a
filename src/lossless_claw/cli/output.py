"""All of stdout: the JSON envelope, the table, the terminal. Bytes out, nothing decided.

Programs get one line of JSON, the same whatever the locale; people get aligned tables. A lone
surrogate, which UTF-8 cannot carry, is written as its JSON escape (spec operator-surfaces 1.5).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from click.exceptions import Exit

from lossless_claw.cli.diagnostics import PIPE_CLOSED
from lossless_claw.cli.session import Session

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

View = Callable[[], "Iterable[RenderableType]"]


class Answer(msgspec.Struct, frozen=True):
    """What a command found: plain data, and where it is one page of many, which."""

    command: str
    data: Any
    pagination: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] = {}


def write(session: Session, answer: Answer, view: View | None = None) -> None:
    """Print *answer* in the form that the invocation asks for.

    *view* makes what people see on a terminal; without one it is derived from the data.
    """
    if session.is_for_people:
        show(view() if view else _view(answer))
        return
    if session.form == "table":
        text = "".join(f"{line}\n" for line in table_lines(answer))
    else:
        text = envelope(answer, is_pretty=session.is_pretty) + "\n"
    write_text(text)


def write_text(text: str) -> None:
    """Print *text* as UTF-8, lone surrogates escaped.

    Raises:
        Exit: If nobody reads any more, as in `lcm export | head`.
    """
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        raise Exit(abandon()) from error


def abandon() -> int:
    """Give up stdout, which nobody reads any more, and return the exit status."""
    # The interpreter flushes stdout once more at its end; that must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def json_line(value: Any) -> str:
    """Return *value* as one line of JSON in ASCII."""
    return json.dumps(value, separators=(",", ":"))


# -- for programs ------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return *value* with its structs as objects in camel case; other objects keep their keys."""
    if isinstance(value, msgspec.Struct):
        return {_camel(name): plain(one) for name, one in _fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return value


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _fields(value: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    # By the fields' names alone: a struct's annotations may name types that are not loaded.
    names, defaults = value.__struct_fields__, value.__struct_defaults__
    fallback = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    leaves_out = value.__struct_config__.omit_defaults
    for name in names:
        one = getattr(value, name)
        if not (leaves_out and name in fallback and one is fallback[name]):
            yield name, one


def envelope(answer: Answer, *, is_pretty: bool = False) -> str:
    """Return the success envelope, without a newline at its end."""
    body: dict[str, Any] = {"ok": True, "command": answer.command, "data": plain(answer.data)}
    if answer.pagination is not None:
        body["pagination"] = plain(answer.pagination)
    body["meta"] = plain(answer.meta)
    if is_pretty:
        return json.dumps(body, ensure_ascii=False, indent=2)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def table_lines(answer: Answer) -> Iterator[str]:
    """Return the lines of the tab-separated form (spec 1.5)."""
    yield f"command\t{answer.command}"
    data = plain(answer.data)
    fields = data if isinstance(data, dict) else {"value": data}
    items = fields.get("items")
    if isinstance(items, list):
        yield from _rows(items)
    yield from _named("data", _beside_items(fields))
    yield from _named("pagination", plain(answer.pagination or {}))
    yield from _named("meta", plain(answer.meta))


def _beside_items(fields: Mapping[str, Any]) -> dict[str, Any]:
    has_rows = isinstance(fields.get("items"), list)
    return {name: one for name, one in fields.items() if not (has_rows and name == "items")}


def _rows(items: list[Any]) -> Iterator[str]:
    rows = [item if isinstance(item, dict) else {"value": item} for item in items]
    if not rows:
        yield "(no rows)"
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    yield "\t".join(columns)
    for row in rows:
        yield "\t".join(cell(row.get(name)) for name in columns)


def _named(prefix: str, fields: Mapping[str, Any]) -> Iterator[str]:
    return (f"{prefix}.{name}\t{cell(value)}" for name, value in fields.items())


def cell(value: Any) -> str:
    """Return *value* on one line, harmless to a terminal."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    return " ".join(clean(str(value)).split("\n"))


_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), "\ufffd")
_LINES = _CONTROLS | {9: " ", 10: "\n", 13: "", 11: " ", 12: " "}


def clean(text: str) -> str:
    """Return *text* without what a terminal would obey; lines stay lines, a tab is a space."""
    return text.translate(_LINES).encode("utf-8", "backslashreplace").decode()


CLIPPED = frozenset({"preview", "snippet", "content", "examples"})
"""Columns of a table on a terminal that end where the line does."""

# -- for people --------------------------------------------------------------------------


def console() -> Console:
    """Return the terminal; rich is loaded here and nowhere at start."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def show(parts: Iterable[RenderableType]) -> None:
    """Print *parts*, each as soon as it is there."""
    screen = console()
    for part in parts:
        # A line of text is left to the terminal to wrap, so that it can be copied whole.
        screen.print(part, soft_wrap=isinstance(part, str))


def _view(answer: Answer) -> Iterator[RenderableType]:
    data = plain(answer.data)
    fields = data if isinstance(data, dict) else {"value": data}
    items = fields.get("items")
    if isinstance(items, list):
        yield grid(items) if items else "nothing"
    if rest := _beside_items(fields):
        yield facts(rest)
    following = (answer.pagination or {}).get("nextCursor")
    if following:
        yield f"more: --cursor {following}"


def grid(items: list[Any], columns: Iterable[str] | None = None) -> RenderableType:
    """Return rows as an aligned table, of *columns* or of all that say anything."""
    from rich.table import Table
    from rich.text import Text

    names = list(columns or _speaking(items))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        is_number = all(isinstance(item.get(name), int | float | None) for item in items)
        is_clipped = name in CLIPPED
        table.add_column(
            name,
            justify="right" if is_number else "left",
            no_wrap=is_number or is_clipped or name.endswith("At"),
            overflow="ellipsis" if is_clipped else "fold",
        )
    for item in items:
        table.add_row(*(Text(_short(item.get(name))) for name in names))
    return table


def _speaking(items: list[Any]) -> list[str]:
    names = dict.fromkeys(name for item in items for name in item)
    return [name for name in names if any(item.get(name) not in (None, "", []) for item in items)]


def facts(fields: Mapping[str, Any], *, indent: int = 0) -> RenderableType:
    """Return named values, one a line, nested objects indented."""
    from rich.text import Text

    return Text("\n".join(_facts(fields, indent)))


def _facts(fields: Mapping[str, Any], indent: int) -> Iterator[str]:
    width = max((len(name) for name in fields), default=0)
    for name, value in fields.items():
        if isinstance(value, dict) and value:
            yield " " * indent + name
            yield from _facts(value, indent + 2)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield " " * indent + name
            for one in value:
                line = "  ".join(f"{key} {_short(field)}" for key, field in one.items())
                yield " " * (indent + 2) + line
        else:
            yield f"{' ' * indent}{name:<{width}}  {_short(value)}"


def _short(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(cell(one) for one in value)
    return cell(value)
