#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the PDF files of tests/data/pdf, good and hostile, and larger hostile ones on demand.

usage: make_pdf.py all DIR          the files that are kept
       make_pdf.py bomb FILE [MB]   a content stream that inflates to MB megabytes (default 900)
       make_pdf.py pages FILE [N]   N pages of text (default 20)

The bytes depend on this file alone. Standard library only.
"""

import hashlib
import pathlib
import struct
import sys
import zlib

ID = bytes(range(16))
PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def rc4(key, data):
    s = list(range(256))
    j = 0
    for i in range(256):
        j = (j + s[i] + key[i % len(key)]) & 255
        s[i], s[j] = s[j], s[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) & 255
        j = (j + s[i]) & 255
        s[i], s[j] = s[j], s[i]
        out.append(byte ^ s[(s[i] + s[j]) & 255])
    return bytes(out)


def standard_key(user, owner):
    """Key, O and U of the standard security handler, revision 2 (ISO 32000-1, 7.6.3)."""
    pad = lambda password: (password + PADDING)[:32]
    entry_o = rc4(hashlib.md5(pad(owner or user)).digest()[:5], pad(user))
    key = hashlib.md5(pad(user) + entry_o + struct.pack("<i", -4) + ID).digest()[:5]
    return key, entry_o, rc4(key, PADDING)


class Pdf:
    """Objects by number; the caller writes references as `N 0 R`. Strings to be encrypted go through
    text(), streams through stream()."""

    def __init__(self, version="1.7", passwords=None):
        self.version = version
        self.objects = {}
        self.info = None
        self.key = None
        if passwords is not None:
            self.key, self.entry_o, self.entry_u = standard_key(*passwords)

    def crypt(self, number, data):
        if self.key is None:
            return data
        salt = struct.pack("<I", number)[:3] + b"\0\0"
        return rc4(hashlib.md5(self.key + salt).digest()[:10], data)

    def text(self, number, raw):
        return b"<" + self.crypt(number, raw).hex().encode() + b">"

    def add(self, number, body):
        self.objects[number] = body if isinstance(body, bytes) else body.encode("latin-1")

    def stream(self, number, data, extra="", deflate=False, length=None):
        if deflate:
            data, extra = zlib.compress(data, 9), extra + "/Filter/FlateDecode"
        data = self.crypt(number, data)
        head = f"<<{extra}/Length {len(data) if length is None else length}>>\nstream\n"
        self.add(number, head.encode() + data + b"\nendstream")

    def tree(self, pages, first=10, resources="<</Font<</F 3 0 R>>>>"):
        """Catalog 1, page tree 2, Helvetica 3; each page takes two numbers from `first` on."""
        kids = " ".join(f"{first + 2 * i} 0 R" for i in range(len(pages)))
        self.add(2, f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>")
        self.add(3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
        for i, content in enumerate(pages):
            at = first + 2 * i
            self.add(at, f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]"
                         f"/Resources {resources}/Contents {at + 1} 0 R>>")
            self.stream(at + 1, content)

    def bytes(self, catalog="<</Type/Catalog/Pages 2 0 R>>"):
        self.objects.setdefault(1, catalog.encode())
        out = bytearray(f"%PDF-{self.version}\n%\xe2\xe3\xcf\xd3\n".encode("latin-1"))
        offsets = {}
        for number in sorted(self.objects):
            offsets[number] = len(out)
            out += b"%d 0 obj\n" % number + self.objects[number] + b"\nendobj\n"
        size = max(offsets) + 1
        start = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % size
        for number in range(1, size):
            out += (b"%010d 00000 n \n" % offsets[number] if number in offsets
                    else b"0000000000 00001 f \n")
        trailer = f"/Root 1 0 R/Size {size}/ID[<{ID.hex()}><{ID[::-1].hex()}>]"
        if self.info is not None:
            trailer += f"/Info {self.info} 0 R"
        if self.key is not None:
            trailer += (f"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{self.entry_o.hex()}>"
                        f"/U<{self.entry_u.hex()}>>>")
        return bytes(out) + f"trailer\n<<{trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()


def lines(*rows, top=760, size=11):
    """A content stream of text rows, first one at `top`."""
    out = [f"BT /F {size} Tf 14 TL 72 {top} Td"]
    for row in rows:
        escaped = row.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        out.append(f"({escaped}) Tj T*")
    return ("\n".join(out) + "\nET\n").encode("latin-1")


def article():
    """Two pages, an Info dictionary with dates, XMP, a UTF-16 title, another page size."""
    pdf = Pdf("1.5")
    pdf.tree([lines("On the drift of buoys", "Ada Quill", "", "The tide carries a buoy seven miles."),
              lines("Two words")])
    title = "\ufeffÜber das Treiben von Bojen".encode("utf-16-be")
    pdf.info = 4
    pdf.add(4, b"<</Title " + pdf.text(4, title) + b"/Author(Ada Quill)/Subject(Drift)"
            b"/Keywords(buoy, tide)/Creator(make_pdf)/Producer(make_pdf 1)"
            b"/CreationDate(D:20190422133000+02'00')/ModDate(D:20190423080910Z)>>")
    xmp = ('<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
           '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
           'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>\n'
           '<?xpacket end="w"?>').encode()
    pdf.stream(5, xmp, "/Type/Metadata/Subtype/XML")
    return pdf.bytes("<</Type/Catalog/Pages 2 0 R/Metadata 5 0 R>>")


def scripts():
    """Greek, Cyrillic, Arabic and Chinese by a ToUnicode map; the font itself is not embedded."""
    words = ["Ελληνικά", "кириллица", "漢字", "𝒳"]
    codes = "".join(f"{i:04x}" for i in range(1, sum(map(len, words)) + 1))
    pdf = Pdf("1.4")
    content, at, maps = ["BT /F 12 Tf 72 700 Td"], 1, []
    for word in words:
        content.append(f"<{codes[4 * (at - 1):4 * (at - 1 + len(word))]}> Tj 0 -30 Td")
        for char in word:
            maps.append(f"<{at:04x}> <{char.encode('utf-16-be').hex()}>")
            at += 1
    pdf.tree([("\n".join(content) + "\nET\n").encode()], resources="<</Font<</F 6 0 R>>>>")
    pdf.add(6, "<</Type/Font/Subtype/Type0/BaseFont/Nowhere/Encoding/Identity-H"
               "/DescendantFonts[7 0 R]/ToUnicode 8 0 R>>")
    pdf.add(7, "<</Type/Font/Subtype/CIDFontType2/BaseFont/Nowhere/DW 800"
               "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
               "/FontDescriptor<</Type/FontDescriptor/FontName/Nowhere/Flags 4/ItalicAngle 0"
               "/FontBBox[0 0 1000 1000]/Ascent 800/Descent -200/CapHeight 700/StemV 80>>>>")
    pdf.stream(8, ("/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
                   "/CMapName /X def /CMapType 2 def\n"
                   "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
                   f"{len(maps)} beginbfchar\n" + "\n".join(maps) + "\nendbfchar\n"
                   "endcmap end end\n").encode())
    return pdf.bytes()


def with_info(entries):
    pdf = Pdf("1.4")
    pdf.tree([lines("some words")])
    pdf.info = 4
    pdf.add(4, b"<<" + entries + b">>")
    return pdf.bytes()


def odd_info():
    """Keys that no standard knows, values of every type, and strings in every encoding that producers write."""
    return with_info(
        b"/Title(\x84 \x8dquoted\x8e \xa0 5 \\374ber)"              # PDFDocEncoding
        b"/Author(" + "Zo\u00eb \u0158ezn\u00ed\u010dek".encode() + b")"  # UTF-8 that does not say so
        b"/Subject(\xef\xbb\xbf" + "\u00fc".encode() + b")"           # UTF-8 that says so
        b"/Keywords<fffe6200fc00>"                                    # UTF-16, little-endian
        b"/Creator<feff001b0065006e001b0041d835dcb3>"                 # a language code, a pair
        b"/Producer(tab\there\x01\x02 \0\0)"
        b"/CreationDate(spring of 2019)/ModDate(D:2019)"
        b"/SourceModified(D:20190422133000+02'00')"
        b"/doi(10.1234/tides.41)/Two#20words(3)/Trapped/False/Copies 3/Ratio 1.5/Signed true"
        b"/Nested<</A(b)>>/List[1 2]/Nothing null")


def many_keys(count):
    return with_info(b"".join(b"/A%06d(x)" % i for i in range(count)) + b"/Title(Found)/doi(10.1234/5)")


def two_columns(by_rows):
    """The same two columns, drawn one after the other or row by row."""
    left = ["Here begins the left column, and",
            "its lines are di-", "vided here and there by hyphens, as"] + [
            f"line {i} of the left column goes on and" for i in range(30)] + ["this is the last line of the left one."]
    right = ["Here begins the right column, whose"] + [f"line {i} of the right column goes on and" for i in range(33)]
    items = [(c, r, text) for c, column in enumerate((left, right)) for r, text in enumerate(column)]
    if by_rows:
        items.sort(key=lambda item: (item[1], item[0]))
    rows = "".join(f"1 0 0 1 {60 + 250 * c} {780 - 14 * r} Tm ({text}) Tj\n" for c, r, text in items)
    pdf = Pdf()
    pdf.tree([f"BT /F 10 Tf\n{rows}ET\n".encode()])
    return pdf.bytes()


def sized(box, extra=""):
    """A page of that size with a black square in its middle."""
    x0, y0, x1, y1 = map(float, box.split())
    side = min(x1 - x0, y1 - y0) / 2
    content = f"{(x0 + x1 - side) / 2} {(y0 + y1 - side) / 2} {side} {side} re f\n"
    pdf = Pdf()
    pdf.tree([content.encode()])
    pdf.add(10, f"<</Type/Page/Parent 2 0 R/MediaBox[{box}]{extra}/Contents 11 0 R>>")
    return pdf.bytes()


def encrypted(user, owner):
    pdf = Pdf("1.4", passwords=(user, owner))
    pdf.tree([lines("locked words")])
    pdf.info = 4
    pdf.add(4, b"<</Title " + pdf.text(4, b"Locked") + b">>")
    return pdf.bytes()


def page_tree_loop():
    """The page tree holds itself, and says it has more pages than there are."""
    pdf = Pdf()
    pdf.tree([lines("once")])
    pdf.add(2, "<</Type/Pages/Kids[10 0 R 2 0 R 4 0 R]/Count 9>>")
    pdf.add(4, "<</Type/Pages/Kids[2 0 R]/Count 4/Parent 4 0 R>>")
    return pdf.bytes()


def object_loop():
    """A form that draws itself, a stream whose length is itself, a font that is its own descendant."""
    pdf = Pdf()
    pdf.tree([b"/X Do BT /F 9 Tf 9 9 Td (seen) Tj /G 9 Tf (x) Tj ET"],
             resources="<</XObject<</X 6 0 R>>/Font<</F 3 0 R/G 7 0 R>>>>")
    pdf.stream(6, b"/X Do /X Do", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]"
                                  "/Resources<</XObject<</X 6 0 R>>>>", length="8 0 R")
    pdf.add(7, "<</Type/Font/Subtype/Type0/BaseFont/L/Encoding 7 0 R/DescendantFonts[7 0 R]"
               "/ToUnicode 7 0 R>>")
    pdf.add(8, "8 0 R")
    return pdf.bytes()


def empty_tree(kids, count):
    pdf = Pdf()
    pdf.add(2, f"<</Type/Pages/Kids[{kids}]/Count {count}>>")
    pdf.add(4, "(not a page)")
    return pdf.bytes()


def text_bomb():
    """Thirty pages that share a content of 40,000 letters, deflated twice: over a million in all."""
    content = lines(*[f"{i:03}" + "tide " * 20 for i in range(390)], top=1980, size=5)
    pdf = Pdf()
    pdf.tree([b""] * 30)
    for at in range(10, 70, 2):
        del pdf.objects[at + 1]
        pdf.add(at, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 2000 2000]"
                    "/Resources<</Font<</F 3 0 R>>>>/Contents 4 0 R>>")
    packed = zlib.compress(content.replace(b"14 TL", b"5 TL"), 9)
    pdf.stream(4, zlib.compress(packed, 9), "/Filter[/FlateDecode/FlateDecode]")
    return pdf.bytes()


def bomb(megabytes):
    """Text operators without end, deflated twice."""
    unit = b"(x) Tj T*\n" * 100000
    packer = zlib.compressobj(9)
    data = bytearray(packer.compress(b"BT /F 9 Tf 9 TL 9 700 Td\n"))
    for _ in range(megabytes):
        data += packer.compress(unit)
    data += packer.compress(b"ET\n") + packer.flush()
    pdf = Pdf()
    pdf.tree([b""])
    pdf.stream(11, zlib.compress(bytes(data), 9), "/Filter[/FlateDecode/FlateDecode]")
    return pdf.bytes()


def pages(count):
    pdf = Pdf()
    row = "The tide leaves a line of shells, and the archive keeps it for another year."
    pdf.tree([lines(*[f"{n}.{i} {row}" for i in range(45)]) for n in range(count)])
    return pdf.bytes()


def write_all(folder):
    good = article()
    kept = {
        "article.pdf": good,
        "scripts.pdf": scripts(),
        "password.pdf": encrypted(b"secret", b"owner"),
        "permissions.pdf": encrypted(b"", b"owner"),
        "truncated.pdf": good[:len(good) // 2],
        "header_only.pdf": b"%PDF-1.4\n",
        "junk_before.pdf": b"HTTP/1.1 200 OK\r\n\r\n" + good,
        "page_tree_loop.pdf": page_tree_loop(),
        "object_loop.pdf": object_loop(),
        "odd_info.pdf": odd_info(),
        "bad_unicode.pdf": with_info(b"/Title<feff0041d8350042>/Author(Ada Quill)"),
        "bad_key.pdf": with_info(b"/Titl#e9(Tides)"),
        "many_keys.pdf": many_keys(1500),
        "columns.pdf": two_columns(False),
        "rows.pdf": two_columns(True),
        "tall.pdf": sized("0 0 100 1000"),
        "wide.pdf": sized("-500 0 500 100"),
        "small.pdf": sized("0 0 90 60"),
        "rotated.pdf": sized("0 0 600 300", "/Rotate 90"),
        "huge_page.pdf": sized("0 0 99999999 99999999"),
        "flat_page.pdf": sized("0 0 1000000 1"),
        "no_pages.pdf": empty_tree("", 0),
        "no_page0.pdf": empty_tree("4 0 R", 1),
        "text_bomb.pdf": text_bomb(),
        "renamed_zip.pdf": b"PK\x03\x04\x14" + b"\0" * 21 + b"\5\0\0\0a.txt" + b"%" * 20,
    }
    for name, data in kept.items():
        (pathlib.Path(folder) / name).write_bytes(data)


def main(args):
    if len(args) == 2 and args[0] == "all":
        write_all(args[1])
    elif len(args) in (2, 3) and args[0] == "bomb":
        pathlib.Path(args[1]).write_bytes(bomb(int(args[2]) if len(args) == 3 else 900))
    elif len(args) in (2, 3) and args[0] == "pages":
        pathlib.Path(args[1]).write_bytes(pages(int(args[2]) if len(args) == 3 else 20))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
