"""Transcripts: files that agents leave behind, read into entries.

What a file is follows from its content, never from its name. This room opens files and reads;
it never writes, never stores, and never decides what belongs to a context beyond what the
transcript itself says about its branches.
"""

from lossless_claw.transcript.find import find
from lossless_claw.transcript.reader import read
from lossless_claw.transcript.transcript import Lane, Problem, Transcript

__all__ = ["Lane", "Problem", "Transcript", "find", "read"]
