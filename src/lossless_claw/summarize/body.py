"""The words of one message of any provider's shape: what a summarizer should read of it.

Pure, and total: any JSON object gives a text. Reasoning and binary data are left out, media are
named, calls and results keep their facts. It knows shapes only as far as finding words needs.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping
from typing import Any

from lossless_claw.message import kinds
from lossless_claw.model import Raw

_READ = 65_536
"""Characters of one string that are looked at: beyond, head and tail stand for the rest."""

_DEPTH = 8
_DATA_URL = r"data:(?:[\w.+-]{1,60}/[\w.+-]{1,60})?(?:;[\w=.-]{1,60}){0,4};base64,[\w+/=-]*"
_BASE64 = r"[A-Za-z0-9+/]{256,}={0,2}"
_BASE64_CHARACTERS = (string.ascii_letters + string.digits + "+/").encode()
_RUN_MAP = bytes(97 if byte in _BASE64_CHARACTERS else 32 for byte in range(256))
_STRIDE = 8
_LONG_RUN = b"a" * 256
_SPARSE_RUN = b"a" * (len(_LONG_RUN) // _STRIDE)
_WRITTEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
OMITTED = "[embedded media omitted]"

_ARGUMENTS = ("arguments", "input", "args", "toolInput", "action")
_TEXTS = kinds.TEXTS | {"refusal"}
_BINARY_KEYS = frozenset(
    {"data", "image", "imageData", "image_data", "base64", "bytes", "file_data", "signature",
     "thinkingSignature", "textSignature", "encrypted_content"}
)  # fmt: skip


def message_text(original: Raw) -> str:
    """Return the words of a message; empty when it has none.

    A call reads `[call NAME] ARGUMENTS`, a medium `[image image/png]`; the text of a result
    stands as it is. Strings beyond 64 Ki characters keep their head and their tail.
    """
    lines = [*_of_type(original), *_bash(original), *_outer_calls(original)]
    if len(lines) == 1:
        return lines[0].strip()
    return "\n".join([line for line in lines if line.strip()]).strip()


def _of_type(message: Mapping[str, Any]) -> list[str]:
    if isinstance(message.get("type"), str) and message["type"] != "message":
        return _block(message, _DEPTH)
    return _content(message.get("content"), _DEPTH)


def _content(value: object, depth: int) -> list[str]:
    if isinstance(value, str):
        return [_clean(value)]
    if isinstance(value, list) and depth:
        if len(value) == 1:
            return _content(value[0], depth - 1)
        return [line for block in value for line in _content(block, depth - 1)]
    if isinstance(value, dict) and depth:
        return _block(value, depth - 1)
    return [] if value is None else [_json(value)]


def _block(block: Mapping[str, Any], depth: int) -> list[str]:
    kind = block.get("type")
    if not isinstance(kind, str) or kind in _TEXTS:
        text = block.get("text", block.get("refusal"))
        return [_clean(text)] if isinstance(text, str) else [_json(block)]
    if kind in kinds.REASONING:
        return []
    if kind in kinds.CALLS:
        return [_outer_call(block)]
    if kind in kinds.RESULTS:
        return _content(block.get("content", block.get("output")), depth)
    if kind in kinds.MEDIA:
        return [_medium(kind, block)]
    return _content(block["content"], depth) if "content" in block else [_json(block)]


def _arguments(block: Mapping[str, Any]) -> object:
    return next(
        (
            block[key]
            for key in ("arguments", "input", "args", "toolInput", "action")
            if key in block
        ),
        None,
    )


def _call(name: object, arguments: object) -> str:
    head = f"[call {name if isinstance(name, str) else 'unknown'}]"
    given = _parsed(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(given, dict):
        return f"{head} {_clean(given) if isinstance(given, str) else _json(given)}"
    # Text of several lines stands below as text: escaped in JSON it is one line nobody can read.
    below = {k: v for k, v in given.items() if isinstance(v, str) and "\n" in v}
    rest = {k: v for k, v in given.items() if k not in below}
    lines = [f"{head} {_json(rest)}" if rest or not below else head]
    return "\n".join([*lines, *(f"{key}:\n{_clean(text)}" for key, text in below.items())])


def _parsed(arguments: str) -> object:
    if "\\n" not in arguments or len(arguments) > _READ:
        return arguments
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return found if isinstance(found, dict) else arguments


def _outer_calls(message: Mapping[str, Any]) -> list[str]:
    """Return the calls that stand beside the content, as OpenAI's chat form has them."""
    if "tool_calls" not in message and "function_call" not in message:
        return []
    calls = message.get("tool_calls")
    found = list(calls) if isinstance(calls, list) else []
    found += [message["function_call"]] if isinstance(message.get("function_call"), dict) else []
    return [_outer_call(call) for call in found if isinstance(call, dict)]


def _outer_call(call: Mapping[str, Any]) -> str:
    inner = next((call[k] for k in ("function", "custom") if isinstance(call.get(k), dict)), call)
    return _call(inner.get("name"), _arguments(inner))


def _bash(message: Mapping[str, Any]) -> list[str]:
    if message.get("role") != "bashExecution":
        return []
    words = [message.get("command"), message.get("output")]
    code = message.get("exitCode")
    lines = [_clean(word) for word in words if isinstance(word, str)]
    return lines if code in (None, 0) else [*lines, f"[exit code {code}]"]


def _medium(kind: str, block: Mapping[str, Any]) -> str:
    source = block.get("source")
    facts = [block, source if isinstance(source, dict) else {}]
    keys = ("mimeType", "mime_type", "media_type", "filename", "name", "title")
    found = [fact[key] for key in keys for fact in facts if isinstance(fact.get(key), str)]
    named = " ".join(dict.fromkeys(re.sub(r"[\[\]\s]+", " ", name[:80]) for name in found))
    return f"[{kinds.medium(kind)} {named}".rstrip() + "]"


def _clean(text: str) -> str:
    if len(text) > _READ:
        half = _READ // 2
        text = f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
    if "base64," in text:
        text = re.sub(_DATA_URL, OMITTED, text)
    return re.sub(_BASE64, _if_binary, text) if _has_long_run(text) else text


def _has_long_run(text: str) -> bool:
    # Many times faster than searching by pattern, and nearly every text has none: not even among
    # every eighth of its characters.
    return (
        len(text) >= len(_LONG_RUN)
        and _SPARSE_RUN in _runs(text[::_STRIDE])
        and _LONG_RUN in _runs(text)
    )


def _runs(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(_RUN_MAP)


def _if_binary(match: re.Match[str]) -> str:
    run = match[0]
    mixed = any(map(str.isdigit, run)) and run.lower() != run and run.upper() != run
    return OMITTED if mixed else run


def _json(value: object) -> str:
    return _WRITTEN.encode(_without_binary(value, _DEPTH))


def _without_binary(value: object, depth: int) -> object:
    if isinstance(value, str):
        return _clean(value)
    if not depth or not isinstance(value, dict | list):
        return "…" if isinstance(value, dict | list) else value
    if isinstance(value, list):
        return [_without_binary(item, depth - 1) for item in value[:2_000]]
    return {
        str(key): OMITTED if _is_binary(key, item) else _without_binary(item, depth - 1)
        for key, item in list(value.items())[:2_000]
        if not (isinstance(item, dict) and str(item.get("type")) in kinds.REASONING)
    }


def _is_binary(key: object, item: object) -> bool:
    return key in _BINARY_KEYS and isinstance(item, str) and len(item) >= 256
