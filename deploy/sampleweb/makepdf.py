# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes small, real PDF files: text pages, an Info dictionary, XMP metadata, a password, padding.

The result depends on the arguments alone, so that digests can be compared between runs. Standard library only.
"""

import hashlib
import textwrap
import zlib

PAGE_WIDTH, PAGE_HEIGHT, MARGIN, LEADING = 595, 842, 64, 15
LINES_PER_PAGE = (PAGE_HEIGHT - 2 * MARGIN) // LEADING
COLUMNS = 88
# The 32 bytes with which the standard security handler fills passwords up (ISO 32000-1, 7.6.3.3).
PASSWORD_PADDING = bytes.fromhex(
    "28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def rc4(key, data):
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) & 255
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) & 255
        j = (j + state[i]) & 255
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) & 255])
    return bytes(out)


class Security:
    """The standard security handler, revision 3 with 128-bit RC4 (ISO 32000-1, 7.6.3)."""

    PERMISSIONS = -44  # reading, printing and copying; no changes

    def __init__(self, user_password, file_id):
        user = (user_password.encode("latin-1") + PASSWORD_PADDING)[:32]
        key = hashlib.md5(user).digest()
        for _ in range(50):
            key = hashlib.md5(key).digest()
        self.owner = self._rounds(key, user)
        key = hashlib.md5(
            user + self.owner + (self.PERMISSIONS & 0xFFFFFFFF).to_bytes(4, "little") + file_id).digest()
        for _ in range(50):
            key = hashlib.md5(key).digest()
        self.key = key
        self.user = self._rounds(key, hashlib.md5(PASSWORD_PADDING + file_id).digest()) + bytes(16)

    @staticmethod
    def _rounds(key, data):
        for number in range(20):
            data = rc4(bytes(byte ^ number for byte in key), data)
        return data

    def encrypt(self, number, data):
        key = hashlib.md5(self.key + number.to_bytes(3, "little") + b"\0\0").digest()
        return rc4(key, data)

    def dictionary(self):
        return (f"<< /Filter /Standard /V 2 /R 3 /Length 128 /P {self.PERMISSIONS} "
                f"/O <{self.owner.hex()}> /U <{self.user.hex()}> >>").encode()


class Writer:
    """Collects numbered objects and joins them into a file with its cross-reference table."""

    def __init__(self, file_id, password=None):
        self.objects = [None]  # number 0 is the head of the free list
        self.file_id = file_id
        self.security = Security(password, file_id) if password else None

    def reserve(self):
        self.objects.append(b"")
        return len(self.objects) - 1

    def put(self, number, data):
        self.objects[number] = data
        return number

    def string(self, number, text):
        """A text string of object number, as UTF-16 where PDFDocEncoding's ASCII part does not do."""
        data = text.encode() if text.isascii() else b"\xfe\xff" + text.encode("utf-16-be")
        if self.security:
            data = self.security.encrypt(number, data)
        return b"<" + data.hex().encode() + b">"

    def stream(self, number, data, extra=b""):
        if self.security:
            data = self.security.encrypt(number, data)
        self.put(number, b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), extra, data))

    def finish(self, root, info):
        encrypt = None
        if self.security:
            encrypt = self.put(self.reserve(), self.security.dictionary())
        out = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
        offsets = []
        for number, data in enumerate(self.objects[1:], 1):
            offsets.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, data)
        start = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
        for offset in offsets:
            out += b"%010d 00000 n \n" % offset
        ident = self.file_id.hex().encode()
        out += b"trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R /ID [<%s> <%s>]" % (
            len(offsets) + 1, root, info, ident, ident)
        if encrypt:
            out += b" /Encrypt %d 0 R" % encrypt
        out += b" >>\nstartxref\n%d\n%%%%EOF\n" % start
        return bytes(out)


def page_content(lines):
    """The drawing operators of one page of text."""
    out = [b"BT /F1 10.5 Tf %d TL %d %d Td" % (LEADING, MARGIN, PAGE_HEIGHT - MARGIN)]
    for line in lines:
        escaped = line.encode("cp1252", "replace")
        for char in (b"\\", b"(", b")"):
            escaped = escaped.replace(char, b"\\" + char)
        out.append(b"(" + escaped + b") Tj T*")
    out.append(b"ET")
    return b"\n".join(out)


def table_lines(page):
    """A page of an appendix: readings that follow from their own numbers."""
    lines = [f"Appendix, sheet {page}", "", "station    depth (m)    salinity    temperature (C)    count"]
    for row in range(LINES_PER_PAGE - 6):
        seed = (page * 7919 + row * 104729) % 9973
        lines.append(f"  {row + 1:>4}       {seed % 190 / 10:6.1f}      {20 + seed % 150 / 10:6.1f}"
                     f"           {4 + seed % 130 / 10:6.1f}        {seed % 611:5d}")
    return lines


def split_pages(title, text, pages):
    lines = textwrap.wrap(title, COLUMNS) + [""]
    for paragraph in text.split("\n\n"):
        lines += textwrap.wrap(" ".join(paragraph.split()), COLUMNS) + [""]
    sheets = [lines[i:i + LINES_PER_PAGE] for i in range(0, len(lines), LINES_PER_PAGE)]
    while len(sheets) < pages:
        sheets.append(table_lines(len(sheets)))
    return sheets


def xmp_packet(title, author, doi):
    def escaped(value):
        return value.replace("&", "&amp;").replace("<", "&lt;")
    return f"""<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/">
   <dc:title><rdf:Alt><rdf:li xml:lang="x-default">{escaped(title)}</rdf:li></rdf:Alt></dc:title>
   <dc:creator><rdf:Seq><rdf:li>{escaped(author)}</rdf:li></rdf:Seq></dc:creator>
   <prism:doi>{escaped(doi or "")}</prism:doi>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>""".encode()


def make_pdf(title, text, author="", pages=1, doi=None, xmp=False, password=None, pad_bytes=0, cut_bytes=None):
    """The bytes of a PDF with at least so many pages. pad_bytes adds that much incompressible data in an
    attached stream; cut_bytes keeps only the beginning of the file."""
    file_id = hashlib.md5(f"{title}\0{author}\0{pages}".encode()).digest()
    writer = Writer(file_id, password)
    catalog, tree, font, info = (writer.reserve() for _ in range(4))
    kids = []
    for lines in split_pages(title, text, pages):
        content, page = writer.reserve(), writer.reserve()
        writer.stream(content, zlib.compress(page_content(lines)), b"/Filter /FlateDecode")
        writer.put(page, b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R "
                         b"/Resources << /Font << /F1 %d 0 R >> >> >>" %
                   (tree, PAGE_WIDTH, PAGE_HEIGHT, content, font))
        kids.append(b"%d 0 R" % page)
    writer.put(tree, b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids)))
    writer.put(font, b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    metadata = b""
    if xmp:
        number = writer.reserve()
        writer.stream(number, xmp_packet(title, author, doi), b"/Type /Metadata /Subtype /XML")
        metadata = b" /Metadata %d 0 R" % number
    if pad_bytes:
        blocks = (hashlib.sha256(f"{title}{i}".encode()).digest() for i in range((pad_bytes + 31) // 32))
        number = writer.reserve()
        writer.stream(number, b"".join(blocks)[:pad_bytes])
        metadata += b" /PieceInfo << /Sample << /Private %d 0 R >> >>" % number
    writer.put(catalog, b"<< /Type /Catalog /Pages %d 0 R%s >>" % (tree, metadata))
    writer.put(info, b"<< /Title %s /Author %s /Producer %s /CreationDate %s >>" % (
        writer.string(info, title), writer.string(info, author),
        writer.string(info, "sampleweb"), writer.string(info, "D:20220301120000Z")))
    data = writer.finish(catalog, info)
    return data[:cut_bytes] if cut_bytes else data
