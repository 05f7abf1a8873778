"""Puts marks around matches."""

from __future__ import annotations

import re
from typing import Any, List, Sequence

from . import _plan

#: What HTML is not text: comments, scripts, style sheets, tags, and characters by name.
_MARKUP = re.compile(r"<!--.*?-->|<(script|style|title)\b.*?</\1\s*>|<[^>]*>|&#?\w+;", re.DOTALL | re.IGNORECASE)


class Marks:
    """The marks that ``methods`` gives, Recoll's own without it, and none for ``nohl``."""

    def __init__(self, methods: Any, nohl: Any = False) -> None:
        self._methods = methods
        self._is_silent = methods is None and bool(nohl)

    def start(self, group: int) -> str:
        """Return the mark before a match of a group of ``getgroups``."""
        if self._methods is not None:
            return _text(self._methods.startMatch(group))
        return "" if self._is_silent else '<span class="rclmatch">'

    def end(self) -> str:
        """Return the mark after a match."""
        if self._methods is not None:
            return _text(self._methods.endMatch())
        return "" if self._is_silent else "</span>"


def _text(mark: Any) -> str:
    return mark.decode() if isinstance(mark, bytes) else str(mark)


def escape(text: str) -> str:
    """Escape text for HTML as Recoll does."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def plain(text: str, matches: Sequence[_plan.Match], marks: Marks) -> str:
    """Return plain text as HTML with marks."""
    parts: List[str] = []
    done = 0
    for match in matches:
        parts += [escape(text[done : match.start]), marks.start(match.group)]
        parts += [escape(text[match.start : match.end]), marks.end()]
        done = match.end
    parts.append(escape(text[done:]))
    return "".join(parts)


def markup(text: str, groups: Sequence[_plan.Group], marks: Marks) -> str:
    """Return HTML with marks; tags are left as they are."""
    visible = _MARKUP.sub(lambda found: " " * len(found[0]), text)
    found = _plan.words(visible)
    parts: List[str] = []
    done = 0
    for match in _plan.find(groups, found):
        # A mark around a tag would break the nesting, so each word gets its own.
        for word in found:
            if match.start <= word.start and word.end <= match.end:
                parts += [text[done : word.start], marks.start(match.group), text[word.start : word.end], marks.end()]
                done = word.end
    parts.append(text[done:])
    return "".join(parts)
