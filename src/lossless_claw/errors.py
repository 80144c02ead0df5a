"""Every error the library raises: whose turn it is, what is wrong, what to do next.

A normal outcome is a value, not an exception. An error here means that the caller, the
host's data, the database or the summarizer has to change before the call can succeed.
`code` is stable and part of the API: exit codes and wire codes are derived from it.
"""

from __future__ import annotations

from typing import ClassVar


class LcmError(Exception):
    """Something went wrong in lossless-claw.

    Args:
        message: What is wrong and where; the class docstring's first line when absent.
        hint: The next step for the person who reads it.
        details: Facts as attributes, JSON-serialisable, never to be parsed from text.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str | None = None, *, hint: str | None = None, **details: object):
        super().__init__(message or (self.__doc__ or "").splitlines()[0])
        self.hint = self.default_hint if hint is None else hint
        self.details = details

    @property
    def message(self) -> str:
        """The message without hint or details."""
        return str(self.args[0])


class UsageError(LcmError):
    """The call cannot be carried out as it was made."""

    code = "INVALID_ARGUMENT"


class CommandError(UsageError):
    """No such command, or the wrong number of words for it."""

    code = "INVALID_COMMAND"


class SelectorError(UsageError):
    """More than one way to choose a conversation was given."""

    code = "INVALID_SELECTOR"


class MissingSelectorError(UsageError):
    """This command needs a conversation."""

    code = "MISSING_SELECTOR"
    default_hint = (
        "Pass --conversation-id N or --session-key KEY; `lcm conversations list` shows them."
    )


class TimeFilterError(UsageError):
    """A time filter is not a valid instant or range."""

    code = "INVALID_TIME_FILTER"


class CursorError(UsageError):
    """The cursor is not one that this command handed out."""

    code = "INVALID_CURSOR"
    default_hint = "Use nextCursor of the previous page unchanged, or start again without a cursor."


class PatternError(UsageError):
    """The search pattern is refused."""

    code = "INVALID_PATTERN"


class NotFoundError(LcmError):
    """What was asked for does not exist."""

    code = "NOT_FOUND"


class ConversationNotFoundError(NotFoundError):
    """There is no such conversation."""

    code = "CONVERSATION_NOT_FOUND"
    default_hint = "`lcm conversations list` shows what is stored."


class SummaryNotFoundError(NotFoundError):
    """There is no such summary."""

    code = "SUMMARY_NOT_FOUND"


class MessageNotFoundError(NotFoundError):
    """There is no such message."""

    code = "MESSAGE_NOT_FOUND"


class DatabaseNotFoundError(NotFoundError):
    """There is no database at this path."""

    code = "DATABASE_NOT_FOUND"
    default_hint = "Check --db, or create one with `lcm import PATH`."


class HostError(LcmError):
    """The host handed over something impossible."""

    code = "INVALID_INPUT"


class TranscriptError(HostError):
    """The file is no transcript that can be read."""

    code = "NOT_A_TRANSCRIPT"


class TranscriptNotFoundError(NotFoundError):
    """There is no file or folder at this path."""

    code = "TRANSCRIPT_NOT_FOUND"


class ConfigError(LcmError):
    """The configuration cannot be used."""

    code = "CONFIG_VALIDATION_FAILED"


class ConfigParseError(ConfigError):
    """The configuration file is not valid JSON."""

    code = "CONFIG_PARSE_FAILED"


class StoreError(LcmError):
    """The database cannot be used."""

    code = "DATABASE_QUERY_FAILED"


class StoreOpenError(StoreError):
    """The database cannot be opened."""

    code = "DATABASE_OPEN_FAILED"


class StoreBusyError(StoreError):
    """Another process holds the database longer than the time-out."""

    code = "DATABASE_BUSY"
    default_hint = "Try again, or find the process that holds the file; nothing was written."


class StoreReadOnlyError(StoreError):
    """The database or its folder cannot be written."""

    code = "DATABASE_READ_ONLY"
    default_hint = (
        "Give write permission on the file and its folder, or choose another path with --db."
    )


class StoreCorruptError(StoreError):
    """The database file is damaged or no SQLite database."""

    code = "DATABASE_CORRUPT"
    default_hint = "Keep the file as it is and restore a backup, or choose another path with --db."


class StoreFullError(StoreError):
    """The disk is full."""

    code = "DATABASE_FULL"
    default_hint = "Free some space and repeat the call; the transaction was rolled back."


class StoreVersionError(StoreOpenError):
    """The database was written by a newer lossless-claw."""

    code = "DATABASE_TOO_NEW"
    default_hint = "Upgrade lossless-claw to open it."


class SummarizerError(LcmError):
    """The summarizer failed."""

    code = "SUMMARIZER_FAILED"


class AuthError(SummarizerError):
    """The summarizer's provider refused the credentials."""

    code = "SUMMARIZER_AUTH"


class RateLimitError(SummarizerError):
    """The summarizer's provider asks to wait."""

    code = "SUMMARIZER_RATE_LIMITED"


class DeadlineError(SummarizerError):
    """The summarizer did not answer in time."""

    code = "SUMMARIZER_DEADLINE"


class RefusedError(LcmError):
    """A guard said no."""

    code = "REFUSED"
