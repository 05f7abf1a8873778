"""The documents of the pictures and casts in the documentation: nothing private is in them."""

import os
import pathlib
import shutil
import time

HERE = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = HERE / "crates/ken-extract/tests/data"
COPIES = {
    "Pictures/heron.jpg": "media/heron.jpg",
    "Pictures/lake.webp": "media/lake.webp",
    "Documents/ferry budget.xlsx": "sample.xlsx",
}

REPORT = [
    (20, 90, "Harbour dues 2026"),
    (10, 116, "Report to the harbour board, Anna Lindqvist, 14 September 2026"),
    (13, 160, "Summary"),
    (10, 182, "Harbour dues rose by four per cent to 1.2 million euros. Ferries paid most of them,"),
    (10, 197, "sailing boats the rest. Since the dues for guests are paid at the pontoon, fewer visitors"),
    (10, 212, "leave without paying. The board may want to lower the dues of small boats in winter."),
    (13, 252, "Dues by quarter"),
    (13, 470, "What the dues are spent on"),
    (10, 492, "Half of the harbour dues pays for dredging, a quarter for lights and buoys. The new pontoon"),
    (10, 507, "was built from reserves. No loan was needed, and none is planned for the years to come."),
    (10, 522, "Dredging will cost more from 2027, when the channel to the ferry pier must be deeper."),
]
BARS = [(120, 96), (190, 150), (260, 168), (330, 110)]

MAILS = [
    ("Anna Lindqvist <anna@example.org>", "Harbour dues for small boats", "a1", "", "Mon, 14 Sep 2026 09:12:00 +0200",
     "Dear all,\n\nthe report on the harbour dues is ready. Page one has all that the board must decide.\n\nAnna"),
    ("Erik Ahlgren <erik@example.org>", "Re: Harbour dues for small boats", "a2", "a1", "Mon, 14 Sep 2026 11:40:00 +0200",
     "Thank you. Lower dues in winter are a good idea.\n\n> the report on the harbour dues is ready."),
]  # fmt: skip

SOURCE = """\
/// Returns the harbour dues of a boat for a stay, in cents.
pub fn dues(boat: &Boat, nights: u32) -> u64 {
    let per_night = match boat.length_cm {
        0..800 => 1_400,
        800..1_200 => 2_100,
        _ => 3_500,
    };
    per_night * u64::from(nights)
}
"""


def pdf():
    def text(size, top, words):
        font = "/F2" if size > 10 else "/F1"
        return f"BT {font} {size} Tf 70 {842 - top} Td ({words}) Tj ET\n"

    content = "".join(text(*line) for line in REPORT)
    content += ".25 .45 .75 rg\n" + "".join(f"{x} {842 - 440} 46 {height} re f\n" for x, height in BARS)
    content += "0 g .5 w 100 402 m 400 402 l S\n"
    fonts = ["<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>"]
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R/F2 6 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}endstream",
        *fonts,
        "<</Title(Harbour dues 2026)/Author(Anna Lindqvist)/CreationDate(D:20260914080000Z)>>",
    ]
    out, places = "%PDF-1.7\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj{one}endobj\n"
    table = "".join(f"{at:010} 00000 n \n" for at in places)
    start, size = len(out), len(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}"
    return f"{out}trailer<</Root 1 0 R/Info 7 0 R/Size {size}>>\nstartxref\n{start}\n%%EOF"


ROOTS = ("Documents", "Mail", "Pictures", "src")


def write(home):
    """Writes a home folder with documents, mail, pictures and source code, all with the same time."""
    def put(name, content):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content)

    put("Documents/Harbour/dues 2026.pdf", pdf())
    for sender, subject, own, answered, date, text in MAILS:
        head = f"From: {sender}\nTo: board@example.org\nSubject: {subject}\nMessage-ID: <{own}@example.org>\nDate: {date}\n"
        head += f"In-Reply-To: <{answered}@example.org>\n" if answered else ""
        put(f"Mail/cur/{own}:2,S", f"{head}\n{text}\n")
    put("src/harbour/src/dues.rs", SOURCE)
    put("Documents/Harbour/minutes.md", "# Minutes of the harbour board\n\nThe board lowers the dues of small boats in winter.\n")
    for name, fixture in COPIES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / fixture, home / name)
    then = time.mktime((2026, 9, 20, 12, 0, 0, 0, 0, -1))
    for path in home.rglob("*"):
        os.utime(path, (then, then))
