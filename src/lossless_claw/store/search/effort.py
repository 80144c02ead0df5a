"""How much work a regular expression could be. Pure: nothing is matched here.

A limit of time costs more than matching most texts. Where this room is sure that a short text
takes a moment whatever stands in it, the expression is matched without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from lossless_claw.store.search.trigrams import REPEATS, parse

SHORT = 1_024
"""Characters of a text that a tame pattern needs no time limit for."""

_HUGE_REPEAT = 100_000
_WITHOUT_CHOICE = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "AT", "IN", "CATEGORY"})


def is_too_large(pattern: str) -> bool:
    """Whether nested counted repeats would make compiling *pattern* take seconds."""
    counts = [int(count) for count in re.findall(r"\{(\d{1,9})", pattern)]
    product = 1
    for count in counts:
        product *= max(1, count)
    if product <= _HUGE_REPEAT:
        return False
    tree = parse(pattern)
    return tree is None or _size(tree) > _HUGE_REPEAT


def is_tame(pattern: str) -> bool:
    """Whether *pattern* can be tried in at most `SHORT` ways from each place of a short text.

    The product of what its repeats and branches can choose from: one unbounded repeat passes,
    two in a row or one inside another do not. What the standard library cannot read is not tame.
    """
    tree = parse(pattern)
    return tree is not None and _ways(tree) <= SHORT


def _ways(tree: Iterable[tuple[Any, Any]]) -> int:
    """Return in how many ways the nodes can match one after the other, at most."""
    product = 1
    for op, value in tree:
        product *= _ways_of(str(op), value)
        if product > SHORT:
            return SHORT + 1
    return product


def _ways_of(name: str, value: Any) -> int:
    if name in _WITHOUT_CHOICE:
        return 1
    if name == "SUBPATTERN":
        return _ways(value[-1])
    if name == "BRANCH":
        return sum(_ways(branch) for branch in value[1])
    if name in REPEATS:
        least, most, body = value
        most = min(int(most), SHORT)
        if _ways(body) == 1:
            return max(1, most - int(least) + 1) if least < most else 1
    return SHORT + 1


def _size(tree: Iterable[tuple[Any, Any]]) -> int:
    """Return how many nodes the tree has with every repeat written out."""
    total = 0
    for op, value in tree:
        times = max(1, int(value[0])) if str(op) in REPEATS else 1
        total += times * max(1, sum(_size(branch) for branch in _branches(value)))
    return total


def _branches(value: Any) -> Iterator[Any]:
    """Yield the sub-patterns in the arguments of a node."""
    if type(value).__name__ == "SubPattern":
        yield value
    elif isinstance(value, tuple | list):
        for member in value:
            yield from _branches(member)
