"""Turns the steps of the story into an OpenClaw transcript, version 3. Pure but for the workspace.

Ids, times and usage follow from the story alone, so that the same story gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from benchmarks.demo_session.shell import HOME, PROJECT
from benchmarks.demo_session.story import Step, StoryError
from benchmarks.demo_session.workspace import Workspace

ZONE = timezone(timedelta(hours=9))
API, PROVIDER = "anthropic-messages", "anthropic"
PRICE_IN, PRICE_OUT, PRICE_READ, PRICE_WRITE = 3.0, 15.0, 0.3, 3.75
"""US dollars per million tokens of the made-up model."""

Entry = dict[str, Any]


class SessionWriter:
    """The transcript as it grows: one linear chain of entries, in time order."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lines: list[Entry] = []
        self._last: str | None = None
        self._now = datetime(2000, 1, 1, tzinfo=ZONE)
        self._model = ""
        self._day = ""
        self._characters = 0
        self._cached = 0

    def play(self, steps: Sequence[Step]) -> list[Entry]:
        """Return the transcript of *steps*, the session header first.

        Raises:
            StoryError: If the story is out of order, or a call does not do what it says.
        """
        at = 0
        while at < len(steps):
            end = at + 1
            if steps[at].is_call or steps[at].kind in {"think", "say"}:
                end = _end_of_turn(steps, at)
                self._assistant(steps[at:end])
            else:
                self._other(steps[at])
            at = end
        return self._lines

    def _other(self, step: Step) -> None:
        match step.kind:
            case "day":
                self._day = step.words
            case "model":
                self._change_model(step)
            case "user":
                self._user(step)
            case _:
                self._workspace.offstage(step, self._now)

    def _change_model(self, step: Step) -> None:
        model, _, clock = step.words.partition(" ")
        self._set_time(clock, step)
        if not self._lines:
            self._header()
        self._model = model
        self._add({"type": "model_change", "provider": PROVIDER, "modelId": model})
        self._add({"type": "thinking_level_change", "thinkingLevel": "low"})

    def _header(self) -> None:
        key = hashlib.sha256(b"tideline").hexdigest()
        identity = f"{key[:8]}-{key[8:12]}-4{key[13:16]}-8{key[17:20]}-{key[20:32]}"
        stamp = _iso(self._now)
        head = {"type": "session", "version": 3, "id": identity, "timestamp": stamp}
        self._lines.append({**head, "cwd": f"{HOME}/{PROJECT}"})

    def _set_time(self, clock: str, step: Step) -> None:
        then = datetime.fromisoformat(f"{self._day}T{clock}:00").replace(tzinfo=ZONE)
        then += timedelta(milliseconds=self._chance(58_000))
        if then <= self._now:
            raise StoryError(f"line {step.line}: {then} is not after {self._now}")
        self._now = then

    def _user(self, step: Step) -> None:
        self._set_time(step.words, step)
        self._message({"role": "user", "content": [{"type": "text", "text": step.body}]})

    def _assistant(self, steps: Sequence[Step]) -> None:
        written = sum(len(step.body) for step in steps)
        self._pass(2_500 + written * 9 + self._chance(4_000))
        blocks: list[Entry] = []
        results: list[Entry] = []
        for step in steps:
            if step.is_call:
                block, result = self._call(step)
                blocks.append(block)
                results.append(result)
            else:
                blocks.append(_block(step))
        self._message(self._spoken(blocks, "toolUse" if results else "stop"))
        for result in results:
            self._pass(120 + self._chance(900))
            self._message(result)

    def _call(self, step: Step) -> tuple[Entry, Entry]:
        call, result = self._workspace.carry_out(step, self._now)
        digest = hashlib.sha256(f"{len(self._lines)}:{step.line}:{call.name}".encode()).hexdigest()
        identity = f"toolu_01{digest[:22]}"
        block = {
            "type": "toolCall",
            "id": identity,
            "name": call.name,
            "arguments": call.arguments,
        }
        answer = {
            "role": "toolResult",
            "toolCallId": identity,
            "toolName": call.name,
            "content": [{"type": "text", "text": result.text}],
            "isError": result.failed,
        }
        return block, answer

    def _spoken(self, blocks: list[Entry], stop: str) -> Entry:
        return {
            "role": "assistant",
            "content": blocks,
            "api": API,
            "provider": PROVIDER,
            "model": self._model,
            "usage": self._usage(blocks),
            "stopReason": stop,
        }

    def _usage(self, blocks: list[Entry]) -> Entry:
        context = 1_800 + self._characters // 4
        read, self._cached = self._cached, context
        write = context - read
        out = max(1, len(json.dumps(blocks, ensure_ascii=False)) // 4)
        prices = {"input": 4 * PRICE_IN, "output": out * PRICE_OUT}
        prices |= {"cacheRead": read * PRICE_READ, "cacheWrite": write * PRICE_WRITE}
        cost = {name: round(price / 1e6, 6) for name, price in prices.items()}
        cost["total"] = round(sum(prices.values()) / 1e6, 6)
        counts = {"input": 4, "output": out, "cacheRead": read, "cacheWrite": write}
        return {**counts, "totalTokens": 4 + out + context, "cost": cost}

    def _message(self, message: Entry) -> None:
        self._characters += len(json.dumps(message["content"], ensure_ascii=False))
        stamped = {**message, "timestamp": round(self._now.timestamp() * 1000)}
        self._add({"type": "message", "message": stamped})

    def _add(self, entry: Entry) -> None:
        digest = hashlib.sha256(f"{len(self._lines)}:{entry['type']}".encode()).hexdigest()[:8]
        kind = {"type": entry.pop("type"), "id": digest, "parentId": self._last}
        self._lines.append({**kind, "timestamp": _iso(self._now), **entry})
        self._last = digest

    def _pass(self, milliseconds: int) -> None:
        self._now += timedelta(milliseconds=milliseconds)

    def _chance(self, below: int) -> int:
        digest = hashlib.sha256(f"time:{len(self._lines)}".encode()).digest()
        return int.from_bytes(digest[:4], "big") % below


def dump(entries: Sequence[Entry]) -> bytes:
    """Return *entries* as JSON lines in UTF-8."""
    rows = (json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
    return "".join(row + "\n" for row in rows).encode()


def _end_of_turn(steps: Sequence[Step], start: int) -> int:
    """Return where the assistant message that begins at *start* ends."""
    end, called = start, False
    while end < len(steps):
        step = steps[end]
        speaks = step.kind in {"think", "say"}
        if not (step.is_call or speaks) or (called and not step.joins):
            break
        called = called or step.is_call
        end += 1
    return end


def _block(step: Step) -> Entry:
    if step.kind == "think":
        return {"type": "thinking", "thinking": step.body}
    return {"type": "text", "text": step.body}


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
