"""How many tokens a text costs, estimated. Nothing here depends on a model, a network or a clock.

Two estimates live side by side. `estimate` decides: a linear count over character classes
(spec evaluation 4). `estimate_upstream` fills the `token_count` columns, which are part of the
file's contract (spec store-and-ingest 2.5). Both take time linear in the text, whatever is in it.
"""

from __future__ import annotations

import re
import string
from functools import cache
from typing import Final

MESSAGE_OVERHEAD: Final = 4
"""Tokens that the frame of one message costs beside its content."""

IMAGE_TOKENS: Final = 1600
"""Tokens that one image is taken to cost, whatever its size."""

SUMMARY_OVERHEAD: Final = 100
"""Tokens of the message and the wrapper that a summary stands in when it is sent, at most."""

SOURCE_OVERHEAD: Final = 24
"""Tokens of one source named inside the wrapper of a condensed summary."""

# Thousandths of a token, so that sums are exact.
_LETTER, _WORD, _DIGIT, _PUNCTUATION, _SPACE = 54, 690, 740, 580, 180
_CJK, _OTHER, _LONG = 600, 800, 400
_LONG_WORD: Final = 16

_LETTERS: Final = string.ascii_letters.encode()
_DIGITS: Final = string.digits.encode()
_SPACES: Final = b" \t\n\r\x0b\x0c"
_WORD_CHARACTERS: Final = _LETTERS + _DIGITS
_WORD_MAP: Final = bytes(97 if byte in _WORD_CHARACTERS else 32 for byte in range(256))
_LONG_RUN: Final = b"a" * (_LONG_WORD + 1)
_ASCII: Final = bytes(range(128))

_CJK_BMP = "\u4e00-\u9fff\u3400-\u4dbf\u3000-\u30ff\uac00-\ud7af\uff00-\uffef"
_CJK_ASTRAL = "\U00020000-\U0002a6df\U0002a700-\U0002ebef"


def estimate(text: str) -> int:
    """Return the tokens of *text*, rounded up; 0 for an empty text.

    Never falls when characters are appended. A word is a run of ASCII letters and digits; each
    of its characters beyond the 16th costs .40 more. Control characters count as punctuation,
    every character that is neither ASCII nor CJK as other (spec evaluation 4).
    """
    if text.isascii():
        return -(-_ascii_cost(text.encode("ascii")) // 1000)
    foreign = _foreign(text)
    cjk = _run_length(_cjk_run(), foreign)
    others = len(foreign) - cjk
    # Each of them stands in the bytes as a question mark: it parts words and is taken off again.
    cost = _ascii_cost(text.encode("ascii", "replace")) - len(foreign) * _PUNCTUATION
    return -(-(cost + cjk * _CJK + others * _OTHER) // 1000)


def exceeds(text: str, limit: int) -> bool:
    """Whether `estimate(text)` is more than *limit*: a short text is not counted to tell."""
    # No text costs more than a token and a half per character: a digit that is a word is dearest.
    return 2 * limit < 3 * len(text) + 2 and estimate(text) > limit


def estimate_upstream(text: str) -> int:
    """Return the tokens of *text* by upstream's weights, rounded up (spec store-and-ingest 2.5)."""
    if text.isascii():
        return (len(text) + 3) // 4
    astral = len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)
    astral_cjk = _run_length(_astral_cjk_run(), _foreign(text)) if astral else 0
    quarters = len(text) + 5 * count_cjk(text) + 7 * (astral - astral_cjk)
    return (quarters + 3) // 4


def summary_item_tokens(text: str, sources: int = 0) -> int:
    """Return what a summary costs in the context: its text as sent and the wrapper around it.

    *sources* is how many sources its wrapper names: all of a condensed summary's, 0 for a leaf.
    The wrapper escapes `&`, `<` and `>` (spec compaction 4.10), so the escaped text is counted.
    """
    sent = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return estimate(sent) + SUMMARY_OVERHEAD + SOURCE_OVERHEAD * sources


def truncate(text: str, limit: int) -> str:
    """Return the longest prefix of *text*, in code points, whose `estimate` is at most *limit*."""
    if limit <= 0:
        return ""
    # No text is cheaper than a tenth of a token per character, so the rest need not be read.
    head = text[: limit * 10 + _LONG_WORD]
    if estimate(head) <= limit:
        return head
    low, high = 0, len(head)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if estimate(head[:middle]) <= limit else (low, middle)
    return head[:low]


def count_cjk(text: str) -> int:
    """Return how many characters of *text* are Chinese, Japanese or Korean."""
    return 0 if text.isascii() else _run_length(_cjk_run(), _foreign(text))


def _foreign(text: str) -> str:
    """Return *text* without its ASCII characters, many times faster than a pattern walks them."""
    data = text.encode("utf-8", "surrogatepass")
    return data.translate(None, _ASCII).decode("utf-8", "surrogatepass")


# Compiling these takes longer than a short program runs, and not every one needs them.
@cache
def _cjk_run() -> re.Pattern[str]:
    return re.compile(f"[{_CJK_BMP}{_CJK_ASTRAL}]+")


@cache
def _astral_cjk_run() -> re.Pattern[str]:
    return re.compile(f"[{_CJK_ASTRAL}]+")


def _run_length(run: re.Pattern[str], text: str) -> int:
    return sum(map(len, run.findall(text)))


def _ascii_cost(data: bytes) -> int:
    words = data.translate(_WORD_MAP)
    unlettered = data.translate(None, _LETTERS)
    rest = unlettered.translate(None, _DIGITS)
    marks = len(rest.translate(None, _SPACES))
    cost = (
        (len(data) - len(unlettered)) * _LETTER
        + (words.count(b" a") + words.startswith(b"a")) * _WORD
        + (len(unlettered) - len(rest)) * _DIGIT
        + marks * _PUNCTUATION
        + (len(rest) - marks) * _SPACE
    )
    return cost + _LONG * _beyond_long(words) if _LONG_RUN in words else cost


def _beyond_long(words: bytes) -> int:
    beyond, begin = 0, words.find(_LONG_RUN)
    while begin >= 0:
        end = words.find(b" ", begin)
        end = len(words) if end < 0 else end
        beyond += end - begin - _LONG_WORD
        begin = words.find(_LONG_RUN, end)
    return beyond
