"""Rows of OpenClaw's `transcript_events` as JSON lines: a session's entries, one text per row.

Rows are taken in the order of the file, as `ORDER BY session_id, seq` gives them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lossless_claw.model import Raw
from lossless_claw.transcript.formats import openclaw
from lossless_claw.transcript.parsing import Broken, name_type, parse
from lossless_claw.transcript.scan import Naming, Reason, Scan, pick_id, pick_timestamp
from lossless_claw.transcript.transcript import Lane, Picks, Timestamp


def open_row(row: dict[str, Any]) -> dict[str, Any] | Broken:
    """Return the entry of a row, or why there is none."""
    event = row.get("event_json")
    if event is None and row.get("event_zstd") is not None:
        return Broken("event is compressed (event_zstd without event_json): export it as JSON")
    if isinstance(event, str):
        event = parse(event.encode("utf-8", "surrogatepass"))
    if isinstance(event, Broken):
        return Broken(f"event_json: {event.reason}")
    if not isinstance(event, dict):
        return Broken(f"event_json is {name_type(event)}, not an object")
    return event


def unwrap(row: dict[str, Any]) -> tuple[Raw, str | None, Timestamp]:
    """Return the message of a row; the row's own time stands in for a missing one."""
    event = open_row(row)
    assert not isinstance(event, Broken), "only rows that opened on the first pass are unwrapped"
    message, entry_id, timestamp = openclaw.unwrap(event)
    if timestamp is None:
        timestamp = pick_timestamp(row.get("created_at"))
    return message, entry_id, timestamp


class TranscriptEventsScan(Scan):
    """The first pass over rows, a lane for each session."""

    format = "transcript-events"
    unwrap = staticmethod(unwrap)
    known = openclaw.KNOWN

    def __init__(self) -> None:
        super().__init__()
        self._sessions: dict[str | None, openclaw.Session] = {}

    def see(self, line: int, place: int, record: dict[str, Any]) -> Reason:
        if "event_json" not in record and "event_zstd" not in record:
            return "unknown entry: no row of transcript_events"
        session = self._find_session(pick_id(record.get("session_id")))
        event = open_row(record)
        return event.reason if isinstance(event, Broken) else session.see(line, place, event)

    def _find_session(self, name: str | None) -> openclaw.Session:
        if name not in self._sessions:
            self._sessions[name] = openclaw.Session(self)
        return self._sessions[name]

    def find_lanes(self, naming: Naming) -> Mapping[Lane, Picks]:
        lanes: dict[Lane, Picks] = {}
        for row_id, session in self._sessions.items():
            name = row_id or session.id or naming.stem
            lanes[Lane(name, naming.find_key(name), session.title)] = session.finish()
        return lanes
