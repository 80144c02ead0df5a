"""The piece of a text that shows why it was found. Pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from lossless_claw.store.search.query import Unit

WIDTH = 200
_LEAD = 60
_ENDING = re.compile(r"(?:ies|ing|ed|es|s|e|y)$")
_LONG_ENOUGH = 6
_MOST = 90
_READ = 100_000


class Finder(Struct, frozen=True):
    """Finds the units of a query, inflected or not: `pattern` has one group for each.

    `stems` are in lower case: one of them stands wherever the pattern matches.
    """

    pattern: re.Pattern[str]
    stems: tuple[str, ...]

    def start(self, text: str) -> int:
        """Return a place before which nothing is found; looking for it is cheap."""
        lowered = text.lower()
        if len(lowered) != len(text):
            return 0
        end = _READ
        for stem in self.stems:
            at = lowered.find(stem, 0, end)
            # What stands further back than a stem found already need not be looked for.
            end = end if at < 0 else min(end, at + len(stem))
        return max(0, end - self._longest) if end < _READ else 0

    @property
    def _longest(self) -> int:
        return max(map(len, self.stems), default=0)


def finder(units: Sequence[Unit]) -> Finder:
    """Return what finds the units and their parts."""
    pieces: list[Unit] = list(units)
    for unit in units:
        pieces += [part for part in unit.parts() if part.text != unit.text]
    pieces = pieces[:_MOST]
    words = "|".join(f"({_loose(unit)})" for unit in pieces if unit.words)
    runs = "|".join(f"({unit.pattern()})" for unit in pieces if not unit.words)
    # One look at the border for all words: they are tried only where a word begins.
    groups = [rf"(?<![^\W_])(?:{words})" if words else "", runs]
    pattern = re.compile("|".join(group for group in groups if group), re.IGNORECASE)
    return Finder(pattern, tuple(dict.fromkeys(_stem(unit) for unit in pieces)))


def best_window(
    text: str, finder: Finder, width: int, reach: int = _READ
) -> tuple[int, int] | None:
    """Return the span of the hits, at most *width* long, that shows most different units.

    The earliest among equals; None when nothing is found. Reads no further than a span that
    shows them all, and *reach* characters from the first hit.
    """
    best: tuple[int, int, int] | None = None
    hits: deque[tuple[int, int | None]] = deque()
    counts: dict[int | None, int] = {}
    start, end = finder.start(text), _READ
    for match in finder.pattern.finditer(text, start, end):
        if best is None:
            end = match.start() + reach
        elif match.start() > end:
            break
        hits.append((match.start(), match.lastindex))
        counts[match.lastindex] = counts.get(match.lastindex, 0) + 1
        while match.end() - hits[0][0] > width and len(hits) > 1:
            _take_out(counts, hits.popleft()[1])
        if best is None or len(counts) > best[0]:
            best = (len(counts), hits[0][0], match.end())
            if len(counts) == finder.pattern.groups:
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
    rest = r"[^\W_]*" if len(last) >= _LONG_ENOUGH else r"(?![^\W_]{3})[^\W_]*"
    return joined + re.escape(_stripped(last)) + rest


def _stem(unit: Unit) -> str:
    """Return the first text of a match, as far as it is certain, in lower case."""
    if not unit.words:
        return unit.text.split()[0].lower()
    return (unit.words[0] if len(unit.words) > 1 else _stripped(unit.words[0])).lower()


def _stripped(word: str) -> str:
    return _ENDING.sub("", word) if len(word) >= _LONG_ENOUGH else word
