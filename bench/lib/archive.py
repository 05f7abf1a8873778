"""An archive of very many made documents in few files: mailboxes, and zip files of notes, pages and texts.

Words follow Zipf's law; lengths have a long tail. Every document is made from its number alone, so a larger archive
holds a smaller one, and whoever knows the number knows the text. Three of four documents are messages.
"""

import functools
import itertools
import multiprocessing
import os
import random
import time
import zipfile

# Documents of one file. Three of four files are mailboxes.
IN_FILE = 2_000
VOCABULARY = 200_000
MEAN_WORDS = 90
# Documents with numbers next to each other that have a word which no other has.
SHARED = 8
FIRST_DAY, DAYS = 946_684_800, 20 * 365  # 2000-01-01
DAY = 86_400
SYLLABLES = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
PEOPLE = [f"{first}.{last}" for first in "anna boris chloe david elif farid greta hiro ines karin luis mei".split()
          for last in "bauer castro fischer garcia ivanov jansen moreau okafor petrov rossi".split()]
MESSAGE = ("From {sender}@example.org {unix}\nFrom: {sender}@example.org\nTo: {reader}@example.org\nSubject: {title}\n"
           "Date: {date}\nMessage-ID: <{number}@example.org>\n\n{text}\n\n")
MEMBERS = {
    "txt": "{title}\n\n{text}\n",
    "md": "# {title}\n\n{text}\n",
    "html": "<title>{title}</title><p>{text}</p>\n",
}
FILES = MEMBERS | {"eml": MESSAGE.partition("\n")[2]}


def make(root, n_documents):
    """Makes what is missing of the archive; a file that is there is whole."""
    with multiprocessing.Pool() as pool:
        all_numbers = [range(first, min(first + IN_FILE, n_documents)) for first in range(0, n_documents, IN_FILE)]
        pool.starmap(make_file, [(root, numbers) for numbers in all_numbers], chunksize=1)


def make_file(root, numbers):
    path = place(root, numbers[0])
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        making = f"{path}.making"
        (mailbox if is_mailbox(numbers[0]) else members)(making, numbers)
        os.rename(making, path)


def make_files(root, n_documents):
    """Makes a file of its own for each document, a thousand in a folder."""
    for number, path in enumerate(paths(root, n_documents)):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fields = document(number)
        with open(path, "w") as file:
            file.write(FILES[path.rpartition(".")[2]].format(date=mail_date(fields), **fields))
        os.utime(path, (fields["time"], fields["time"]))


def paths(root, n_documents):
    """The files of documents that have one each."""
    endings = list(FILES)
    return [os.path.join(root, f"{number // 1000:03}", f"{number}.{endings[number % len(endings)]}")
            for number in range(n_documents)]


def is_mailbox(number):
    return number // IN_FILE % 4 != 3


def place(root, number):
    """The file of a document. A folder has twenty of them."""
    file = number // IN_FILE
    return os.path.join(root, f"box {file // 20:03}", f"{file:05}." + ("mbox" if is_mailbox(number) else "zip"))


def mailbox(path, numbers):
    with open(path, "w") as file:
        for number in numbers:
            fields = document(number)
            unix = time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime(fields["time"]))
            file.write(MESSAGE.format(unix=unix, date=mail_date(fields), **fields))


def mail_date(fields):
    return time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(fields["time"]))


def members(path, numbers):
    with zipfile.ZipFile(path, "w") as archive:
        for number in numbers:
            fields = document(number)
            ending = list(MEMBERS)[number % len(MEMBERS)]
            info = zipfile.ZipInfo(f"{fields['words'][0]}-{number}.{ending}", time.gmtime(fields["time"])[:6])
            archive.writestr(info, MEMBERS[ending].format(**fields))


def document(number):
    """Who wrote what, when."""
    chance = random.Random(number)
    n_words = min(2_000, 10 + int(chance.lognormvariate(4.0, 0.85)))
    text = chance.choices(vocabulary(), cum_weights=weights(), k=n_words + 4)
    text.insert(n_words // 2, shared(number))
    lines = [" ".join(text[at:at + 12]) for at in range(4, len(text), 12)]
    return {"number": number, "words": text, "title": " ".join(text[:4]), "text": ".\n".join(lines),
            "sender": chance.choice(PEOPLE), "reader": chance.choice(PEOPLE),
            "time": FIRST_DAY + DAY * chance.randrange(DAYS) + chance.randrange(DAY)}


def shared(number):
    """A word that only some documents beside each other have."""
    number //= SHARED
    return "x" + "".join(SYLLABLES[number // len(SYLLABLES) ** digit % len(SYLLABLES)] for digit in range(4))


@functools.cache
def vocabulary():
    """Made words, the most frequent first, of which many have the beginnings of others."""
    chance = random.Random(1)
    words = dict.fromkeys("".join(chance.choices(SYLLABLES, k=chance.choice((2, 3, 3, 4, 4))))
                          for _ in range(2 * VOCABULARY))
    return list(words)[:VOCABULARY]


@functools.cache
def weights():
    return list(itertools.accumulate(1 / (rank + 2.7) for rank in range(VOCABULARY)))


def documents_with(rank, n_documents):
    """About how many of the documents have the word of a rank."""
    share = 1 / (rank + 2.7) / weights()[-1]
    return n_documents * (1 - (1 - share) ** MEAN_WORDS)
