"""A tree of very many small files, made by a rule: notes, pages, messages and sources of about 200 bytes.

Names and contents follow from the number of the file alone, so that a larger tree holds a smaller one:
`<n // 1,000,000>/<n // 1,000>/<n>.<kind>`, a thousand files in a folder. Words follow Zipf's law over a
vocabulary that grows with the tree, as that of real collections does.
"""

import itertools
import os
import random

FILES_IN_FOLDER = 1_000
VOCABULARY = 60_000
SYLLABLES = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
KINDS = {
    "txt": "{title}\n\n{text}\n",
    "md": "# {title}\n\n{text}\n",
    "html": "<title>{title}</title><p>{text}</p>\n",
    "eml": "From: {sender}@example.org\nTo: me@example.org\nSubject: {title}\n"
           "Date: Mon, 2 Jan 2006 15:04:05 +0000\nMessage-ID: <{number}@example.org>\n\n{text}\n",
    "c": "/* {title} */\nint {name}(void) {{ return {number}; }}\n/* {text} */\n",
}
ORDER = ["txt", "txt", "md", "html", "eml", "c"]


def make(root, n_files):
    """Makes what is missing of the tree; a folder that is there is whole."""
    words = vocabulary()
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    for first in range(0, n_files, FILES_IN_FOLDER):
        part_folder = folder(root, first)
        if os.path.isdir(part_folder):
            continue
        making = part_folder + ".making"
        os.makedirs(making, exist_ok=True)
        chance = random.Random(first)
        for number in range(first, min(first + FILES_IN_FOLDER, n_files)):
            ending, content = file(number, chance, words, weights)
            handle = os.open(f"{making}/{number}.{ending}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.write(handle, content)
            os.close(handle)
        os.rename(making, part_folder)


def folder(root, number):
    return os.path.join(root, str(number // 1_000_000), f"{number // FILES_IN_FOLDER:05}")


def file(number, chance, words, weights):
    """The ending and the bytes of a file."""
    chosen = chance.choices(words, cum_weights=weights, k=24)
    ending = ORDER[number % len(ORDER)]
    fields = {
        # A word of its own for each file: of real collections, too, half of all words are there once.
        "title": f"{chosen[0]} {chosen[1]} {name(number)}",
        "text": " ".join(chosen[2:]),
        "sender": chosen[0],
        "name": chosen[1],
        "number": number,
    }
    return ending, KINDS[ending].format(**fields).encode()


def name(number):
    """A word that only one file holds."""
    return "q" + "".join(SYLLABLES[number // len(SYLLABLES) ** digit % len(SYLLABLES)] for digit in range(4))


def vocabulary():
    chance = random.Random(1)
    words = {"".join(chance.choices(SYLLABLES, k=chance.choice((2, 2, 3, 3, 4)))) for _ in range(2 * VOCABULARY)}
    return sorted(words, key=lambda word: (len(word), word))[:VOCABULARY]
