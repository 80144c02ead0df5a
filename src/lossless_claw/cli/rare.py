"""Details worth asking for: texts that occur in exactly one message. Pure text in and out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

_DETAIL = re.compile(
    r"(?<![\w/.-])(?:"
    r"/?[\w.-]+(?:/[\w.-]+)+"  # a path
    r"|[0-9a-f]{7,40}"  # a hash
    r"|\d+(?:\.\d+)+|\d{4,}"  # a version, an address, a number
    r"|[A-Za-z]+(?:[_-][A-Za-z0-9]+)+"  # snake or kebab case
    r"|[a-z]+(?:[A-Z][a-z0-9]+)+"  # camel case
    r"|[\u3040-\u30ff\u4e00-\u9fff]{3,12}"  # Chinese or Japanese
    r")(?![\w/-])",
    re.ASCII,
)
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
SHORTEST, LONGEST = 3, 48


class Detail(Struct, frozen=True):
    """A text and the id of the one message that it occurs in."""

    text: str
    message: int


def pick(texts: Mapping[int, str], candidates: Sequence[int], count: int = 3) -> list[Detail]:
    """Return up to *count* details of the *candidates*, spread over them, oldest first.

    Args:
        texts: Every message's text by its id.
        candidates: Messages to choose from, in order.
    """
    seen: Counter[str] = Counter()
    for text in texts.values():
        seen.update(set(_details(text)))
    found = [_best(texts, message, seen) for message in candidates]
    return spread([detail for detail in found if detail is not None], count)


def spread(details: Sequence[Detail], count: int) -> list[Detail]:
    """Return up to *count* of *details*: the most telling of each of as many stretches."""
    if len(details) <= count:
        return list(details)
    step = len(details) / count
    return [_strongest(details[int(i * step) : int((i + 1) * step)]) for i in range(count)]


def _details(text: str) -> list[str]:
    found = (match[0].strip(".") for match in _DETAIL.finditer(text))
    return [one for one in found if SHORTEST <= len(one) <= LONGEST]


def _best(texts: Mapping[int, str], message: int, seen: Counter[str]) -> Detail | None:
    own = [one for one in _details(texts.get(message, "")) if seen[one] == 1]
    # The count is by whole details: the text may still stand inside a longer one elsewhere.
    for one in sorted(dict.fromkeys(own), key=_weight, reverse=True)[:5]:
        if sum(one in text for text in texts.values()) == 1:
            return Detail(one, message)
    return None


def _strongest(details: Sequence[Detail]) -> Detail:
    return max(details, key=lambda detail: _weight(detail.text))


def _weight(text: str) -> int:
    """Return how telling a detail is; a CJK character says as much as three letters."""
    return len(text) + 2 * len(_CJK.findall(text))
