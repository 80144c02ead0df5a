"""One file per transcript format: its first pass and how a record is unwrapped.

The scans decide what is a message and to which lane it belongs. They never open a file.
"""

from __future__ import annotations

from collections.abc import Mapping

from lossless_claw.transcript.formats.claude_code import ClaudeCodeScan
from lossless_claw.transcript.formats.codex import CodexScan
from lossless_claw.transcript.formats.messages import MessagesScan
from lossless_claw.transcript.formats.openclaw import OpenClawScan
from lossless_claw.transcript.formats.swe_agent import SweAgentScan
from lossless_claw.transcript.formats.transcript_events import TranscriptEventsScan
from lossless_claw.transcript.scan import Scan

SCANS: Mapping[str, type[Scan]] = {
    "claude-code": ClaudeCodeScan,
    "codex": CodexScan,
    "messages": MessagesScan,
    "openclaw": OpenClawScan,
    "swe-agent": SweAgentScan,
    "transcript-events": TranscriptEventsScan,
}
"""The first pass of each family of formats; bare messages settle their format as they go."""
