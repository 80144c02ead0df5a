"""What a full-text query asks for: its units. Pure; knows no index.

Whatever a person or a model types is prose, never syntax: only double quotes mean something.
A query is refused only when nothing in it could ever be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import regex
from msgspec import Struct

from lossless_claw.errors import PatternError
from lossless_claw.store.search import cjk

MOST_UNITS = 64
_LONGEST_WORD = 200

_WORD = regex.compile(r"[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*")
_CONTRACTION = re.compile(r"(?<=\w)['\u2019](?:s|t|d|m|ll|re|ve)\b", re.IGNORECASE)
_CHUNK = re.compile(r'"([^"]*)"|([^\s"]+)')
_EDGE = rf"[^\W_{cjk.RANGES}]"

_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being both but by
can cannot could did didn do does doesn doing don down during each few for from further had hadn
has hasn have haven having he her here hers herself him himself his how i if in into is isn it
its itself just let me more most my myself no nor not of off on once only or other our ours out
over own same shall she should shouldn so some such than that the their theirs them themselves
then there these they this those through to too under until up us very was wasn we were weren
what when where which while who whom whose why will with won would wouldn you your yours
yourself e g eg ie etc
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


class Unit(Struct, frozen=True):
    """One thing to be found.

    `words` are words in a row (a compound such as snake_case, or a quoted phrase); empty for a
    CJK text, which is found as it stands in `text`.
    """

    text: str
    words: tuple[str, ...] = ()
    is_required: bool = False

    @property
    def expression(self) -> str:
        """The unit as a quoted full-text phrase."""
        return f'"{" ".join(self.words)}"'

    def parts(self) -> tuple[Unit, ...]:
        """Return the words or CJK pieces, a unit each."""
        if self.words:
            return tuple(Unit(word, (word,)) for word in dict.fromkeys(self.words))
        runs = cjk.runs().findall(self.text)
        return tuple(Unit(piece) for piece in dict.fromkeys(p for r in runs for p in cjk.pieces(r)))

    def pattern(self) -> str:
        """Return the regular expression of the unit as it stands in a text, whole words only."""
        if not self.words:
            return r"\s+".join(map(re.escape, self.text.split()))
        joined = r"[\W_]+".join(map(re.escape, self.words))
        return f"(?<!{_EDGE}){joined}(?!{_EDGE})"


class Query(Struct, frozen=True):
    """The units of a query, each once, in the order typed."""

    units: tuple[Unit, ...]
    note: str | None = None

    @property
    def has_cjk(self) -> bool:
        return any(not unit.words for unit in self.units)


def read_query(text: str) -> Query:
    """Return what *text* asks for.

    Stop words are left out unless nothing else remains; a quoted phrase is required as it is.

    Raises:
        PatternError: If there is no letter and no digit in it.
    """
    units = list(dict.fromkeys(_units(text)))
    if not units:
        raise PatternError(
            "the query is empty" if not text.strip() else f"no word to search for in {text[:80]!r}",
            hint='Give at least one word, or search for punctuation with mode="regex".',
        )
    telling = [unit for unit in units if not _is_stop_word(unit)] or units
    if len(telling) <= MOST_UNITS:
        return Query(tuple(telling))
    note = f"only the first {MOST_UNITS} of the query's {len(telling)} words are used"
    return Query(tuple(telling[:MOST_UNITS]), note)


def loosened(units: Iterable[Unit]) -> tuple[Unit, ...]:
    """Return the units of which one is enough: those of a long CJK run are its pieces."""
    result: list[Unit] = []
    for unit in units:
        is_word = bool(unit.words) or unit.is_required or len(unit.text) <= cjk.EXACT
        result += [unit] if is_word else unit.parts()
    return tuple(dict.fromkeys(result))


def _units(text: str) -> Iterator[Unit]:
    for match in _CHUNK.finditer(text):
        quoted, plain = match.groups()
        if quoted is not None:
            yield from _phrase(quoted)
        else:
            yield from _chunk(plain)


def _phrase(quoted: str) -> Iterator[Unit]:
    words = _words(quoted)
    if cjk.has_cjk(quoted):
        yield Unit(" ".join(quoted.split()), is_required=True)
    elif words:
        yield Unit(quoted, words, is_required=True)


def _chunk(chunk: str) -> Iterator[Unit]:
    """Yield the runs and the words of a text without blanks."""
    start = 0
    for run in cjk.runs().finditer(chunk):
        yield from _compound(chunk[start : run.start()])
        yield Unit(run.group())
        start = run.end()
    yield from _compound(chunk[start:])


def _compound(segment: str) -> Iterator[Unit]:
    words = _words(_CONTRACTION.sub("", segment))
    if words:
        yield Unit(" ".join(words), words)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word[:_LONGEST_WORD].lower() for word in _WORD.findall(text))


def _is_stop_word(unit: Unit) -> bool:
    return bool(unit.words) and not unit.is_required and STOP_WORDS.issuperset(unit.words)
