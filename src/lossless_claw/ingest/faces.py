"""Two faces of one message: what a richer one adds to the stored original (design 4). Pure."""

from __future__ import annotations

from lossless_claw.model import Raw

_CONTENT = frozenset({"content", "role", "output"})


def enriched(stored: Raw, other: Raw) -> tuple[Raw | None, bool]:
    """Return *stored* with the keys of *other* that it lacks, and whether a shared key differs.

    The first value is None when nothing is added. Content is compared by identity elsewhere.
    """
    added = {key: value for key, value in other.items() if key not in stored and value is not None}
    differs = any(
        stored[key] != value
        for key, value in other.items()
        if key in stored and key not in _CONTENT
    )
    return ({**stored, **added} if added else None), differs
