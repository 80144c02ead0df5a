"""A pretend host that shows its history in every way real ones do, with the truth beside it.

It repeats texts, prunes from the front, clears tool texts in place, replaces a prefix by its own
summary, shows our summaries back, changes its system head, rewinds and replays. Each message has
a number that the store never sees, so that what is lost or doubled can be counted.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from lossless_claw.model import Raw

CLEARED = "[cleared]"
_SHORT = ("ok", "continue", "yes", "go on")
_REPLIES = ("done", "next?", "sure")


class Shown(Struct, frozen=True):
    """A message as the host shows it. `number` is None for what it made itself."""

    message: Raw
    number: int | None
    kind: str = "real"


class PretendHost:
    """Shows a growing history, disturbed in the ways that *disturbances* name.

    Args:
        chance: Where every choice comes from.
        repetition: Share of texts that are short and repeated.
        disturbances: Of `prune`, `clear`, `clear_last`, `summary`, `head_change`, `rewind`.
    """

    def __init__(
        self, chance: random.Random, repetition: float, disturbances: Sequence[str]
    ) -> None:
        self._chance = chance
        self._repetition = repetition
        self._disturbances = disturbances
        self._count = 0
        self._head: list[Shown] = []
        self._view: list[Shown] = []
        self.truth: list[int] = []
        """Numbers of the messages that belong to the conversation, in order."""
        self.shown: set[int] = set()
        """Numbers of all messages that were ever shown."""

    def turn(self) -> list[Shown]:
        """Disturb what is shown, add a turn, and return the whole list."""
        if self._view:
            self._disturb()
        added = self._new_turn()
        self._view += added
        self.truth += [shown.number for shown in added if shown.number is not None]
        self.shown |= set(self.truth)
        return [*self._head, *self._view]

    def _new_turn(self) -> list[Shown]:
        turn = [self._said("user", _SHORT, "question")]
        for _ in range(self._chance.choice((0, 0, 1, 2))):
            call_id = f"c{self._count}" if self._chance.random() < 0.7 else "call_1"
            turn += [self._call(call_id), self._result(call_id)]
        return [*turn, self._said("assistant", _REPLIES, "answer")]

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _repeats(self) -> bool:
        return self._chance.random() < self._repetition

    def _said(self, role: str, short: Sequence[str], word: str) -> Shown:
        number = self._number()
        long = f"{word} {number} " + word[0] * self._chance.randint(3, 60)
        text = self._chance.choice(short) if self._repeats() else long
        return Shown({"role": role, "content": text}, number)

    def _call(self, call_id: str) -> Shown:
        number = self._number()
        command = "ls" if self._repeats() else f"ls {number}"
        call = {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"c": command}}
        return Shown({"role": "assistant", "content": [call]}, number)

    def _result(self, call_id: str) -> Shown:
        number = self._number()
        long = f"output {number} " + "o" * 50
        text = self._chance.choice(("-", "ok", "x" * 30)) if self._repeats() else long
        message = {"role": "toolResult", "toolCallId": call_id, "content": text}
        return Shown(message, number)

    # -- disturbances --------------------------------------------------------------------

    def _disturb(self) -> None:
        for name in self._disturbances:
            if self._chance.random() <= 0.15 and len(self._view) >= 6:
                getattr(self, f"_{name}")()

    def _prune(self) -> None:
        self._view = self._view[self._chance.randint(1, len(self._view) - 3) :]

    def _clear(self) -> None:
        last = len(self._view) - 2
        self._view = [
            self._cleared(shown) if n < last and self._chance.random() < 0.7 else shown
            for n, shown in enumerate(self._view)
        ]

    def _clear_last(self) -> None:
        self._view = [self._cleared(shown) for shown in self._view]

    def _cleared(self, shown: Shown) -> Shown:
        message = shown.message
        if message["role"] != "toolResult" or len(message["content"]) <= len(CLEARED):
            return shown
        return replace(shown, message={**message, "content": CLEARED})

    def _summary(self) -> None:
        kept = self._view[self._chance.randint(2, len(self._view) - 1) :]
        text = f"Host summary {self._number()} " + "s" * 60
        self._view = [Shown({"role": "user", "content": text}, None, "host"), *kept]

    def _head_change(self) -> None:
        text = f"system, version {self._number()}"
        self._head = [Shown({"role": "system", "content": text}, None, "head")]

    def _rewind(self) -> None:
        count = self._chance.randint(1, min(6, len(self._view) - 2))
        gone = {shown.number for shown in self._view[-count:]}
        self._view = self._view[:-count]
        self.truth = [number for number in self.truth if number not in gone]
