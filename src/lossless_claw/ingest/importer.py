"""The one writer of messages: increments, whole lists and transcripts, each in one transaction.

Messages are projected before the transaction opens; inside it the stored end is read, the pure
parts of this folder decide, and what is new is stored. A crash leaves all of a call or nothing
of it; a transcript is stored in batches, each whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from enum import StrEnum
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from lossless_claw.clock import Clock
from lossless_claw.ingest.align import Alignment, Coming, align
from lossless_claw.ingest.faces import enriched
from lossless_claw.ingest.ours import without_ours
from lossless_claw.ingest.stamped import Repeats, Stamped, repeats, sort_out
from lossless_claw.message.projection import Projection, is_head, project
from lossless_claw.message.times import stored
from lossless_claw.model import Entry, Outside
from lossless_claw.store.store import Store

BATCH = 2_000
"""Messages of a transcript that are stored in one transaction."""

Progress = Callable[[int], None]


class Outcome(StrEnum):
    """How a call ended (G3)."""

    STORED = "stored"
    NOTHING_NEW = "nothing_new"


class Ingested(Struct, frozen=True):
    """What a call did: counts of messages. `ids` are the rows added, in order."""

    outcome: Outcome
    added: int = 0
    known: int = 0
    taken_out: int = 0
    brought_back: int = 0
    ambiguous: int = 0
    conflicts: int = 0
    ids: tuple[int, ...] = ()

    @classmethod
    def nothing(cls) -> Ingested:
        """Return what a call without messages did."""
        return cls(Outcome.NOTHING_NEW)

    def plus(self, other: Ingested) -> Ingested:
        """Return the sum of two calls."""
        added = self.added + other.added
        return Ingested(
            Outcome.STORED if added else Outcome.NOTHING_NEW, added, self.known + other.known,
            self.taken_out + other.taken_out, self.brought_back + other.brought_back,
            self.ambiguous + other.ambiguous, self.conflicts + other.conflicts,
            self.ids + other.ids,
        )  # fmt: skip


class _Reading:
    """What one reading of a list or transcript has seen so far."""

    def __init__(self) -> None:
        self.seen: dict[str, bytes] = {}
        self.branches: dict[int, bool] = {}


class Importer:
    """Stores what comes in for the conversations of one store."""

    def __init__(self, store: Store, clock: Clock, zone: tzinfo):
        self._store = store
        self._clock = clock
        self._zone = zone

    # -- the three ways in ---------------------------------------------------------------

    def append(self, conversation: int, entries: Sequence[Entry]) -> Ingested:
        """Store an increment: with ids exactly the unknown ones, without ids all of it."""
        entries = without_ours(self._store, conversation, entries, self._zone)
        rows = [project(entry) for entry in entries]
        with self._store.transaction():
            is_first = self._store.conversations.running(conversation).stored == 0
            head = _head_length(entries) if is_first else 0
            return self._store_batch(conversation, entries, rows, head, _Reading())

    def sync(self, conversation: int, entries: Sequence[Entry]) -> Ingested:
        """Store what is new in a whole list (or any copy of it that the host kept)."""
        entries = without_ours(self._store, conversation, entries, self._zone)
        rows = [project(entry) for entry in entries]
        head = _head_length(entries)
        with self._store.transaction():
            self._take_head(conversation, rows[:head])
            body, sources = rows[head:], entries[head:]
            if body and all(row.entry_id for row in body):
                return self._sync_stamped(conversation, sources, body)
            return self._sync_bare(conversation, body)

    def bring_in(
        self,
        conversation: int,
        read: Callable[[], Iterable[Entry]],
        progress: Progress | None = None,
    ) -> Ingested:
        """Store a transcript, in batches; what is stored already is known.

        Args:
            conversation: Where it goes.
            read: Gives the entries from the beginning, each time it is called.
            progress: Called with the number of messages of each batch.
        """
        is_empty = self._store.conversations.running(conversation).stored == 0
        if is_empty or all(entry.id is not None for entry in read()):
            return self._bring_in_order(conversation, read(), progress or _quiet)
        return self._bring_in_aligned(conversation, read, progress or _quiet)

    # -- whole lists ---------------------------------------------------------------------

    def _sync_bare(self, conversation: int, given: Sequence[Projection]) -> Ingested:
        repeated = _repeated(given, _Reading())
        aside = {*repeated.again, *repeated.changed}
        rows = [row for n, row in enumerate(given) if n not in aside]
        first = self._store.conversations.running(conversation).first
        plan = align(self._store.rows(conversation), first, [_coming(row) for row in rows])
        new = self._without_known_ids(conversation, rows, plan.new)
        taken = self._fork(conversation, plan)
        done = self._add(conversation, rows, new, 0)
        done = done.plus(self._set_aside(conversation, [given[n] for n in repeated.changed]))
        self._remember_first(conversation, plan.first, done)
        self._store.conversations.count(conversation, ambiguous=plan.ambiguous)
        return done.plus(
            Ingested(
                Outcome.NOTHING_NEW, known=len(plan.pairs), taken_out=taken - len(plan.back),
                brought_back=len(plan.back), ambiguous=plan.ambiguous,
            )
        )  # fmt: skip

    def _fork(self, conversation: int, plan: Alignment) -> int:
        if plan.fork is None:
            return 0
        taken = self._store.context.take_out(conversation, plan.fork, Outside.REWOUND)
        self._bring_back(conversation, plan.back)
        return len(taken) + len(plan.back)

    def _bring_back(self, conversation: int, rows: Sequence[int]) -> None:
        """Put rows that were taken out into the context again, but for what never was in it."""
        if not rows:
            return
        originals = self._store.messages.load(rows)
        why = [project(Entry(row.original)).outside for row in originals]
        shown = [row.id for row, reason in zip(originals, why, strict=True) if reason is None]
        for row, reason in zip(originals, why, strict=True):
            if reason is not None:
                self._store.context.set_outside(row.id, reason)
        self._store.context.bring_back(conversation, shown, self._now())

    def _sync_stamped(
        self, conversation: int, entries: Sequence[Entry], rows: Sequence[Projection]
    ) -> Ingested:
        known = self._store.messages.by_entry_ids(conversation, [r.entry_id or "" for r in rows])
        taken, back = self._follow_rewind(conversation, rows, known)
        done = self._store_batch(conversation, entries, rows, 0, _Reading())
        return done.plus(Ingested(Outcome.NOTHING_NEW, taken_out=taken, brought_back=back))

    def _follow_rewind(
        self, conversation: int, rows: Sequence[Projection], known: Mapping[str, int]
    ) -> tuple[int, int]:
        """Take out what a list with ids left behind where it goes on differently.

        It does when a new message follows known ones, and rows stand after those that the list
        does not have. Returns how many were taken out and how many came back.
        """
        ids = [row.entry_id or "" for row in rows]
        listed = [known[entry_id] for entry_id in ids if entry_id in known]
        outside = self._store.messages.identity(listed)
        gone = [row for row in listed if outside[row][1] is Outside.REWOUND]
        first_new = next((n for n, entry_id in enumerate(ids) if entry_id not in known), None)
        before = listed if first_new is None else [known[one] for one in ids[:first_new]]
        kept = [row for row in before if row not in set(gone)]
        goes_on = first_new is not None or (bool(gone) and listed[-1] == gone[-1])
        if not kept or not goes_on or max(set(listed) - set(gone)) > max(kept):
            return 0, 0
        fork = self._store.rows(conversation).seq_of(max(kept))
        later = self._store.rows(conversation).since(fork + 1, 1)
        # Rows without an id may be the new messages themselves, stored by another hook before.
        adopted = {row for _, row in self._sort_out(conversation, rows).adopted}
        if later and later[0].id in adopted:
            return 0, 0
        taken = self._store.context.take_out(conversation, fork, Outside.REWOUND) if later else []
        back = [row for row in sorted(set(before)) if row in set(gone)]
        self._bring_back(conversation, back)
        return len(taken), len(back)

    def _take_head(self, conversation: int, rows: Sequence[Projection]) -> None:
        """Store a system head that differs from the newest; a list without one changes nothing."""
        if not rows:
            return
        known = self._store.rows(conversation).heads([row.hash for row in rows])
        ids = [known.get(row.hash) for row in rows]
        if None in ids:
            missing = [
                replace(_as_head(row), entry_id=None)
                for row, i in zip(rows, ids, strict=True)
                if i is None
            ]
            added = iter(self._store.messages.append(conversation, missing, self._now()))
            ids = [next(added) if i is None else i for i in ids]
        self._store.context.set_head(conversation, [i for i in ids if i is not None])

    # -- transcripts ---------------------------------------------------------------------

    def _bring_in_order(
        self, conversation: int, entries: Iterable[Entry], progress: Progress
    ) -> Ingested:
        total = Ingested.nothing()
        reading = _Reading()
        is_leading = True
        for batch in _batches(entries):
            rows = [project(entry) for entry in batch]
            head = _head_length(batch) if is_leading else 0
            is_leading = head == len(batch)
            with self._store.transaction():
                total = total.plus(self._store_batch(conversation, batch, rows, head, reading))
            progress(len(batch))
        return total.plus(self._move_branches(conversation, reading.branches))

    def _store_batch(
        self, conversation: int, batch: Sequence[Entry], rows: Sequence[Projection], head: int,
        reading: _Reading,
    ) -> Ingested:  # fmt: skip
        """Store the unknown ids and everything without one, in order."""
        repeated = _repeated(rows, reading)
        aside = {*repeated.again, *repeated.changed}
        stamped = [n for n, row in enumerate(rows) if row.entry_id and n not in aside]
        plan = self._sort_out(conversation, [rows[index] for index in stamped])
        wanted = {stamped[index] for index in plan.new}
        new = [n for n, row in enumerate(rows) if not row.entry_id or n in wanted]
        reading.branches |= {row: batch[stamped[index]].on_branch for index, row in plan.known}
        done = self._settle_known(conversation, batch, rows, stamped, plan)
        done = done.plus(Ingested(Outcome.NOTHING_NEW, known=len(repeated.again)))
        done = done.plus(self._add(conversation, rows, new, head))
        return done.plus(self._set_aside(conversation, [rows[n] for n in repeated.changed]))

    def _set_aside(self, conversation: int, rows: Sequence[Projection]) -> Ingested:
        """Keep what stands under the id of another message, outside the context (G1)."""
        if not rows:
            return Ingested.nothing()
        stored_before = self._store.rows(conversation).changed([row.hash for row in rows])
        fresh = [
            replace(row, entry_id=None, outside=Outside.CHANGED)
            for row in rows
            if row.hash not in stored_before
        ]
        ids = self._store.messages.append(conversation, fresh, self._now())
        self._store.conversations.count(conversation, conflicts=len(rows))
        return Ingested(
            Outcome.STORED if ids else Outcome.NOTHING_NEW, added=len(ids),
            known=len(rows) - len(ids), conflicts=len(rows), ids=tuple(ids),
        )  # fmt: skip

    def _move_branches(self, conversation: int, branches: dict[int, bool]) -> Ingested:
        """Follow a transcript whose active branch is another one than when it was stored."""
        with self._store.transaction():
            known = self._store.messages.identity(list(branches))
            outside = {row: why for row, (_, why) in known.items()}
            away = (Outside.BRANCH, Outside.REWOUND)
            left = [row for row, is_off in branches.items() if is_off and outside[row] is None]
            back = [row for row, is_off in branches.items() if not is_off and outside[row] in away]
            taken: list[int] = []
            if left:
                fork = self._store.rows(conversation).seq_of(min(left)) - 1
                taken = self._store.context.take_out(conversation, fork, Outside.BRANCH)
                back += [row for row in taken if not branches.get(row, False)]
            if back:
                self._bring_back(conversation, sorted(back))
        gone = len(set(taken) - set(back))
        return Ingested(
            Outcome.NOTHING_NEW, taken_out=gone, brought_back=len(set(back) - set(taken))
        )

    def _bring_in_aligned(
        self, conversation: int, read: Callable[[], Iterable[Entry]], progress: Progress
    ) -> Ingested:
        """Store a transcript without ids into a conversation that has rows."""
        entries = list(read())
        total = self.sync(conversation, entries)
        progress(len(entries))
        return total

    # -- steps ---------------------------------------------------------------------------

    def _sort_out(self, conversation: int, rows: Sequence[Projection]) -> Stamped:
        if not rows:
            return Stamped((), (), ())
        ids = [row.entry_id or "" for row in rows]
        known = self._store.messages.by_entry_ids(conversation, ids)
        tail = self._store.rows(conversation).unstamped_tail(len(rows))
        return sort_out(ids, [_coming(row) for row in rows], known, tail)

    def _settle_known(
        self, conversation: int, entries: Sequence[Entry], rows: Sequence[Projection],
        places: Sequence[int], plan: Stamped,
    ) -> Ingested:  # fmt: skip
        """Count what is known, stamp what is adopted."""
        hashes = self._store.messages.identity([row for _, row in plan.known])
        conflicts = sum(hashes[row][0] != rows[places[index]].hash for index, row in plan.known)
        for index, row in plan.adopted:
            conflicts += self._adopt(entries[places[index]], rows[places[index]], row)
        self._store.conversations.count(conversation, conflicts=conflicts)
        known = len(plan.known) + len(plan.adopted)
        return Ingested(Outcome.NOTHING_NEW, known=known, conflicts=conflicts)

    def _adopt(self, entry: Entry, row: Projection, message: int) -> bool:
        """Give a row the id of the richer copy, and the keys that it lacks."""
        (old,) = self._store.messages.load([message])
        richer, differs = enriched(old.original, entry.message)
        self._store.messages.stamp(message, entry.id or "", richer, row.created_at)
        return differs

    def _add(
        self, conversation: int, rows: Sequence[Projection], new: Sequence[int], head: int
    ) -> Ingested:
        chosen = [_as_head(rows[index]) if index < head else rows[index] for index in new]
        ids = self._store.messages.append(conversation, chosen, self._now())
        if any(index < head for index in new):
            heads = [i for i, row in zip(ids, chosen, strict=True) if row.outside is Outside.HEAD]
            self._store.context.set_head(conversation, heads)
        outcome = Outcome.STORED if ids else Outcome.NOTHING_NEW
        return Ingested(outcome, added=len(ids), ids=tuple(ids))

    def _without_known_ids(
        self, conversation: int, rows: Sequence[Projection], new: Sequence[int]
    ) -> Sequence[int]:
        ids = [entry_id for index in new if (entry_id := rows[index].entry_id)]
        if not ids:
            return new
        known = self._store.messages.by_entry_ids(conversation, ids)
        return [index for index in new if rows[index].entry_id not in known]

    def _remember_first(self, conversation: int, first: int | None, done: Ingested) -> None:
        if first is None and done.ids:
            first = self._store.rows(conversation).seq_of(done.ids[0])
        if first is not None:
            self._store.context.set_first(conversation, first)

    def _now(self) -> str:
        return stored(self._clock.now())


def _repeated(rows: Sequence[Projection], reading: _Reading) -> Repeats:
    return repeats([row.entry_id for row in rows], [row.hash for row in rows], reading.seen)


def _head_length(entries: Sequence[Entry]) -> int:
    """Return how many messages lead the list as its system head."""
    for index, entry in enumerate(entries):
        if not is_head(entry.message):
            return index
    return len(entries)


def _as_head(row: Projection) -> Projection:
    return replace(row, outside=Outside.HEAD) if row.outside is None else row


def _coming(row: Projection) -> Coming:
    return Coming(row.hash, row.role, row.tokens, " ".join(row.calls + row.results), row.size)


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    iterator = iter(entries)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _quiet(count: int) -> None:
    """Report to nobody."""
