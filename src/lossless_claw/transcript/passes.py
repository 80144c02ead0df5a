"""The first pass over each kind of file: every record is shown to the scan of its format once.

What a record means is the scan's business, what a file is was told before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from msgspec import Struct

from lossless_claw.transcript.detection import RUNS, Document, find_messages, recognise
from lossless_claw.transcript.formats import SCANS
from lossless_claw.transcript.formats.codex import CodexScan
from lossless_claw.transcript.formats.messages import MessagesScan
from lossless_claw.transcript.parsing import Broken, name_type
from lossless_claw.transcript.scan import Scan, pick_id
from lossless_claw.transcript.source import ItemSource, LineSource, Record
from lossless_claw.transcript.transcript import Problem, Source

PATIENCE = 10_000
"""Lines that may pass before one proves what the file is."""


class Pass(Struct):
    """What a first pass brought. `size` is where the last whole line ended."""

    scan: Scan
    source: Source
    size: int
    problems: list[Problem]


def pass_lines(source: LineSource) -> Pass | list[Record]:
    """Return the first pass over JSON lines, or the records among which none proved a format."""
    records: list[Record] = []
    family = None
    scanning = source.scan()
    for record in scanning:
        records.append(record)
        family = recognise(record.value) if type(record.value) is dict else None
        if family is not None or len(records) == PATIENCE:
            break
    if family is None:
        return records
    everything = chain(records, scanning)
    if family == RUNS:
        return _pass_run_lines(source, everything)
    scan = SCANS[family]()
    problems = list(_show(scan, everything))
    return Pass(scan, source, source.size, problems)


def pass_document(document: Document, size: int) -> Pass | None:
    """Return the first pass over a whole JSON text, or None if nothing proves its format."""
    if document.family is None:
        return None
    if document.family == RUNS:
        return _pass_runs(enumerate(document.items, 1), size)
    scan = _start_scan(document.family, document.session_id)
    scan.skipped.update(document.skipped)
    problems = list(_show(scan, _number(document.items), "item "))
    return Pass(scan, ItemSource(document.items), size, problems)


def _start_scan(family: str, session_id: str | None) -> Scan:
    match family:
        case "messages":
            return MessagesScan(session_id)
        case "codex":
            return CodexScan(session_id)
        case _:
            return SCANS[family]()


def _show(scan: Scan, records: Iterable[Record], item: str = "") -> Iterator[Problem]:
    """Let the scan see each record; *item* names the records of a list in the reasons."""
    see = scan.see
    for line, place, value in records:
        if type(value) is dict:
            reason = see(line, place, value)
        elif isinstance(value, Broken):
            reason = value.reason
        else:
            reason = f"expected an object, found {name_type(value)}"
        if reason is not None:
            yield Problem(line, f"{item}{line}: {reason}" if item else reason)


def _pass_run_lines(source: LineSource, records: Iterable[Record]) -> Pass:
    broken: list[Problem] = []
    runs: list[tuple[int, Any]] = []
    for line, _, value in records:
        if isinstance(value, Broken):
            broken.append(Problem(line, value.reason))
        else:
            runs.append((line, value))
    found = _pass_runs(runs, source.size)
    found.problems.extend(broken)
    return found


def _pass_runs(runs: Iterable[tuple[int, Any]], size: int) -> Pass:
    scan = MessagesScan()
    problems: list[Problem] = []
    items: list[Any] = []
    for number, run in runs:
        listed = find_messages(run) if isinstance(run, dict) else None
        if not listed:
            problems.append(Problem(number, f"run {number} has no messages"))
            continue
        scan.begin_run(number, _title(run))
        problems.extend(_show(scan, _number(listed, len(items)), f"run {number}, item "))
        items.extend(listed)
    return Pass(scan, ItemSource(items), size, problems)


def _number(items: Iterable[Any], place: int = 0) -> Iterator[Record]:
    return (Record(n, place + n - 1, item) for n, item in enumerate(items, 1))


def _title(run: dict[str, Any]) -> str | None:
    title = pick_id(run.get("title"), run.get("name"))
    if title is not None or run.get("task_id") is None:
        return title
    trial = run.get("trial")
    return f"task {run['task_id']}" + ("" if trial is None else f", trial {trial}")
