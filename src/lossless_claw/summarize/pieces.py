"""A source text cut into pieces small enough to choose from, each with its speaker and time.

Pure. Reads the headers that `source_text` writes and the lines that `Extractive` prints, so that
a summary of summaries still knows who said what when. It chooses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

FOOTER = "Expand for details about:"
"""How the last line of every summary begins; what follows names what the summary left out."""


class Passage(Struct, frozen=True):
    """What one speaker said at one time. `day` and `time` are text as printed, or empty."""

    text: str
    day: str = ""
    time: str = ""
    speaker: str = ""


class Piece(Struct, frozen=True):
    """A sentence, a line or a part of one."""

    text: str
    day: str
    time: str
    speaker: str


_HEADER = (
    r"\[(?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d) (?P<zone>[^|\]\n]{1,20}) \| "
    r"(?P<speaker>[^|\]\n]{1,80})(?: \| [^\n]*)?\]"
)
_SPAN = r"\[(?P<day>\d{4}-\d\d-\d\d) [^\]\n]{0,40} - [^\]\n]{0,60}\]"
_DAY = r"\[(?P<day>\d{4}-\d\d-\d\d(?: [^|\]\n]{1,20})?)\]"
_SPOKEN = r"(?P<time>\d\d:\d\d) (?P<speaker>[^:\n]{1,80}): (?P<text>.*)"

_SENTENCE_END = r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])(?=\S)"


def passages(source: str) -> list[Passage]:
    """Return *source* line by line, each with the speaker and time that its headers gave.

    Footers of earlier summaries are left out; `footer_terms` has what they name.
    """
    found: list[Passage] = []
    day = time = speaker = ""
    in_summary = False
    for line in source.splitlines():
        if line.startswith(FOOTER) or not line.strip():
            continue
        is_marked = line.startswith("[")
        if is_marked and (header := re.fullmatch(_HEADER, line)):
            day, time = f"{header['day']} {header['zone']}", header["time"]
            speaker, in_summary = header["speaker"].strip(), False
        elif is_marked and (heading := re.fullmatch(_SPAN, line) or re.fullmatch(_DAY, line)):
            day, time, speaker, in_summary = heading["day"], "", "", True
        elif in_summary and (spoken := re.fullmatch(_SPOKEN, line)):
            time, speaker = spoken["time"], spoken["speaker"]
            found.append(Passage(spoken["text"], day, time, speaker))
        else:
            found.append(Passage(line, day, time, speaker))
    return found


def split(found: Iterable[Passage], width: int) -> list[Piece]:
    """Return the pieces of *found* in order: sentences and lines of at most *width* characters.

    A line without sentences, a minified file say, is cut at white space, else anywhere.
    """
    end = re.compile(_SENTENCE_END)
    return [
        Piece(text, passage.day, passage.time, passage.speaker)
        for passage in found
        for line in passage.text.splitlines()
        for sentence in end.split(line)
        for text in _cut(sentence.strip(), width)
    ]


def footer_terms(source: str) -> list[str]:
    """Return what the footers inside *source* name, in order, each once."""
    lines = (line for line in source.splitlines() if line.startswith(FOOTER))
    names = (name.strip(" .") for line in lines for name in line[len(FOOTER) :].split(","))
    return list(dict.fromkeys(name for name in names if name))


def _cut(text: str, width: int) -> Iterator[str]:
    begin = 0
    while len(text) - begin > width:
        space = text.rfind(" ", begin + width // 2, begin + width + 1)
        end = space if space > begin else begin + width
        if part := text[begin:end].strip():
            yield part
        begin = end
    if rest := text[begin:].strip():
        yield rest
