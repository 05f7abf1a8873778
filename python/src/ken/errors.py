"""Errors of ken."""

from __future__ import annotations

from pathlib import Path
from typing import Optional


class Error(Exception):
    """ken could not do what was asked.

    ``message`` says what happened, ``hint`` what helps, and ``path`` names the file if there is one. ``exit_code`` is
    that of the program, and ``status`` that of HTTP if the server answered.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: Optional[str] = None,
        path: Optional[Path] = None,
        exit_code: Optional[int] = None,
        status: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path
        self.exit_code = exit_code
        self.status = status

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class Unavailable(Error):
    """Neither the server nor the program of ken can be asked."""


class NotFound(Error):
    """The index does not have the document."""
