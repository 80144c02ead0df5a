"""The terms of a text and how much each is worth keeping. Pure.

A term is a word, a path, an identifier or a pair of CJK characters, in lower case.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from lossless_claw.tokens import count_cjk

_WORD = re.compile(r"\w(?:[\w./@:+#\\-]*\w)?")
_CJK = "\u4e00-\u9fff\u3400-\u4dbf\u3005-\u3007\u3040-\u30ff\uac00-\ud7af\U00020000-\U0002ebef"
_MIXED = re.compile(f"[{_CJK}]+|[^\\W{_CJK}](?:[^\\W{_CJK}]|[./@:+#\\\\-](?=[^\\W{_CJK}]))*")
_CJK_RUN = re.compile(f"[{_CJK}]+")
_LONGEST = 80


def words(text: str) -> list[str]:
    """Return the terms of *text* in order, as they are written; a CJK run as its pairs."""
    if not count_cjk(text):
        return [word[:_LONGEST] for word in _WORD.findall(text)]
    found: list[str] = []
    for word in _MIXED.findall(text):
        if _CJK_RUN.match(word):
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.append(word[:_LONGEST])
    return found


def is_identifier(word: str) -> bool:
    """Whether *word* has a digit, a slash or an underscore: what nobody can paraphrase."""
    return "/" in word or "_" in word or (not word.isalpha() and any(map(str.isdigit, word)))


class Weights:
    """What every term of a list of texts is worth.

    log(1 + N / df), raised by half for identifiers and for words capitalised in mid-sentence
    (spec evaluation 3). `terms[i]` are the distinct terms of text i, `spelling` maps a term to
    the first way it was written, `count` says how often it occurs.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.terms: list[frozenset[str]] = []
        self.spelling: dict[str, str] = {}
        self.count: Counter[str] = Counter()
        self.raised: set[str] = set()
        for text in texts:
            self._read(words(text))
        frequency = Counter(term for terms in self.terms for term in terms)
        log, total = math.log, len(texts)
        self.weight = {
            term: log(1 + total / df) * (1.5 if term in self.raised else 1.0)
            for term, df in frequency.items()
        }

    def _read(self, found: Sequence[str]) -> None:
        lowered = [word.lower() for word in found]
        for term, word in zip(lowered, found, strict=True):
            if term not in self.spelling:
                self.spelling[term] = word
                if is_identifier(word):
                    self.raised.add(term)
        self.raised.update(
            term
            for term, word in zip(lowered[1:], found[1:], strict=True)
            if term != word and word[:1].isupper()
        )
        self.count.update(lowered)
        self.terms.append(frozenset(lowered))
