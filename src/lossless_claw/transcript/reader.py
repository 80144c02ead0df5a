"""Opens a file, tells what it is, and answers with a transcript or a refusal.

The only door to the formats. It holds no message of a line file: what stays is where they are.
"""

from __future__ import annotations

import os
import stat as modes
from pathlib import Path

from lossless_claw.errors import TranscriptError, TranscriptNotFoundError
from lossless_claw.transcript.detection import is_index, outline, recognise
from lossless_claw.transcript.index import Index, read_index
from lossless_claw.transcript.opening import looks_binary, parse_document, peek
from lossless_claw.transcript.parsing import Broken, name_type
from lossless_claw.transcript.passes import Pass, pass_document, pass_lines
from lossless_claw.transcript.scan import Naming
from lossless_claw.transcript.source import LineSource, Record, explain
from lossless_claw.transcript.transcript import Transcript

EXPECTED = (
    "Expected an OpenClaw or pi session, rows of transcript_events, a Claude Code session, a Codex "
    "rollout, OpenAI or Anthropic messages (a list, an object with messages, or JSON lines), or an "
    "SWE-agent trajectory."
)


def read(path: Path) -> Transcript:
    """Return the transcript at *path* after one pass over it.

    Lines that cannot be imported become `problems`; the rest can be read. What is appended while
    this runs is left for the next time.

    Raises:
        TranscriptNotFoundError: If there is no such file.
        TranscriptError: If the file is no transcript or cannot be read.
    """
    path = Path(path)
    try:
        stat = path.stat()
        _check_file(path, stat)
        found = _read_file(path, stat)
    except FileNotFoundError as error:
        raise TranscriptNotFoundError(f"there is no file {path}", path=str(path)) from error
    except OSError as error:
        raise explain(path, error) from error
    return _conclude(path, stat, found)


def _check_file(path: Path, stat: os.stat_result) -> None:
    if modes.S_ISDIR(stat.st_mode):
        raise _refuse(path, "is a folder", "Name a file in it, or import the folder.")
    if not modes.S_ISREG(stat.st_mode):
        raise _refuse(path, "is no regular file")
    if stat.st_size == 0:
        raise _refuse(path, "is empty")
    if looks_binary(path):
        raise _refuse(path, "is binary")


def _read_file(path: Path, stat: os.stat_result) -> Pass:
    opening = peek(path, stat.st_size)
    if not opening:
        raise _refuse(path, "is empty: it holds nothing but white space")
    value = parse_document(path, stat.st_size, opening)
    if value is None or isinstance(value, Broken):
        return _read_lines(path, stat, value)
    if is_index(value):
        raise _refuse(
            path,
            "is a session index: it says which sessions there are and holds no messages",
            "Import the session files beside it, or their folder.",
        )
    return _read_document(path, stat, value)


def _read_lines(path: Path, stat: os.stat_result, document: Broken | None) -> Pass:
    found = pass_lines(LineSource(path, stat))
    if isinstance(found, Pass):
        return found
    raise _refuse(path, f"is no transcript: {_explain_lines(found, document)}")


def _explain_lines(records: list[Record], document: Broken | None) -> str:
    if document is not None:
        return document.reason
    for line, _, value in records:
        if isinstance(value, Broken):
            return f"line {line}: {value.reason}"
    return f"none of its first {len(records):,} lines belongs to one"


def _read_document(path: Path, stat: os.stat_result, value: object) -> Pass:
    document = outline(value)
    if document is None:
        if isinstance(value, dict) and recognise(value) is not None:
            return _read_lines(path, stat, None)
        raise _refuse(path, f"is no transcript: it holds {name_type(value)} without messages")
    if not document.items:
        raise _refuse(path, "has no messages in it")
    found = pass_document(document, stat.st_size)
    if found is None:
        raise _refuse(path, "is no transcript: a list of something else than messages")
    return found


def _conclude(path: Path, stat: os.stat_result, found: Pass) -> Transcript:
    index: Index | None = None

    def find_key(session_id: str) -> str | None:
        nonlocal index
        index = index or read_index(path.parent)
        return index.find_key(session_id, path.name)

    lanes = found.scan.find_lanes(Naming(path.stem, find_key))
    problems = sorted(found.problems, key=lambda problem: problem.line)
    return Transcript(
        path=path,
        format_name=found.scan.format,
        size=found.size,
        mtime_ms=stat.st_mtime_ns // 1_000_000,
        skipped=dict(found.scan.skipped),
        problems=[*(index.problems if index else ()), *problems],
        picks=lanes,
        source=found.source,
        unwrap=found.scan.unwrap,
    )


def _refuse(path: Path, what: str, hint: str = EXPECTED) -> TranscriptError:
    return TranscriptError(f"{path} {what}", hint=hint, path=str(path))
