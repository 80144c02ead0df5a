"""The summarizer that needs no model: the pieces of a source that cover most of it.

Budgeted coverage (spec evaluation 3): again and again the piece with the largest sum of new term
weights per square root of its cost, until the budget is spent; printed in the order of the source.
Deterministic; no network, no model, no clock.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from lossless_claw.summarize import footer
from lossless_claw.summarize.pieces import Piece, footer_terms, passages, split
from lossless_claw.summarize.summarizer import Request, Text
from lossless_claw.summarize.terms import Weights, words
from lossless_claw.tokens import estimate, truncate

_WIDEST_PIECE = 320
_NARROWEST_PIECE = 48
_FOOTER_SHARE = 8
_LONGEST_FOOTER = 80
_SHORTEST_FOOTER = 16
_END_READ = 4_000
_NAMED = 100


class Extractive:
    """A free, deterministic summarizer that quotes its source.

    The answer never costs more than the request's target, is not blank when the source is not
    (from a target of 2 tokens on), keeps day, time and speaker with each piece, and ends with
    the footer when the target has room for one.
    """

    name = "extractive"
    context_window = 1_000_000
    free = True

    def summarize(self, request: Request) -> Text:
        return Text(extract(request), "normal", self.name)


def extract(request: Request) -> str:
    """Return the summary of the source of *request*, at most `target_tokens` long."""
    target = request.target_tokens
    width = max(_NARROWEST_PIECE, min(_WIDEST_PIECE, target))
    found = split(request.pieces or passages(request.source), width)
    if not found or target <= 0:
        return truncate(request.source.strip(), target).strip()
    weights = Weights([piece.text for piece in found])
    reserve = min(_LONGEST_FOOTER, max(_SHORTEST_FOOTER, target // _FOOTER_SHARE))
    room = target - reserve if target >= 3 * _SHORTEST_FOOTER else target
    chosen = _fitting(found, _choose(found, weights, room), room)
    if not chosen:
        return truncate(_first_with_text(found), target).strip()
    body = _print(found, sorted(chosen))
    last = footer.line(_left_out(request, weights, chosen), target - estimate(body) - 1)
    return f"{body}\n{last}" if last and room < target else body


def missing_terms(source: str, text: str) -> list[str]:
    """Return the distinctive terms of *source* that *text* does not name, best first.

    Of a long source, the ends are read: where a conversation starts and where it got to.
    """
    read = source if len(source) <= 2 * _END_READ else source[:_END_READ] + source[-_END_READ:]
    found = [passage.text for passage in passages(read)]
    return _ranked(Weights(found), frozenset(map(str.lower, words(text))))


def _choose(found: Sequence[Piece], weights: Weights, room: int) -> list[int]:
    """Return the indexes of the chosen pieces, best first, within *room* tokens."""
    weight, terms = weights.weight, weights.terms
    costs = [_cost(piece) for piece in found]
    shares = [1 / cost**0.5 for cost in costs]
    heap = [
        (-sum(map(weight.__getitem__, own)) * shares[i], i) for i, own in enumerate(terms) if own
    ]
    heapq.heapify(heap)
    covered: set[str] = set()
    days: set[str] = set()
    chosen: list[int] = []
    while heap and room > 2:
        _, index = heapq.heappop(heap)
        cost = costs[index] + (0 if found[index].day in days else _day_cost(found[index]))
        if cost > room:
            continue
        gain = sum(map(weight.__getitem__, terms[index] - covered)) * shares[index]
        if gain <= 0:
            continue
        if heap and (-gain, index) > heap[0]:
            heapq.heappush(heap, (-gain, index))
            continue
        chosen.append(index)
        covered |= terms[index]
        days.add(found[index].day)
        room -= cost
    return chosen


def _cost(piece: Piece) -> int:
    return estimate(_prefix(piece) + piece.text) + 1


def _day_cost(piece: Piece) -> int:
    return estimate(f"[{piece.day}]") + 1 if piece.day else 0


def _fitting(found: Sequence[Piece], chosen: list[int], room: int) -> list[int]:
    # Days out of order are printed more than once; what that costs is known only now.
    while chosen and estimate(_print(found, sorted(chosen))) > room:
        chosen = chosen[:-1]
    return chosen


def _prefix(piece: Piece) -> str:
    speaker = f"{piece.time} {piece.speaker}".strip()
    return f"{speaker}: " if speaker else ""


def _print(found: Sequence[Piece], order: Sequence[int]) -> str:
    return "\n".join(_lines(found, order))


def _lines(found: Sequence[Piece], order: Sequence[int]) -> Iterator[str]:
    day, said = "", ""
    for index in order:
        piece = found[index]
        if piece.day != day:
            day, said = piece.day, ""
            if day:
                yield f"[{day}]"
        prefix = _prefix(piece)
        # Only what cannot be read as a header may go without its speaker.
        follows = prefix and prefix == said and not piece.text.startswith("[")
        yield piece.text if follows else prefix + piece.text
        said = prefix


def _left_out(request: Request, weights: Weights, chosen: Sequence[int]) -> list[str]:
    kept: set[str] = set().union(*(weights.terms[index] for index in chosen))
    ranked = _ranked(weights, kept)
    earlier = [name for name in footer_terms(request.source) if name.lower() not in kept]
    # What earlier summaries left out already is named beside what this one leaves out.
    return list(dict.fromkeys(name for pair in _interleave(ranked, earlier) for name in pair))


def _interleave(first: Sequence[str], second: Sequence[str]) -> Iterator[Sequence[str]]:
    for index in range(max(len(first), len(second))):
        yield [*first[index : index + 1], *second[index : index + 1]]


def _ranked(weights: Weights, kept: set[str] | frozenset[str]) -> list[str]:
    raised, identifiers = weights.raised, weights.identifiers
    missing = [
        term
        for term in weights.spelling
        if term not in kept and 2 < len(term) <= 60 and (len(term) > 5 or term in raised)
    ]
    names = [term for term in missing if term in identifiers]
    names.sort(key=weights.worth, reverse=True)
    if len(names) < _NAMED:
        capitalised = [term for term in missing if term in raised and term not in identifiers]
        names += sorted(capitalised, key=weights.worth, reverse=True)
    if len(names) < _NAMED:
        plain = [term for term in missing if term not in raised]
        names += sorted(plain, key=weights.worth, reverse=True)
    return [weights.spelling[term] for term in names[:_NAMED] if "," not in term]


def _first_with_text(found: Sequence[Piece]) -> str:
    return next((piece.text for piece in found if piece.text.strip()), found[0].text)
