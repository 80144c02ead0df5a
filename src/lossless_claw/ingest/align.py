"""Align a list without ids with what is stored (spec alignment). Pure but for reading rows.

The store is the whole memory: the rows in order (K) and one durable number, `first`, the row at
which the last list began. New is what follows the longest run that ends at the newest row; a
list that begins like the stored one and then goes on differently is a rewind; short repeated
texts prove nothing. Look-ups go by place or through the hash index: the cost follows the list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from lossless_claw.ingest.runs import Counted, Extended, common_suffixes
from lossless_claw.model import Row

PROOF_CHARACTERS = 32
PROOF_RUN = 3
PLACES = 64
"""A message that stands at more places than this proves nothing and is not looked up further."""

HEAVY_PROOFS = 16
"""So many runs of repeated messages are looked for in all places; later ones stay unproved."""

_ANCHORS = 8
_MINTED = re.compile(r"(?:(?:toolu|call|fc|chatcmpl-tool)[_-][A-Za-z0-9]{12,}[ ]?)+")


class Coming(Struct, frozen=True):
    """One message of the list that came in."""

    hash: bytes
    role: str
    size: int
    tools: str
    characters: int


class Rows(Protocol):
    """The conversation's rows in order, without those taken out."""

    def tail(self, count: int) -> list[Row]:
        """Return the newest *count* rows, oldest first."""
        ...

    def since(self, seq: int, count: int) -> list[Row]:
        """Return *count* rows from *seq* on, oldest first."""
        ...

    def before(self, seq: int, count: int) -> list[Row]:
        """Return the *count* rows before *seq*, oldest first."""
        ...

    def places(self, identity: bytes, limit: int) -> list[int]:
        """Return the seqs of at most *limit* rows with this hash, oldest first."""
        ...

    def known(self, identities: Sequence[bytes]) -> set[bytes]:
        """Return those hashes that any row has."""
        ...

    def continuation(self, after: int, identity: bytes) -> Row | None:
        """Return the row that was once taken out right after row id *after*, by its hash."""
        ...


class Alignment(Struct, frozen=True):
    """What a list means for the store.

    `new` and `pairs` hold indexes into the list; `pairs` also the row that each one is. Rows
    after seq `fork` are to be taken out (None: none), then the rows `back` come back. `first`
    is the seq at which the list began, None when it begins with the first new row.
    """

    new: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    fork: int | None = None
    back: tuple[int, ...] = ()
    first: int | None = None
    ambiguous: int = 0


class _Run(Struct, frozen=True):
    """N[start:start + length] stands in the store as *rows*."""

    start: int
    rows: tuple[Row, ...]
    kept: int = 0
    gap: int = 0

    @property
    def length(self) -> int:
        return len(self.rows)

    @property
    def end(self) -> int:
        return self.start + len(self.rows)

    @property
    def score(self) -> int:
        return self.length + self.kept - self.gap


def align(rows: Rows, first: int, coming: Sequence[Coming]) -> Alignment:
    """Say what of *coming* is new, what is taken out and what comes back.

    Args:
        rows: The stored rows.
        first: The seq at which the last list began; 0 when there was none.
        coming: The list without its system head and without our own messages.
    """
    return _Aligner(rows, first, coming).decide()


class _Aligner:
    def __init__(self, rows: Rows, first: int, coming: Sequence[Coming]):
        self.rows = rows
        self.list = coming
        self._known_places: dict[bytes, list[int]] = {}
        self._patience = HEAVY_PROOFS
        self._first = first
        self.own = self._first_known()

    def decide(self) -> Alignment:
        if self.own == len(self.list):
            return Alignment(tuple(range(len(self.list))), ())
        self._read()
        grown = self._grown()
        if grown is not None and self._is_plain(grown):
            return self._growth(grown)
        rewound = self._rewound()
        if grown is not None and self._is_overruled(grown, rewound):
            grown = None
        if grown is not None:
            return self._growth(grown)
        return self._all_new() if rewound is None else self._fork(rewound)

    def _is_plain(self, grown: _Run) -> bool:
        """Whether the list is what it was and more: no other reading could be longer."""
        head = max(self._forward(self.from_first), self._forward(self.from_start))
        is_whole = self.own == 0 and not grown.gap and head <= grown.length
        return is_whole and self._count(self.list[0].hash) == 1

    def _read(self) -> None:
        """Read the rows that a run may begin or end at."""
        count = len(self.list) + 1
        self.tail = self.rows.tail(count)
        self.from_first = self.rows.since(self._first, count) if self._first else []
        self.from_start = self.rows.since(0, count)
        self._tools = Counter((row.role, row.tools) for row in self.tail if row.tools)
        hashes = [message.hash for message in self.list]
        equal = common_suffixes(hashes, [row.hash for row in self.tail])
        self._runs = Extended(equal, len(self.tail), self._is_from_end)

    # Looked up only where a proof is asked for: once for each different message of the list.

    @cached_property
    def _once(self) -> Counted:
        return Counted([self._count(message.hash) == 1 for message in self.list])

    @cached_property
    def _few(self) -> Counted:
        return Counted([0 < self._count(message.hash) <= PLACES for message in self.list])

    @cached_property
    def _proof(self) -> Counted:
        return Counted([
            message.characters >= PROOF_CHARACTERS and self._count(message.hash) == 1
            for message in self.list
        ])  # fmt: skip

    def _count(self, identity: bytes) -> int:
        return len(self._places(identity))

    def _places(self, identity: bytes) -> list[int]:
        """Return where a message stands, at most one place more than `PLACES`."""
        if identity not in self._known_places:
            self._known_places[identity] = self.rows.places(identity, PLACES + 1)
        return self._known_places[identity]

    # -- the two readings ----------------------------------------------------------------

    def _grown(self) -> _Run | None:
        """Return the best run that ends at the newest row (rule 1)."""
        head = max(self._forward(self.from_first), self._forward(self.from_start))
        best: _Run | None = None
        for end in range(len(self.list), 0, -1):
            if best is not None and best.score > end:
                break
            length = self._runs.length(end)
            gap = max(0, end - length - self.own)
            # What the run is worth at most: worth a proof only when it can be the best.
            if not length or (best is not None and length - gap + min(head, gap) < best.score):
                continue
            run = self._judged(end - length, length, head, gap)
            if best is None or run.score >= best.score:
                best = run
        return best

    def _judged(self, start: int, length: int, head: int, gap: int) -> _Run:
        run = _Run(start, tuple(self.tail[len(self.tail) - length :]))
        proved = gap > 0 and self._proves(run)
        return _Run(start, run.rows, min(head, gap) if proved else 0, gap)

    def _rewound(self) -> _Run | None:
        """Return the run that begins the list at the last first row or elsewhere (rule 2)."""
        length = self._forward(self.from_first)
        here = _Run(self.own, tuple(self.from_first[:length]))
        is_enough = self.own == 0 and (length >= 2 or length == len(self.list))
        known = here if length and (is_enough or self._proves(here)) else None
        elsewhere = self._elsewhere()
        if elsewhere is not None and elsewhere.length > length and self._proves(elsewhere):
            return elsewhere
        return known

    def _elsewhere(self) -> _Run | None:
        """Return the longest run that begins the list anywhere, when one place alone has it."""
        runs = [self._run_at(start) for start in self._starts()]
        longest = max((len(run) for run in runs), default=0)
        best = [run for run in runs if len(run) == longest]
        return _Run(self.own, tuple(best[0])) if longest and len(best) == 1 else None

    def _starts(self) -> list[int]:
        """Return the seqs at which the list may begin, found by its rarest early message."""
        fewest: list[int] = []
        offset = 0
        for step, message in enumerate(self.list[self.own : self.own + _ANCHORS]):
            places = self._places(message.hash)
            if 0 < len(places) <= PLACES and (not fewest or len(places) < len(fewest)):
                fewest, offset = places, step
        if not offset:
            return fewest
        before = (self.rows.before(place, offset) for place in fewest)
        return [run[0].seq for run in before if len(run) == offset]

    def _run_at(self, seq: int) -> list[Row]:
        window = self.rows.since(seq, len(self.list) - self.own + 1)
        return window[: self._forward(window)]

    def _is_overruled(self, grown: _Run, rewound: _Run | None) -> bool:
        """Whether rule 3 prefers the other reading, or finds no proof for this one."""
        if rewound is not None and rewound.length > grown.length + grown.kept:
            return True
        if (not grown.gap and self.own == 0) or self._proves(grown):
            return False
        if grown.gap and (rewound is not None or grown.length < 2):
            return True
        is_single = self.own > 0 and grown.length < 2
        return is_single and self._count(self.list[grown.end - 1].hash) > 1

    # -- outcomes ------------------------------------------------------------------------

    def _growth(self, run: _Run) -> Alignment:
        new = tuple(range(run.end, len(self.list)))
        return Alignment(new, self._pairs(run), first=run.rows[0].seq)

    def _all_new(self) -> Alignment:
        known = self.rows.known([message.hash for message in self.list])
        ambiguous = sum(message.hash in known for message in self.list)
        return Alignment(tuple(range(len(self.list))), (), ambiguous=ambiguous)

    def _fork(self, run: _Run) -> Alignment:
        rest = list(range(run.end, len(self.list)))
        pairs = self._pairs(run)
        if not rest:
            return Alignment((), pairs, first=run.rows[0].seq)
        back: list[int] = []
        at = run.rows[-1].id
        for index in rest:
            row = self.rows.continuation(at, self.list[index].hash)
            if row is None:
                break
            back.append(row.id)
            at = row.id
        return Alignment(
            new=tuple(rest[len(back) :]),
            pairs=pairs,
            fork=run.rows[-1].seq,
            back=tuple(back),
            first=run.rows[0].seq,
        )

    def _pairs(self, run: _Run) -> tuple[tuple[int, int], ...]:
        return tuple((run.start + step, row.id) for step, row in enumerate(run.rows))

    # -- runs ----------------------------------------------------------------------------

    def _first_known(self) -> int:
        """Return how many leading messages no row equals: the host's own, if a run follows."""
        for start in range(0, len(self.list), PLACES):
            page = [message.hash for message in self.list[start : start + PLACES]]
            known = self.rows.known(page)
            for step, identity in enumerate(page):
                if identity in known:
                    return start + step
        return len(self.list)

    def _is_from_end(self, index: int, offset: int) -> bool:
        return self._is(index, self.tail, len(self.tail) - 1 - offset)

    def _forward(self, window: Sequence[Row]) -> int:
        """Return the length of the run that begins the list (after the host's own) and *window*."""
        length, most = 0, min(len(self.list) - self.own, len(window))
        while length < most and self._is(self.own + length, window, length):
            length += 1
        return length

    def _is(self, index: int, window: Sequence[Row], place: int) -> bool:
        """Whether a message is a row: equal, or shrunk with a proof of its place."""
        message, row = self.list[index], window[place]
        if message.hash == row.hash:
            return True
        if message.role != row.role or message.tools != row.tools or message.size >= row.size:
            return False
        # What a user wrote anew in fewer words is no clearing of what was written before.
        if message.role == "user" and not message.tools:
            return False
        if message.tools and (
            _MINTED.fullmatch(message.tools) or self._tools[message.role, message.tools] == 1
        ):
            return True
        return self._neighbours_agree(index, window, place)

    def _neighbours_agree(self, index: int, window: Sequence[Row], place: int) -> bool:
        """Whether the messages on both sides are the rows on both sides."""
        is_inside = 0 < index < len(self.list) - 1 and 0 < place < len(window) - 1
        return (
            is_inside
            and self.list[index - 1].hash == window[place - 1].hash
            and self.list[index + 1].hash == window[place + 1].hash
        )

    def _proves(self, run: _Run) -> bool:
        """Whether *run* holds a long text that stands once, or three messages found once."""
        if self._proof.any(run.start, run.end):
            return True
        return run.length >= PROOF_RUN and self._stands_once(run)

    def _stands_once(self, run: _Run) -> bool:
        if self._once.any(run.start, run.end):
            return True
        if not self._few.any(run.start, run.end) or self._patience == 0:
            return False
        self._patience -= 1
        wanted = [row.hash for row in run.rows]
        offset = min(range(run.length), key=lambda step: self._count(wanted[step]))
        found = 0
        for place in self._places(wanted[offset]):
            begin = self.rows.before(place, offset)
            window = begin + self.rows.since(place, run.length - offset)
            found += [row.hash for row in window] == wanted
        return found == 1
