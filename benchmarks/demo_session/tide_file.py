"""The made-up harbour office's tide files, computed from made-up harmonic constants.

Only recording needs them: they lie in the developer's downloads when the story begins.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone

MEAN = 138.0
TERMS = (
    (62.0, 12.4206012, 41.0),
    (27.0, 12.0, 75.0),
    (12.5, 12.6583475, 20.0),
    (23.0, 23.9344696, 160.0),
    (18.0, 25.8193417, 140.0),
    (9.0, 8765.82, 200.0),
)
"""Amplitude in cm, period in hours, phase in degrees."""
EPOCH = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=9)))
HEAD = (
    "#風早港 潮位表 令和8年(2026年) ①毎時潮位 ②満干潮\r\n"
    "#基準面 D.L. = T.P. -104cm  単位cm  欠測 999  時刻は日本標準時\r\n"
)


def office_file(*, reissued: bool) -> bytes:
    """Return the yearly file in cp932; the *reissued* one repairs a gap and shifts a month."""
    days = (_day(EPOCH + timedelta(days=number), reissued=reissued) for number in range(365))
    return (HEAD + "".join(days)).encode("cp932")


def _level(hour: float) -> float:
    return MEAN + sum(
        height * math.cos(2 * math.pi * hour / period - math.radians(phase))
        for height, period, phase in TERMS
    )


def _day(day: datetime, *, reissued: bool) -> str:
    start = (day - EPOCH).total_seconds() / 3600
    shift = 3 if reissued and day.month == 11 else 0
    minutes = [_level(start + minute / 60) for minute in range(-1, 1441)]
    hours = [round(level) + shift for level in minutes[1:-1:60]]
    if (day.month, day.day) == (10, 19) and not reissued:
        hours[13:16] = [999, 999, 999]
    levels = "".join(f"{level:3d}" for level in hours)
    highs, lows = _turns(minutes, 1, shift), _turns(minutes, -1, shift)
    return f"KZ{day:%y}{day.month:2d}{day.day:2d}{levels}{highs}{lows}\r\n"


def _turns(minutes: list[float], sign: int, shift: int) -> str:
    """Return the high (*sign* 1) or low (-1) waters of a day from its levels by minute."""
    found = []
    for minute, (before, at, after) in enumerate(
        zip(minutes, minutes[1:], minutes[2:], strict=False)
    ):
        if sign * before < sign * at >= sign * after:
            found.append(f"{_clock(minute)}{round(at) + shift:3d}")
    return "".join(found).ljust(28, "9")


def _clock(minute: int) -> str:
    """Return HHMM with a blank for a leading zero; the office writes its last minutes as 24 h."""
    if minute >= 1438:
        return "2400"
    return f"{minute // 60:2d}{minute % 60:02d}"
