"""The coding session that `lcm demo` replays, and the questions it asks about it.

Package data, read and never written here. The session is a transcript in OpenClaw's format,
version 3; both files are built by `benchmarks/demo_session`, which is not part of the package.
"""

from __future__ import annotations

import gzip
from importlib.resources import files

import msgspec
from msgspec import Struct


class Question(Struct, frozen=True):
    """A question about a detail of the session, and where its answer is.

    `needle` occurs in one message only: the one whose entry id is `entry`. `why` says in one
    line what makes the detail worth asking for.
    """

    question: str
    needle: str
    entry: str
    why: str


def session() -> bytes:
    """Return the session as JSON lines in UTF-8: some 600 messages over three days."""
    return gzip.decompress(files(__name__).joinpath("session.jsonl.gz").read_bytes())


def questions() -> tuple[Question, ...]:
    """Return the questions, in the order in which they are asked."""
    content = files(__name__).joinpath("questions.json").read_bytes()
    return msgspec.json.decode(content, type=tuple[Question, ...])
