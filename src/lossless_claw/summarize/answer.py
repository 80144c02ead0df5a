"""What a summarizer returned, judged by its looks. Pure; decides nothing about what follows."""

from __future__ import annotations

import re
from functools import cache

_NAMES = r"(?:think|thinking|reasoning)"
_TAG = rf"(?i)<(?P<close>/?){_NAMES}>"
_HEADING = r"(?:thinking process|chain of thought)\s*:"
_OPENER = rf"(?i)\s*(?:<\|{_NAMES}\|>|\[{_NAMES}\]|{_HEADING})"
_INDENT = 40

_LONGEST_ERROR = 600
_ERROR = r"""(?xi)\s*(?:
      (?:api|http|internal|server|request|provider|summariz\w+|rate\s?limit|timeout|fatal|llm|model)?
          [\s_-]*(?:server[\s_-]*)?(?:error|exception)\b\s*(?:code)?\s*(?:[:\-(\[]|\d{3}\b|$)
    | \w*(?:Error|Exception)\s*:
    | (?:HTTP(?:/\d(?:\.\d)?)?\s*|status(?:\s+code)?\s*:?\s*)?[45]\d\d\s+
          (?:error|unauthorized|forbidden|bad|too\ many|internal|service|gateway|not\ found|payment)
    | Traceback\ \(most\ recent\ call\ last\)
    | (?:request|connection|operation)\s+(?:timed\s+out|refused|reset|aborted)
    | rate\s+limit(?:ed)?\s+(?:exceeded|reached)
    | (?:unauthorized|unauthorised|forbidden|too\ many\ requests|service\ unavailable)\s*[.:!]?\s*$
    | (?:i['’]?m\ sorry|i\ am\ sorry|sorry|i\ apologi[sz]e),?\s+(?:but\s+)?i\s+
          (?:can['’]?t|cannot|can\ not|am\ unable|['’]?m\ unable|won['’]?t)
    | i\s+(?:cannot|can['’]?t|am\ unable\ to)\s+(?:assist|help|summari[sz]e|comply|fulfil)
    | \{\s*"(?:error|errors|type"\s*:\s*"error)"
    )"""


# Compiling takes longer than a short program has, and only one that summarises needs it.
@cache
def _error() -> re.Pattern[str]:
    return re.compile(_ERROR)


@cache
def _tag() -> re.Pattern[str]:
    return re.compile(_TAG)


@cache
def _opener() -> re.Pattern[str]:
    return re.compile(_OPENER)


def without_reasoning(text: str) -> str:
    """Return *text* without the reasoning a model left in it; empty when nothing else is there.

    Closed blocks that open the text or stand on their own lines go, and an unclosed one from
    where it starts to the end (spec compaction 3.2).
    """
    text = _without_blocks(text)
    if _opener().match(text):
        return ""
    return text.strip()


def _without_blocks(text: str) -> str:
    """Return *text* without its reasoning blocks, in one walk over the tags."""
    kept: list[str] = []
    done, opened = 0, -1
    seen_opener = has_text = False
    for tag in _tag().finditer(text):
        if not tag["close"]:
            seen_opener = True
            if opened < 0 and (tag.start() == done or _opens_line(text, tag.start())):
                opened = tag.start()
        elif opened >= 0:
            leads = not has_text and not text[done:opened].strip()
            if leads or _closes_line(text, tag.end()):
                kept.append(text[done:opened].rstrip(" \t"))
                has_text = has_text or not leads
                done = tag.end()
            opened = -1
        elif not seen_opener:
            # A server that swallows the opening tag leaves the closing one behind.
            done, seen_opener = tag.end(), True
    return "".join([*kept, text[done : opened if opened >= 0 else len(text)]])


def _opens_line(text: str, index: int) -> bool:
    before = text[max(0, index - _INDENT) : index]
    return not before.rpartition("\n")[2].strip()


def _closes_line(text: str, index: int) -> bool:
    return not text[index : index + _INDENT].partition("\n")[0].strip()


def is_error_shaped(text: str) -> bool:
    """Whether *text* looks like a provider's error or a refusal rather than a summary.

    Only how a short text begins counts: a summary may well speak about errors.
    """
    return len(text) <= _LONGEST_ERROR and _error().match(text) is not None
