"""The piece of a text that shows why it was found. Pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from lossless_claw.store.query import Unit

WIDTH = 200
_LEAD = 60
_ENDING = re.compile(r"(?:ies|ing|ed|es|s|e|y)$")
_LONG_ENOUGH = 6
_MOST = 90
_READ = 100_000


def finder(units: Sequence[Unit]) -> re.Pattern[str]:
    """Return a pattern with one group per unit that finds it, inflected or not."""
    pieces: list[Unit] = list(units)
    for unit in units:
        pieces += [part for part in unit.parts() if part.text != unit.text]
    pieces = pieces[:_MOST]
    words = "|".join(f"({_loose(unit)})" for unit in pieces if unit.words)
    runs = "|".join(f"({unit.pattern()})" for unit in pieces if not unit.words)
    # One look at the border for all words: they are tried only where a word begins.
    groups = [rf"(?<![^\W_])(?:{words})" if words else "", runs]
    return re.compile("|".join(group for group in groups if group), re.IGNORECASE)


def best_window(text: str, pattern: re.Pattern[str], width: int) -> tuple[int, int] | None:
    """Return the span of the hits, at most *width* long, that shows most different units.

    The earliest among equals; None when nothing is found. Reads no further than a span that
    shows them all.
    """
    best: tuple[int, int, int] | None = None
    hits: deque[tuple[int, int | None]] = deque()
    counts: dict[int | None, int] = {}
    for match in pattern.finditer(text, 0, _READ):
        hits.append((match.start(), match.lastindex))
        counts[match.lastindex] = counts.get(match.lastindex, 0) + 1
        while match.end() - hits[0][0] > width and len(hits) > 1:
            _take_out(counts, hits.popleft()[1])
        if best is None or len(counts) > best[0]:
            best = (len(counts), hits[0][0], match.end())
            if len(counts) == pattern.groups:
                break
    return None if best is None else best[1:]


def excerpt(text: str, span: tuple[int, int] | None, width: int = WIDTH) -> str:
    """Return a single line of at most *width* characters around *span*, or from the start.

    Cut ends are marked by "...".
    """
    start, end = span or (0, 0)
    begin = max(0, start - max(0, min(_LEAD, (width - (end - start)) // 2)))
    line = " ".join(text[begin : begin + 4 * width].split())
    ends_early = begin + 4 * width < len(text)
    lead = "..." if begin else ""
    room = width - len(lead)
    if len(line) > room or ends_early:
        return lead + line[: room - 3].rstrip() + "..."
    return lead + line


def _take_out(counts: dict[int | None, int], group: int | None) -> None:
    counts[group] -= 1
    if not counts[group]:
        del counts[group]


def _loose(unit: Unit) -> str:
    *before, last = unit.words
    joined = "".join(re.escape(word) + r"[\W_]+" for word in before)
    stem = _ENDING.sub("", last) if len(last) >= _LONG_ENOUGH else last
    rest = r"[^\W_]*" if len(last) >= _LONG_ENOUGH else r"(?![^\W_]{3})[^\W_]*"
    return joined + re.escape(stem) + rest
