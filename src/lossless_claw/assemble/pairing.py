"""Every tool call next to its result, so that providers accept the list (spec 4.5, design G4).

Pure, on turns. A real result is never given up for an invented one, and none vanishes: one
whose call is gone becomes words of a user. What was in order is returned as it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from lossless_claw.shapes.block import Block, Call, Result, Text, Turn, is_showable, orphan_text
from lossless_claw.shapes.exchange import words_of
from lossless_claw.wrapper import OUTCOME_NOT_RECORDED

__all__ = ["OUTCOME_NOT_RECORDED", "Paired", "Repair", "RepairKind", "pair"]

_PLACEHOLDERS = frozenset(
    (
        OUTCOME_NOT_RECORDED,
        (
            "[lossless-claw] missing tool result in session history; inserted synthetic error"
            " result for transcript repair."
        ),
    )
)
"""Texts that upstream and this library put where a result is missing; a real one displaces them."""


class RepairKind(StrEnum):
    """What was done to a call or a result."""

    MOVED = "moved"
    """A result stood elsewhere and was brought to its call."""
    NO_RESULT = "no_result"
    """A call has no result; a text says that the outcome was not recorded."""
    DROPPED = "dropped"
    """A call of a failed turn has no result, so it never ran and is left out."""
    ORPHAN = "orphan"
    """A result has no call; its words are kept as a user's."""
    DUPLICATE = "duplicate"
    """A result says again what another said, or nothing at all without a call."""


class Repair(Struct, frozen=True):
    """One repair: the id of the call, and the index in the list of the turn concerned."""

    kind: RepairKind
    call_id: str
    index: int


class Paired(Struct, frozen=True):
    """Turns in which each exchange is whole. `open` says that the newest calls still run."""

    turns: tuple[Turn, ...]
    repaired: tuple[Repair, ...] = ()
    open: bool = False


def pair(turns: Sequence[Turn]) -> Paired:
    """Return *turns* with each exchange's results right behind its calls, in call order.

    An exchange are calling assistants that follow each other. Ids may come again: a result
    belongs to the nearest exchange before it whose call of that id waits, else to one after
    it. Calls of the newest exchange stay open while nothing but its results follows; other
    calls without a result get `OUTCOME_NOT_RECORDED`. Pairing a paired list changes nothing.
    """
    waits = _wait_at_end(turns)
    if waits is not None:
        return Paired(tuple(turns), (), waits)
    return _Pairing(turns).paired()


def _wait_at_end(turns: Sequence[Turn]) -> bool | None:
    """Return whether calls wait at the end of a list in order; None when it is not in order."""
    waiting: list[str] = []
    answered = failed = False
    for turn in turns:
        made, heard = _told(turn)
        if heard:
            if heard != waiting[: len(heard)]:
                return None
            del waiting[: len(heard)]
            answered = True
            if waiting and len(heard) != len(turn.blocks):
                return None
        elif made:
            if waiting and answered:
                return None
            failed = turn.failed or (failed and bool(waiting))
            waiting += made
            answered = False
        elif waiting:
            return None
    return None if waiting and failed else bool(waiting)


def _told(turn: Turn) -> tuple[list[str], list[str]]:
    """Return the ids of the calls and of the results in *turn*."""
    made: list[str] = []
    heard: list[str] = []
    for block in turn.blocks:
        if type(block) is Call:
            made.append(block.id)
        elif type(block) is Result:
            heard.append(block.call_id)
    return made, heard


class _Slot:
    """A call and the result it was given."""

    __slots__ = ("at", "call", "failed", "run", "unit")

    def __init__(self, call: Call, at: int, run: int, *, failed: bool) -> None:
        self.call, self.at, self.run, self.failed = call, at, run, failed
        self.unit: _Unit | None = None


class _Unit:
    """A result and the call it was given to; `fate` says why it was given to none."""

    __slots__ = ("at", "fate", "result", "slot")

    def __init__(self, result: Result, at: int) -> None:
        self.result, self.at = result, at
        self.slot: _Slot | None = None
        self.fate: RepairKind | None = None

    @property
    def is_placeholder(self) -> bool:
        return self.result.text in _PLACEHOLDERS

    def answers(self, slot: _Slot) -> None:
        self.slot, slot.unit = slot, self


class _Pairing:
    """One list on its way through: collect, match, then lay out."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.slots: list[_Slot] = []
        self.units: list[_Unit] = []
        self.slots_at: dict[int, list[_Slot]] = {}
        self.units_at: dict[int, list[_Unit]] = {}
        self.repaired: list[Repair] = []
        self._collect()

    def paired(self) -> Paired:
        self._match()
        self._settle()
        layout = _Layout(self)
        turns = tuple(layout.turns())
        return Paired(turns, tuple(self.repaired), layout.open)

    def repair(self, kind: RepairKind, call_id: str, at: int) -> None:
        self.repaired.append(Repair(kind, call_id, at))

    def _collect(self) -> None:
        run, last = -1, -2
        for at, turn in enumerate(self.turns):
            calls = [block for block in turn.blocks if type(block) is Call]
            if calls:
                run += last != at - 1
                last = at
                self.slots_at[at] = [_Slot(call, at, run, failed=turn.failed) for call in calls]
                self.slots += self.slots_at[at]
            units = [_Unit(block, at) for block in turn.blocks if type(block) is Result]
            if units:
                self.units_at[at] = units
                self.units += units

    # --- match ---

    def _match(self) -> None:
        """Give results to calls: real before invented ones, ids before mere positions."""
        real = [unit for unit in self.units if not unit.is_placeholder]
        self._match_backward(real)
        self._match_rest(unit for unit in real if unit.slot is None)
        invented = [unit for unit in self.units if unit.is_placeholder]
        self._match_backward(invented)
        for unit in invented:
            if unit.slot is None:
                self._match_forward(unit)

    def _match_backward(self, units: list[_Unit]) -> None:
        """Give each result to a waiting call of its id in the nearest exchange before it."""
        free: dict[str, list[_Slot]] = {}
        ahead = iter(self.slots)
        slot = next(ahead, None)
        for unit in units:
            while slot is not None and slot.at < unit.at:
                if slot.unit is None:
                    free.setdefault(slot.call.id, []).append(slot)
                slot = next(ahead, None)
            waiting = free.get(unit.result.call_id)
            if waiting:
                chosen = _first_of_newest_run(waiting)
                waiting.remove(chosen)
                unit.answers(chosen)

    def _match_rest(self, units: Iterable[_Unit]) -> None:
        for unit in units:
            if self._is_repetition(unit):
                unit.fate = RepairKind.DUPLICATE
            elif not self._match_forward(unit):
                self._match_nameless(unit)

    def _match_forward(self, unit: _Unit) -> bool:
        """Give a result that stands before its call to the first one that waits for it."""
        call_id = unit.result.call_id
        for slot in self.slots:
            if call_id and slot.at > unit.at and slot.unit is None and slot.call.id == call_id:
                unit.answers(slot)
                return True
        return False

    def _match_nameless(self, unit: _Unit) -> None:
        """Pair by position where call or result has no id, within the exchange just before."""
        before = [slot for slot in self.slots if slot.at < unit.at]
        for slot in before:
            near = slot.run == before[-1].run and slot.unit is None and not slot.failed
            if near and not (slot.call.id and unit.result.call_id):
                unit.answers(slot)
                return

    def _is_repetition(self, unit: _Unit) -> bool:
        for slot in reversed(self.slots):
            given = slot.unit
            if given is not None and given.at <= unit.at and slot.call.id == unit.result.call_id:
                return _say_the_same(given.result, unit.result)
        return False

    def _settle(self) -> None:
        """Name the fate of each result without a call."""
        for unit in self.units:
            if unit.slot is not None:
                continue
            silent = unit.is_placeholder or not words_of(unit.result).strip()
            if unit.fate is None:
                unit.fate = RepairKind.DUPLICATE if silent else RepairKind.ORPHAN
            self.repair(unit.fate, unit.result.call_id, unit.at)


class _Layout:
    """The turns of a matched list, in the order that providers ask for."""

    def __init__(self, pairing: _Pairing) -> None:
        self.of = pairing
        self.whole: set[int] = set()
        self.open = False
        self.kept = {
            at: [slot for slot in slots if slot.unit is not None or not slot.failed]
            for at, slots in pairing.slots_at.items()
        }

    def turns(self) -> Iterator[Turn]:
        run: list[_Slot] = []
        for at, turn in enumerate(self.of.turns):
            if at in self.of.slots_at:
                yield self._caller(at, turn)
                run += self.kept[at]
                if run and not self.kept.get(at + 1):
                    yield from self._answers(run, at)
                    run = []
            elif at in self.of.units_at:
                if at not in self.whole:
                    yield from self._rest(at, turn)
            else:
                yield turn

    def _caller(self, at: int, turn: Turn) -> Turn:
        slots, kept = self.of.slots_at[at], self.kept[at]
        if len(slots) == len(kept):
            return turn
        numbers = iter(slots)
        blocks = tuple([b for b in turn.blocks if type(b) is not Call or next(numbers) in kept])
        for slot in slots:
            if slot not in kept:
                self.of.repair(RepairKind.DROPPED, slot.call.id, at)
        return replace(turn, blocks=blocks, partial=True)

    def _answers(self, run: list[_Slot], end: int) -> Iterator[Turn]:
        is_open = self._is_newest(run, end)
        groups: list[list[_Slot]] = []
        for slot in run:
            if slot.unit is None and is_open:
                self.open = True
            elif groups and slot.unit is not None and _came_with(slot, groups[-1][0]):
                groups[-1].append(slot)
            else:
                groups.append([slot])
        for number, group in enumerate(groups):
            yield self._group(group, end, is_last=number == len(groups) - 1)

    def _group(self, group: list[_Slot], end: int, *, is_last: bool) -> Turn:
        """Return one turn for results that came together, the turn itself when it may stay."""
        units = [slot.unit for slot in group if slot.unit is not None]
        if not units:
            call = group[0].call
            self.of.repair(RepairKind.NO_RESULT, call.id, group[0].at)
            return _synthetic(call)
        at = units[0].at
        turn, near = self.of.turns[at], self._is_near(at, end, group[0].run)
        if not near or sorted(units, key=self.of.units_at[at].index) != units:
            for unit in units:
                self.of.repair(RepairKind.MOVED, unit.result.call_id, at)
        pure = len(turn.blocks) == len(units)
        named = [slot.call.id for slot in group] == [unit.result.call_id for unit in units]
        if units == self.of.units_at[at] and named and (pure or (is_last and near)):
            self.whole.add(at)
            return turn
        return _results_turn(turn, group, units)

    def _is_near(self, at: int, end: int, run: int) -> bool:
        """Whether nothing but results of the same exchange stands between it and turn *at*."""
        return at > end and all(self._is_of(between, run) for between in range(end + 1, at))

    def _is_of(self, at: int, run: int) -> bool:
        units = self.of.units_at.get(at, [])
        if len(units) != len(self.of.turns[at].blocks):
            return False
        return all(unit.slot is not None and unit.slot.run == run for unit in units)

    def _is_newest(self, run: list[_Slot], end: int) -> bool:
        for at in range(end + 1, len(self.of.turns)):
            units = self.of.units_at.get(at, [])
            shown = is_showable(self.of.turns[at]) and len(units) != len(self.of.turns[at].blocks)
            if shown or not all(_is_settled(unit, run) for unit in units):
                return False
        return True

    def _rest(self, at: int, turn: Turn) -> Iterator[Turn]:
        """Yield what is left of a turn whose results went to their calls."""
        units = iter(self.of.units_at[at])
        left: list[Block] = []
        for block in turn.blocks:
            if type(block) is not Result:
                left.append(block)
            elif next(units).fate is RepairKind.ORPHAN:
                left.append(Text(orphan_text(block, words_of(block))))
        if len(self.of.units_at[at]) == len(turn.blocks):
            # No message of its own is left to take other members from.
            turn = Turn("user", ())
        if left:
            partial = turn.original is not None
            yield replace(turn, role="user", blocks=tuple(left), partial=partial)


def _first_of_newest_run(waiting: list[_Slot]) -> _Slot:
    newest = [slot for slot in waiting if slot.run == waiting[-1].run]
    return next((slot for slot in newest if not slot.failed), newest[0])


def _say_the_same(one: Result, other: Result) -> bool:
    return words_of(one) == words_of(other) and bool(one.is_error) == bool(other.is_error)


def _came_with(slot: _Slot, first: _Slot) -> bool:
    return slot.unit is not None and first.unit is not None and slot.unit.at == first.unit.at


def _is_settled(unit: _Unit, run: list[_Slot]) -> bool:
    return unit.slot in run if unit.slot is not None else unit.fate is RepairKind.DUPLICATE


def _synthetic(call: Call) -> Turn:
    result = Result(call.id, call.name, OUTCOME_NOT_RECORDED, None, OUTCOME_NOT_RECORDED)
    return Turn("tool", (result,), synthetic=True)


def _results_turn(turn: Turn, group: list[_Slot], units: list[_Unit]) -> Turn:
    blocks = tuple(
        [
            replace(unit.result, call_id=slot.call.id)
            for slot, unit in zip(group, units, strict=True)
        ]
    )
    return replace(turn, role="tool", blocks=blocks, partial=True)
