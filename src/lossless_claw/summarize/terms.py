"""The terms of a text and how much each is worth keeping. Pure.

A term is a word, a path, an identifier or a pair of CJK characters, in lower case.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain

from lossless_claw.tokens import count_cjk

_CJK = "\u4e00-\u9fff\u3400-\u4dbf\u3005-\u3007\u3040-\u30ff\uac00-\ud7af\U00020000-\U0002ebef"
_LONGEST = 80
_SCALE = 1 << 20


# Compiling these takes longer than most programs need to start, and not every one needs them.
@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"\w(?:[\w./@:+#\\-]*\w)?")


@cache
def _mixed() -> re.Pattern[str]:
    return re.compile(f"([{_CJK}]+)|[^\\W{_CJK}](?:[^\\W{_CJK}]|[./@:+#\\\\-](?=[^\\W{_CJK}]))*")


def words(text: str) -> list[str]:
    """Return the terms of *text* in order, as they are written; a CJK run as its pairs."""
    if not count_cjk(text):
        return [word[:_LONGEST] for word in _word().findall(text)]
    found: list[str] = []
    for match in _mixed().finditer(text):
        word = match[0]
        if match[1]:
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.append(word[:_LONGEST])
    return found


def is_identifier(word: str) -> bool:
    """Whether *word* has a digit, a slash or an underscore: what nobody can paraphrase."""
    return not word.isalpha() and ("/" in word or "_" in word or any(map(str.isdigit, word)))


class Weights:
    """What every term of a list of texts is worth.

    log(1 + N / df), raised by half for identifiers and for words capitalised in mid-sentence
    (spec evaluation 3), in whole millionths: sums do not depend on the order of a set, which
    changes from process to process. `terms[i]` are the distinct terms of text i, `spelling` maps
    a term to the first way it was written, `count` says how often it occurs.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        found = [words(text) for text in texts]
        every = list(chain.from_iterable(found))
        lowered = list(map(str.lower, every))
        self.terms = [frozenset(map(str.lower, own)) for own in found]
        self.count = Counter(lowered)
        self.spelling = _first_spelled(lowered, every)
        self.identifiers = {term for term, word in self.spelling.items() if is_identifier(word)}
        self.raised = self.identifiers | _capitalised(found)
        frequency = Counter(chain.from_iterable(self.terms))
        scale = {df: _SCALE * math.log(1 + len(texts) / df) for df in set(frequency.values())}
        self.weight = {
            term: int(scale[frequency[term]] * (1.5 if term in self.raised else 1.0))
            for term in self.spelling
        }

    def worth(self, term: str) -> int:
        """Return what naming *term* is worth: the more, the more often it occurs."""
        return self.weight[term] * (1 + min(self.count[term], 8))


def _first_spelled(lowered: Sequence[str], written: Sequence[str]) -> dict[str, str]:
    """Return how each term was written first, in the order of the text."""
    spelling = dict.fromkeys(lowered, "")
    spelling.update(zip(reversed(lowered), reversed(written), strict=True))
    return spelling


def _capitalised(found: Sequence[Sequence[str]]) -> set[str]:
    """Return the terms that are capitalised somewhere but at the beginning of a text."""
    inner = set(chain.from_iterable(own[1:] for own in found))
    return {word.lower() for word in inner if word[0].isupper() and word != word.lower()}
