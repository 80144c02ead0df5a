"""A small deterministic generator of OpenClaw messages, for machines without the shared corpus.

Turns of a user, some tool rounds and an answer; text sizes are skewed, one tool result in sixty is
large, some texts are CJK, and the terms that the queries look for occur as often as they say. The
messages of a size are those that a larger size begins with.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

START = datetime(2026, 1, 1, tzinfo=UTC)
CONTENT_WORDS = (
    "database",
    "index",
    "query",
    "cache",
    "server",
    "request",
    "session",
    "migration",
    "timeout",
    "rollback",
    "retry",
    "worker",
    "queue",
    "commit",
    "branch",
    "deploy",
    "release",
    "config",
    "module",
    "token",
    "budget",
    "summary",
    "context",
    "model",
    "agent",
    "tool",
    "result",
    "error",
    "test",
    "build",
    "log",
    "trace",
    "latency",
    "memory",
    "buffer",
    "stream",
    "socket",
    "header",
    "route",
)
SMALL_WORDS = ("the", "a", "to", "of", "and", "in", "for", "is", "on", "that", "with", "this", "it")
IDEOGRAPHS = (
    "数据库索引查询缓存服务器请求会话消息预算摘要上下文模型工具结果错误文件网络节点恢复検索結果"
)
TOOLS = ("read", "exec", "grep", "write")
LARGE_EVERY, LARGE_CHARACTERS = 60, 50_000
RARE_FROM, UNCOMMON_FROM, UNCOMMON_EVERY = (36, 500), 700, 2_500


def _coined(count: int) -> list[str]:
    """Return pronounceable words that no text has yet: the long tail of a vocabulary."""
    dice = random.Random(1)
    made: dict[str, None] = {}
    while len(made) < count:
        syllables = dice.randint(2, 4)
        made[
            "".join(dice.choice("bdfgklmnprstv") + dice.choice("aeiou") for _ in range(syllables))
        ] = None
    return list(made)


VOCABULARY = [*SMALL_WORDS, *CONTENT_WORDS, *_coined(6_000)]
_WEIGHTS = list(accumulate(1 / (rank + 3) for rank in range(len(VOCABULARY))))


class Speaker:
    """Says one message after the other. The same seed says the same."""

    def __init__(self, seed: int):
        self._dice = random.Random(seed)
        self._seed = seed
        self._now = START
        self._said = 0
        self._rare = list(RARE_FROM)
        self._uncommon = UNCOMMON_FROM
        self._called = 0

    def turns(self) -> Iterator[list[dict[str, Any]]]:
        """Yield whole turns, without end."""
        while True:
            turn = [self._user()]
            for _ in range(self._dice.choice((0, 0, 1, 1, 1, 2, 3))):
                turn += self._tool_round()
            yield [*turn, self._answer()]

    def _user(self) -> dict[str, Any]:
        return self._message("user", [{"type": "text", "text": self._prose()}])

    def _answer(self) -> dict[str, Any]:
        blocks = [{"type": "text", "text": self._prose()}]
        if self._dice.random() < 0.15:
            blocks.insert(0, {"type": "thinking", "thinking": self._words(self._size() // 2)})
        return self._assistant(blocks, "stop")

    def _tool_round(self) -> list[dict[str, Any]]:
        self._called += 1
        call = f"toolu_{self._seed:04x}{self._called:012x}"
        tool = self._dice.choice(TOOLS)
        arguments = {"path": f"src/{self._words(12)}.py", "limit": self._dice.randrange(2_000)}
        block = {"type": "toolCall", "id": call, "name": tool, "arguments": arguments}
        large = self._called % LARGE_EVERY == 0
        result = self._message(
            "toolResult",
            [{"type": "text", "text": self._code(LARGE_CHARACTERS if large else self._size())}],
        )
        return [
            self._assistant([block], "toolUse"),
            {**result, "toolCallId": call, "toolName": tool, "isError": False},
        ]

    def _assistant(self, blocks: list[dict[str, Any]], stop: str) -> dict[str, Any]:
        usage = {"input": self._dice.randrange(4_000), "output": 90, "totalTokens": 90}
        return {
            **self._message("assistant", blocks),
            "api": "anthropic-messages", "provider": "anthropic", "model": "bench-1",
            "usage": usage, "stopReason": stop,
        }  # fmt: skip

    def _message(self, role: str, blocks: list[dict[str, Any]]) -> dict[str, Any]:
        self._said += 1
        self._now += timedelta(milliseconds=self._dice.randrange(1_000, 45_000))
        return {"role": role, "content": blocks, "timestamp": int(self._now.timestamp() * 1_000)}

    def _prose(self) -> str:
        size = self._size()
        if self._dice.random() < 0.06:
            text = "".join(self._dice.choices(IDEOGRAPHS, k=max(20, size // 3)))
        else:
            text = self._words(size)
        text += " database" if self._dice.random() < 0.2 else ""
        if self._rare and self._said >= self._rare[0]:
            self._rare.pop(0)
            text += " zephyrquartz"
        if self._said >= self._uncommon:
            self._uncommon += UNCOMMON_EVERY
            text += " quokkaledger"
        return text

    def _code(self, size: int) -> str:
        lines: list[str] = []
        left = size
        while left > 0:
            first, second, third = self._dice.choices(VOCABULARY, cum_weights=_WEIGHTS, k=3)
            code = f"{self._dice.randrange(99_999)}-{self._dice.getrandbits(32):08x}"
            line = f"{len(lines) + 1:5}\tdef {first}_{second}({third}): return '{code}'"
            lines.append(line)
            left -= len(line) + 1
        return "\n".join(lines)[:size]

    def _words(self, size: int) -> str:
        chosen = self._dice.choices(VOCABULARY, cum_weights=_WEIGHTS, k=size // 4 + 1)
        return " ".join(chosen)[: max(1, size)]

    def _size(self) -> int:
        return int(min(4_000, max(50, self._dice.lognormvariate(5.8, 1))))


def messages(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield *count* messages; the last turn may be cut short."""
    every = (message for turn in Speaker(seed).turns() for message in turn)
    return islice(every, count)


def write(folder: Path, size: int, seed: int) -> None:
    """Write `session_<size>.jsonl` (a transcript) and `messages_<size>.jsonl` into *folder*."""
    session = (folder / f"session_{size}.jsonl").open("w", encoding="utf-8")
    bare = (folder / f"messages_{size}.jsonl").open("w", encoding="utf-8")
    with session, bare:
        first = {"type": "session", "version": 3, "id": f"bench-{seed}-{size}", "cwd": "/bench"}
        session.write(json.dumps({**first, "timestamp": START.isoformat()}) + "\n")
        before = None
        for number, message in enumerate(messages(size, seed)):
            entry = {"type": "message", "id": f"{seed:04x}{number:08x}", "parentId": before}
            before = entry["id"]
            at = datetime.fromtimestamp(message["timestamp"] / 1_000, UTC).isoformat()
            line = {**entry, "timestamp": at, "message": message}
            session.write(json.dumps(line, ensure_ascii=False) + "\n")
            bare.write(json.dumps(message, ensure_ascii=False) + "\n")
