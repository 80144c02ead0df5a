"""Messages with ids: exactly the unknown ids are new (G2). Pure.

A message that came without an id before and comes with one now is the same event when the
unknown ones, in order, run into the newest rows without ids (cases O-DUP-02 and the flush lag).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from lossless_claw.ingest.align import Coming
from lossless_claw.model import Row


class Stamped(Struct, frozen=True):
    """What a list of messages with ids means.

    Indexes of new ones; of known and adopted ones with their row ids.
    """

    new: tuple[int, ...]
    known: tuple[tuple[int, int], ...]
    adopted: tuple[tuple[int, int], ...]


class Repeats(Struct, frozen=True):
    """Indexes of messages whose id came before: saying the same again, or something else."""

    again: tuple[int, ...]
    changed: tuple[int, ...]


def sort_out(
    ids: Sequence[str], coming: Sequence[Coming], stored: Mapping[str, int], tail: Sequence[Row]
) -> Stamped:
    """Say which of the messages are new.

    Args:
        ids: The id of each message, each once.
        coming: The messages.
        stored: Row ids of the ids that the store has.
        tail: The newest rows that have no id, oldest first.
    """
    known = [(index, stored[entry_id]) for index, entry_id in enumerate(ids) if entry_id in stored]
    unknown = [index for index, entry_id in enumerate(ids) if entry_id not in stored]
    start, length = _overlap([coming[index].hash for index in unknown], [row.hash for row in tail])
    adopted = [
        (unknown[start + step], tail[len(tail) - length + step].id) for step in range(length)
    ]
    taken = {index for index, _ in adopted}
    new = [index for index in unknown if index not in taken]
    return Stamped(tuple(new), tuple(known), tuple(adopted))


def repeats(ids: Sequence[str | None], hashes: Sequence[bytes], seen: dict[str, bytes]) -> Repeats:
    """Set aside the messages whose id came before in the same reading.

    Args:
        ids: The id of each message, None without one.
        hashes: What each says.
        seen: The ids that came before and what they said; it grows.
    """
    again: list[int] = []
    changed: list[int] = []
    for index, (entry_id, said) in enumerate(zip(ids, hashes, strict=True)):
        if entry_id is None:
            continue
        if entry_id in seen:
            (again if seen[entry_id] == said else changed).append(index)
        seen.setdefault(entry_id, said)
    return Repeats(tuple(again), tuple(changed))


def _overlap(unknown: Sequence[bytes], tail: Sequence[bytes]) -> tuple[int, int]:
    """Return where in *unknown* the longest run begins that ends *tail*, and its length."""
    best = (0, 0)
    for end in range(len(unknown), 0, -1):
        if best[1] >= end:
            break
        length, most = 0, min(end, len(tail))
        while length < most and unknown[end - 1 - length] == tail[len(tail) - 1 - length]:
            length += 1
        # Messages without a row before the run would be stored after it, out of order.
        if length > best[1] and (length == end or length == len(tail)):
            best = (end - length, length)
    return best
