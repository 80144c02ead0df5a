"""The last line of a summary, which names what it left out. Pure text work."""

from __future__ import annotations

from collections.abc import Iterable

from lossless_claw.summarize.pieces import FOOTER
from lossless_claw.tokens import estimate

NOTHING_NAMED = "exact wording"
"""What the footer names when every distinctive term is kept."""


def line(names: Iterable[str], limit: int) -> str:
    """Return the footer that names the first of *names* that fit in *limit* tokens.

    Empty when *limit* has no room for any name.
    """
    text = FOOTER
    for name in names:
        longer = f"{text}{' ' if text == FOOTER else ', '}{name}"
        if estimate(longer) > limit:
            break
        text = longer
    if text != FOOTER:
        return text
    bare = f"{FOOTER} {NOTHING_NAMED}"
    return bare if estimate(bare) <= limit else ""


def take_off(text: str) -> tuple[str, str]:
    """Return *text* without its footer, and the footer; either may be empty.

    The footer is a line near the end that begins as it must; markers may follow it.
    """
    lines = text.rstrip().split("\n")
    for index in range(len(lines) - 1, max(-1, len(lines) - 5), -1):
        bare = lines[index].strip().lstrip("*_# ")
        if bare.startswith(FOOTER):
            rest = lines[:index] + lines[index + 1 :]
            return "\n".join(rest).rstrip(), bare
    return text, ""
