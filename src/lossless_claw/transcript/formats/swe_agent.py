"""SWE-agent trajectories: the `history` is the conversation, whatever else the file records."""

from __future__ import annotations

from lossless_claw.transcript.formats.messages import MessagesScan


class SweAgentScan(MessagesScan):
    """The first pass over a history."""

    def __init__(self, session_id: str | None = None) -> None:
        super().__init__(session_id, format_name="swe-agent")
