"""Chinese, Japanese and Korean text as tokens of one and two characters. Pure.

SQLite's word tokenizer takes a whole run of such characters for one word and its trigrams
need three, so short words are found by neither. A token here is the hexadecimal spelling of
a character or of two neighbours: plain ASCII, so no tokenizer of any release folds or splits it.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

RANGES = (
    "\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U000323af"
)
EXACT = 4
"""A run up to this length is a word: looked for as it is, never by its pieces alone."""


@cache
def runs() -> re.Pattern[str]:
    """Return the pattern of a run of such characters; compiled when first needed, in 2 ms."""
    return re.compile(f"[{RANGES}]+")


def has_cjk(text: str) -> bool:
    """Whether *text* holds a character of the kind this room is for."""
    return not text.isascii() and runs().search(text) is not None


def index_tokens(text: str) -> str:
    """Return the distinct tokens of every run of *text*, blank-separated; "" without any."""
    if text.isascii():
        return ""
    tokens: set[str] = set()
    for run in runs().findall(text):
        names = [f"{ord(character):x}" for character in run]
        tokens.update(names)
        tokens.update(first + second for first, second in pairwise(names))
    return " ".join(sorted(tokens))


def pieces(run: str) -> tuple[str, ...]:
    """Return the distinct two-character windows of *run*; the run itself when it is shorter."""
    if len(run) < 2:
        return (run,)
    return tuple(dict.fromkeys(run[at : at + 2] for at in range(len(run) - 1)))


def token(piece: str) -> str:
    """Return the token of one or two characters."""
    return "".join(f"{ord(character):x}" for character in piece)


def every_piece(text: str) -> str:
    """Return the match expression of the rows that hold all pieces of all runs of *text*."""
    found = dict.fromkeys(piece for run in runs().findall(text) for piece in pieces(run))
    return " AND ".join(f'"{token(piece)}"' for piece in found)
