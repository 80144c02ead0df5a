"""Which hit comes first: weights and orders over plain numbers. Pure; knows no index.

Spec: evaluation 2 and layout-and-search 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

K1, B = 1.2, 0.75
RECEIVER_LIMIT = 500
"""A neighbour receives a share only up to this many characters: long texts match by themselves."""

QUESTION = 3
"""From so many words on a query is a question, whose answer may stand beside the hit."""

NEIGHBOURS_NOTE = "short neighbours of hits are listed too and not counted"

SHARES = {1: 0.4, 2: 0.2}
"""What a hit gives to the messages one and two places away."""


class Scored(Struct, frozen=True):
    """A ranked row. `is_whole`: everything that was asked for is in it."""

    id: int | str
    score: float
    is_whole: bool = False


def choose(frequencies: Sequence[int], budget: int) -> list[int]:
    """Return the indexes of the rarest terms whose frequencies sum up to at most *budget*.

    At least one, if any term occurs at all; in the order given.
    """
    chosen: list[int] = []
    spent = 0
    for index in sorted(range(len(frequencies)), key=lambda at: frequencies[at]):
        if not frequencies[index]:
            continue
        spent += frequencies[index]
        if chosen and spent > budget:
            break
        chosen.append(index)
    return sorted(chosen)


def idf(rows: int, frequency: int) -> float:
    """Return the weight of a term, as FTS5 computes it: never zero or less."""
    weight = math.log((rows - frequency + 0.5) / (frequency + 0.5)) if frequency < rows else 0.0
    return weight if weight > 0 else 1e-6


def bm25(counts: Sequence[Sequence[int]], lengths: Sequence[int], rows: int) -> list[float]:
    """Return a score for each row of *counts* (occurrences by row and term).

    *rows* is the size of the collection that they were found in.
    """
    if not counts:
        return []
    average = max(1.0, sum(lengths) / len(lengths))
    terms = range(len(counts[0]))
    weights = [idf(rows, sum(1 for row in counts if row[term])) for term in terms]
    return [
        sum(weights[term] * saturated(row[term], length / average) for term in terms)
        for row, length in zip(counts, lengths, strict=True)
    ]


def saturated(count: int, relative_length: float) -> float:
    """Return what *count* occurrences are worth in a row of this length (1 = average)."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * relative_length))


def spread(
    scores: Mapping[int, float], neighbours: Iterable[tuple[int, int, int]]
) -> dict[int, float]:
    """Return the scores after every hit gave its share to its neighbours.

    A receiver need be no hit itself. *neighbours* are donor, receiver and their distance.
    """
    result = dict(scores)
    for donor, receiver, distance in neighbours:
        result[receiver] = result.get(receiver, 0.0) + SHARES[distance] * scores[donor]
    return result


def aged(score: float, hours: float) -> float:
    """Return *score* pulled down by age (spec compaction-assembly-recall 6.3, hybrid)."""
    return score / (1 + max(0.0, hours) * 0.001)


def best_first(rows: Iterable[Scored]) -> list[Scored]:
    """Return the rows that are whole first, then by score, the newer first among equals."""
    newest = sorted(rows, key=lambda row: row.id, reverse=True)
    return sorted(newest, key=lambda row: (row.is_whole, row.score), reverse=True)


def aged_first(rows: Sequence[Scored], times: Mapping[Any, float]) -> list[Scored]:
    """Return the rows best first, scores pulled down by age: hours before the newest of them.

    Args:
        times: Seconds by row id.
    """
    newest = max(times.values(), default=0.0)
    return best_first(
        Scored(row.id, aged(row.score, (newest - times.get(row.id, 0.0)) / 3600), row.is_whole)
        for row in rows
    )
