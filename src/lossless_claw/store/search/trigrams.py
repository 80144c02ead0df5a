"""Which literal texts a regular expression cannot match without. Pure; knows no index.

A trigram index answers "which rows can match at all" for them. Where this room is not sure it
asks for nothing, so that no match is ever missed (spec layout-and-search 2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct

MOST_TRIGRAMS = 64
_OF_ONE_LITERAL = 6

# What `regex` reads in another way than the standard library: fuzzy matching, POSIX classes, sets.
_FOREIGN = re.compile(r"\{[\s\d,<=+]*[eisd][\s\deisd,<=+]*[:}]|\[\[|\[:|\[[^\]]*(?:--|&&|~~|\|\|)")
_NAMED = re.compile(r"\(\?<(?=[^=!])")
_FOLDING = re.compile(r"\(\?[a-zA-Z]*[iIfF]")
# These fold to letters outside ASCII, or from them.
_UNSURE_FOLDED = frozenset("iIkKsS")
REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


class Every(Struct, frozen=True):
    """All of the members are needed; none: nothing is."""

    members: tuple[Need, ...] = ()


class Some(Struct, frozen=True):
    """One of the members is needed."""

    members: tuple[Need, ...]


Need: TypeAlias = str | Every | Some


def trigram_expression(pattern: str) -> str | None:
    """Return the match expression of the rows that *pattern* can match in.

    None when every row could match, or when the standard library does not know the syntax.
    """
    tree = parse(pattern)
    if tree is None:
        return None
    budget = [MOST_TRIGRAMS]
    return _expression(_need(tree, folds=bool(_FOLDING.search(pattern))), budget)


def required_literal(pattern: str) -> str:
    """Return a text that whatever *pattern* matches holds as it stands; "" when there is none.

    The longest of those that are sure. It may be too short for the index.
    """
    if _FOLDING.search(pattern):
        return ""
    return max(_runs(parse(pattern) or ()), key=len, default="")


def parse(pattern: str) -> list[tuple[Any, Any]] | None:
    """Return the standard library's parse tree of *pattern*; None when it reads another way."""
    if _FOREIGN.search(pattern):
        return None
    parser: Callable[[str], Iterable[tuple[Any, Any]]] | None
    parser = getattr(getattr(re, "_parser", None), "parse", None)
    if parser is None:
        return None
    try:
        return list(parser(_NAMED.sub("(?P<", pattern)))
    except (re.error, RecursionError, OverflowError, ValueError):
        return None


def _need(tree: Iterable[tuple[Any, Any]], *, folds: bool) -> Need:
    """Return what a sequence of nodes needs: its runs of literals and its members' needs."""
    needs: list[Need] = []
    run: list[str] = []
    for op, value in tree:
        name = str(op)
        if name == "LITERAL" and _is_sure(chr(value), folds=folds):
            run.append(chr(value))
            continue
        if name == "AT":
            continue
        _end_run(run, needs)
        needs.append(_member(name, value, folds=folds))
    _end_run(run, needs)
    return _every(needs)


def _member(name: str, value: Any, *, folds: bool) -> Need:
    if name == "SUBPATTERN":
        return _need(value[-1], folds=folds)
    if name == "ATOMIC_GROUP":
        return _need(value, folds=folds)
    if name == "BRANCH":
        return _any([_need(branch, folds=folds) for branch in value[1]])
    if name in REPEATS and value[0] >= 1:
        return _need(value[2], folds=folds)
    return Every()


def _end_run(run: list[str], needs: list[Need]) -> None:
    if len(run) >= 3:
        needs.append("".join(run))
    run.clear()


def _runs(tree: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    """Yield the runs of literals that no branch and no repeat can leave out."""
    run = ""
    for op, value in tree:
        name = str(op)
        if name == "LITERAL" and not _is_surrogate(chr(value)):
            run += chr(value)
        elif name != "AT":
            yield run
            run = ""
            if name == "SUBPATTERN":
                yield from _runs(value[-1])
            elif name in REPEATS and value[0] >= 1:
                yield from _runs(value[2])
    yield run


def _every(needs: list[Need]) -> Need:
    kept = tuple(need for need in needs if need != Every())
    return kept[0] if len(kept) == 1 else Every(kept)


def _any(needs: list[Need]) -> Need:
    return Every() if Every() in needs else Some(tuple(needs))


def _is_sure(character: str, *, folds: bool) -> bool:
    """Whether the index spells *character* as the pattern means it."""
    if character.isascii():
        return character != "\0" and not (folds and character in _UNSURE_FOLDED)
    is_cased = character.lower() != character or character.upper() != character
    return not is_cased and character.casefold() == character and not _is_surrogate(character)


def _is_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


def _expression(need: Need, budget: list[int]) -> str | None:
    """Return the expression of *need*; what the budget of trigrams does not cover is dropped."""
    if isinstance(need, str):
        return _literal(need, budget)
    pieces = [_expression(member, budget) for member in need.members]
    if isinstance(need, Some):
        return None if None in pieces else _joined(" OR ", pieces)
    return _joined(" AND ", [piece for piece in pieces if piece is not None])


def _literal(text: str, budget: list[int]) -> str | None:
    grams = list(dict.fromkeys(text[at : at + 3].lower() for at in range(len(text) - 2)))
    step = -(-len(grams) // _OF_ONE_LITERAL)
    grams = grams[::step][: budget[0]]
    budget[0] -= len(grams)
    return _joined(" AND ", ['"' + gram.replace('"', '""') + '"' for gram in grams])


def _joined(word: str, pieces: list[str | None] | list[str]) -> str | None:
    if not pieces:
        return None
    return str(pieces[0]) if len(pieces) == 1 else f"({word.join(map(str, pieces))})"
