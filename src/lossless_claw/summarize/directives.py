"""Lines of a source that are shaped like orders to a model. Pure.

Text that nobody paraphrased must not carry an order into the prompt: the deterministic fallback
leaves such lines out and says so (spec compaction 3.8).
"""

from __future__ import annotations

import re
from functools import cache

from lossless_claw.summarize.pieces import Passage

OMITTED = "[LCM fallback summary omitted directive-shaped untrusted content]"

_VERB = r"(?:ignore|disregard|forget|override)"
_OBJECT = r"(?:instructions?|prompts?|rules?|guidelines?|directions?)"
_DIRECTIVE = rf"""(?xi)
      \b{_VERB}\b[^.!?\n]{{0,40}}?\b(?:previous|prior|above|earlier|system|developer|all|any|your)\b
          [^.!?\n]{{0,40}}?\b{_OBJECT}\b
    | \b{_VERB}\s+(?:the\s+|these\s+|those\s+)?{_OBJECT}\s*(?:[.,;!]|$)
    | \byou\ are\ now\b
    | \bfrom\ now\ on\b
    | \breply\ only\ with\b
    | \b(?:reveal|print|show|dump|exfiltrate|provide|give|send)\b[^.!?\n]{{0,40}}?
          \b(?:system|developer)\ prompt\b
    | \bjailbreak\s+(?:mode|prompt|instructions|the\ model|the\ assistant)\b
    | \bDAN\ mode\b
    | \byou\ are\ DAN\b
    | \b(?:act|answer|respond)\ as\ DAN\b
    | \bpretend\ to\ be\ DAN\b
    """
_SENTENCE = r"(?<=[.!?])\s+"


# Compiling takes longer than a short program has, and only the fallback needs it.
@cache
def _directive() -> re.Pattern[str]:
    return re.compile(_DIRECTIVE)


def without_directives(passages: list[Passage]) -> list[Passage]:
    """Return *passages* with each run of directive-shaped sentences replaced by one mark."""
    return [
        Passage(_neutral(p.text), p.day, p.time, p.speaker) if is_directive(p.text) else p
        for p in passages
    ]


def is_directive(text: str) -> bool:
    """Whether *text* holds a sentence shaped like an order to a model."""
    return _directive().search(text) is not None


def _neutral(text: str) -> str:
    kept: list[str] = []
    for line in text.splitlines():
        for sentence in re.split(_SENTENCE, line):
            part = OMITTED if is_directive(sentence) else sentence
            if part != OMITTED or kept[-1:] != [OMITTED]:
                kept.append(part)
    return "\n".join(kept)
