"""Reads ken's plans of queries: which terms belong together, and where they are in a text.

A plan is an s-expression. ``{...}`` is a word that is searched for in every field, ``(exact title "x")`` a term of one
field; what is below ``not`` or ``filter`` is not shown in texts.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from dataclasses import dataclass
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

#: Fields that hold text; terms of other fields are values, such as media types.
_TEXT_FIELDS = frozenset(
    [
        "body",
        "title",
        "headings",
        "filename",
        "author",
        "to",
        "cc",
        "bcc",
        "recip",
        "contact",
        "keywords",
        "description",
        "artist",
        "album",
        "camera",
    ]
)
#: Parts of a plan that say nothing about texts.
_SILENT = frozenset(["not", "filter", "prefer", "thread", "carrier", "range", "all", "nothing"])

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[(){}]|[^\s(){}"]+')
_ESCAPES = re.compile(r"\\(?:u\{([0-9a-f]+)\}|(.))", re.DOTALL)
#: The position of a term in a phrase, or the weight of a form.
_MARK = re.compile(r"[0-9.]+[:*]")

Node = Union[str, "Text", List["Node"]]


class Text(str):
    """A text in quotes."""


def _parse(plan: str) -> List[Node]:
    stack: List[List[Node]] = [[]]
    for token in _TOKENS.findall(plan):
        if token in "({":
            stack.append([])
        elif token in ")}":
            node = stack.pop()
            stack[-1].append(node)
        elif token.startswith('"'):
            stack[-1].append(Text(_ESCAPES.sub(_unescape, token[1:-1])))
        elif not _MARK.fullmatch(token):
            stack[-1].append(token)
    return stack[0]


def _unescape(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}.get(found[2], found[2])


@dataclass(frozen=True)
class Pattern:
    """What one word of a text must be."""

    #: The word or the pattern as it is written.
    written: str
    matches: Callable[[str], bool]


@dataclass(frozen=True)
class Group:
    """Terms that match together: one word, a phrase, or words close together."""

    #: The words of the query.
    words: Tuple[str, ...]
    #: What the words of the text must be.
    patterns: Tuple[Pattern, ...]
    #: How many other words may be between them.
    slop: int = 0
    ordered: bool = True


def groups(plan: str) -> List[Group]:
    """Return the groups of a plan, each once."""
    found: List[Group] = []
    seen: Set[Tuple[Tuple[str, ...], int, bool]] = set()
    for node in _parse(plan):
        for group in _groups(node):
            key = (tuple(pattern.written for pattern in group.patterns), group.slop, group.ordered)
            if key not in seen:
                seen.add(key)
                found.append(group)
    return found


def _groups(node: Node) -> Iterator[Group]:
    if isinstance(node, Text):
        yield _word(node)
    if isinstance(node, str) or not node:
        return
    head, *rest = node
    if isinstance(head, list) or isinstance(head, Text):
        for child in node:
            yield from _groups(child)
    elif head == "forms":
        yield from _forms(rest)
    elif head in ("phrase", "near", "ordered"):
        yield from _together(head, rest)
    elif head in _PATTERNS:
        yield from _single(head, rest)
    elif head not in _SILENT and (head in _STRUCTURE or head in _TEXT_FIELDS):
        for child in rest:
            yield from _groups(child)


#: Parts of a plan that hold others.
_STRUCTURE = frozenset(["and", "or", "xor", "weight", "any", "written", "folders"])


def _word(text: str, words: Optional[Tuple[str, ...]] = None) -> Group:
    return Group(words or (text,), (Pattern(text, text.__eq__),))


def _forms(nodes: Sequence[Node]) -> Iterator[Group]:
    """Yield the forms of a word, each with the word of the query."""
    found = [group for node in nodes for group in _groups(node)]
    for group in found:
        yield Group(found[0].words, group.patterns, group.slop, group.ordered)


def _together(head: str, nodes: Sequence[Node]) -> Iterator[Group]:
    slop = 0
    patterns: List[Pattern] = []
    for node in nodes:
        if isinstance(node, str) and not isinstance(node, Text):
            if node in _TEXT_FIELDS:
                continue
            if not node.isdigit():
                return
            slop = int(node)
            continue
        inner = list(_groups(node))
        if not inner:
            return
        if all(len(group.patterns) == 1 for group in inner):
            patterns.append(_any([group.patterns[0] for group in inner]))
        else:
            patterns += inner[0].patterns
    if patterns:
        words = tuple(pattern.written for pattern in patterns)
        yield Group(words, tuple(patterns), slop, head != "near")


def _any(patterns: Sequence[Pattern]) -> Pattern:
    if len(patterns) == 1:
        return patterns[0]
    return Pattern(patterns[0].written, lambda word: any(one.matches(word) for one in patterns))


def _single(head: str, nodes: Sequence[Node]) -> Iterator[Group]:
    names = [node for node in nodes if isinstance(node, str)]
    if len(names) > 1 and not isinstance(names[0], Text) and _is_field(names[0]):
        if names[0] not in _TEXT_FIELDS:
            return
        names = names[1:]
    make = _PATTERNS[head]
    for name in names[:1] if head != "any" else names:
        written = {"prefix": f"{name}*"}.get(head, name)
        yield Group((written,), (Pattern(written, make(name)),))


def _is_field(name: str) -> bool:
    return name.isidentifier()


def _regex(text: str) -> Callable[[str], bool]:
    try:
        expression = re.compile(text)
    except re.error:
        return lambda word: False
    return lambda word: expression.search(word) is not None


_PATTERNS: Dict[str, Callable[[str], Callable[[str], bool]]] = {
    "exact": lambda text: text.__eq__,
    "stem": lambda text: text.__eq__,
    "whole": lambda text: text.__eq__,
    "any": lambda text: text.__eq__,
    "fuzzy": lambda text: text.__eq__,
    "prefix": lambda text: lambda word: word.startswith(text),
    "glob": lambda text: lambda word: fnmatch.fnmatchcase(word, text),
    "regex": _regex,
}

_WORDS = re.compile(r"\w+")


class Word(NamedTuple):
    """A word of a text, as terms are written."""

    folded: str
    start: int
    end: int


def fold(word: str) -> str:
    """Return a word without capitals and diacritics."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def words(text: str) -> List[Word]:
    """Return the words of a text."""
    return [Word(fold(found[0]), *found.span()) for found in _WORDS.finditer(text)]


class Match(NamedTuple):
    """A place in a text that a group matches."""

    start: int
    end: int
    #: The number of the group.
    group: int


def find(among: Sequence[Group], text: Sequence[Word]) -> List[Match]:
    """Return the places of groups in a text, in order and without overlaps; the longest of those at one place."""
    found: List[Match] = []
    for number, group in enumerate(among):
        at = [[pattern.matches(word.folded) for word in text] for pattern in group.patterns]
        if len(at) == 1:
            found += [Match(word.start, word.end, number) for word, is_one in zip(text, at[0]) if is_one]
        else:
            found += [
                Match(text[first].start, text[last].end, number)
                for first, last in _spans(at, group.slop, group.ordered)
            ]
    found.sort(key=lambda match: (match.start, -match.end))
    kept: List[Match] = []
    for match in found:
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept


def _spans(at: Sequence[Sequence[bool]], slop: int, ordered: bool) -> Iterator[Tuple[int, int]]:
    """Yield the first and the last word of each place where every pattern matches a word."""
    n_words, n_patterns = len(at[0]), len(at)
    longest = n_patterns + slop
    for first in range(n_words):
        starts = [0] if ordered else range(n_patterns)
        if not any(at[pattern][first] for pattern in starts):
            continue
        end = _ordered(at, first, longest) if ordered else _unordered(at, first, longest)
        if end is not None:
            yield first, end


def _ordered(at: Sequence[Sequence[bool]], first: int, longest: int) -> Optional[int]:
    last = first
    for pattern in at[1:]:
        window = range(last + 1, min(len(pattern), first + longest))
        following = next((word for word in window if pattern[word]), None)
        if following is None:
            return None
        last = following
    return last


def _unordered(at: Sequence[Sequence[bool]], first: int, longest: int) -> Optional[int]:
    wanted = set(range(len(at)))
    for word in range(first, min(len(at[0]), first + longest)):
        wanted -= {pattern for pattern in wanted if at[pattern][word]}
        if not wanted:
            return word
    return None
