#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the hostile set: bodies that break, blow up or outlast the parsers of documents.

usage: make.py DIRECTORY

Deterministic, standard library only. Kept as a script because the files are large or would upset scanners.
"""
import gzip
import hashlib
import io
import pathlib
import random
import sys
import zipfile
import zlib


def pdf(objects, trailer=b"", version=b"1.5"):
    """A PDF with a right cross-reference table; objects are bodies, numbered from 1, the first being the catalog."""
    out = bytearray(b"%PDF-" + version + b"\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        out += b"%010d 00000 n \n" % offset
    out += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)


def stream(data, extra=b""):
    return b"<</Length %d%s>>\nstream\n" % (len(data), extra) + data + b"\nendstream"


CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def one_page(contents, extra_objects=(), resources=b"/Font<</F 5 0 R>>", trailer=b"", page_extra=b""):
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<<"
        + resources + b">>" + page_extra + b">>"
    )
    pages = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
    return pdf([CATALOG, pages, page, contents, FONT, *extra_objects], trailer)


def good():
    text = b"BT /F 12 Tf 72 700 Td (A good document, with some words in it.) Tj ET"
    return one_page(stream(text), trailer=b"/Info<</Title(Good)>>")


def chinese():
    """Text in a font that is named only: its characters are known from poppler's own tables."""
    font = b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/GBK-EUC-H/DescendantFonts[7 0 R]>>"
    descendant = (b"<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/DW 1000/FontDescriptor 8 0 R"
                  b"/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>>>")
    descriptor = (b"<</Type/FontDescriptor/FontName/STSong-Light/Flags 6/FontBBox[0 -200 1000 900]/ItalicAngle 0"
                  b"/Ascent 800/Descent -200/CapHeight 700/StemV 80>>")
    return one_page(stream(b"BT /G 12 Tf 72 700 Td <D6D0CEC4> Tj ET"), [font, descendant, descriptor],
                    b"/Font<</G 6 0 R>>")


def encrypted():
    """A password nobody knows: the standard handler's fields are digests of noise."""
    noise = hashlib.sha256(b"nobody knows").digest()
    crypt = b"/Encrypt<</Filter/Standard/V 1/R 2/P -44/O<%s>/U<%s>>>/ID[<%s><%s>]" % (
        noise.hex().encode(), noise[::-1].hex().encode(), b"00" * 16, b"11" * 16)
    return one_page(stream(b"BT /F 12 Tf 72 700 Td (secret) Tj ET"), trailer=crypt)


def zip_renamed():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        info = zipfile.ZipInfo("article.txt", (2021, 1, 1, 0, 0, 0))
        z.writestr(info, "not a PDF\n" * 100)
    return out.getvalue()


def page_bomb():
    """Nine levels of ten shared children each: a thousand million pages in two kilobytes."""
    objects = [CATALOG]
    for level in range(9):
        kids = b" ".join(b"%d 0 R" % (level + 3) for _ in range(10))
        objects.append(b"<</Type/Pages/Kids[" + kids + b"]/Count %d>>" % 10 ** (9 - level))
    objects.append(b"<</Type/Page/MediaBox[0 0 9 9]/Contents %d 0 R>>" % (len(objects) + 2))
    objects.append(stream(b"BT ET"))
    return pdf(objects)


def many_pages():
    """Honest pages, but a quarter of a million of them, each with the same contents."""
    count = 250000
    objects = [CATALOG, b"<</Type/Pages/Count %d/Kids[" % count
               + b" ".join(b"%d 0 R" % (n + 5) for n in range(count)) + b"]>>",
               stream(b"BT /F 9 Tf 9 700 Td (" + b"word " * 400 + b") Tj ET"), FONT]
    page = (b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 3 0 R"
            b"/Resources<</Font<</F 4 0 R>>>>>>")
    return pdf(objects + [page] * count)


def object_loop():
    """Everything refers to itself: page tree, length, contents, form, cross-reference table."""
    form = stream(b"/X Do /X Do", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>")
    body = one_page(b"<</Length 4 0 R>>\nstream\n/X Do\nendstream", [form], b"/XObject<</X 6 0 R>>")
    body = body.replace(b"/Kids[3 0 R]/Count 1", b"/Kids[2 0 R 3 0 R 2 0 R]/Count 9")
    start = body.rindex(b"startxref\n") + 10
    offset = body[start:].split(b"\n")[0]
    return body.replace(b"trailer\n<<", b"trailer\n<</Prev " + offset + b" ")


def form_bomb():
    """Forms that draw ten others each, ten levels deep: no loop, just 10**10 pieces of text."""
    forms = []
    for level in range(10):
        inner = b"/X Do " * 10 if level < 9 else b"BT /F 9 Tf (x) Tj ET"
        resources = b"/Font<</F 5 0 R>>/XObject<</X %d 0 R>>" % (level + 7)
        forms.append(stream(inner, b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<<" + resources + b">>"))
    return one_page(stream(b"/X Do"), forms, b"/XObject<</X 6 0 R>>")


def deflate_zeros(total, fill=b"\0"):
    engine = zlib.compressobj(9)
    block = fill * (1 << 20)
    out = bytearray()
    for _ in range(total >> 20):
        out += engine.compress(block)
    return bytes(out + engine.flush())


def flate_bomb():
    """Contents of 900 MB of blanks behind a small stream, and twice compressed."""
    inner = deflate_zeros(900 << 20, b" ")
    return one_page(stream(zlib.compress(inner, 9), b"/Filter[/FlateDecode/FlateDecode]"))


def font_bomb():
    """A font whose program unpacks to a gigabyte; it has to be looked at for the text's widths."""
    font = b"<</Type/Font/Subtype/TrueType/BaseFont/X/FontDescriptor 7 0 R/FirstChar 32/LastChar 33/Widths[1 1]>>"
    descriptor = b"<</Type/FontDescriptor/FontName/X/Flags 4/FontFile2 8 0 R>>"
    program = stream(zlib.compress(deflate_zeros(1 << 30), 9), b"/Filter[/FlateDecode/FlateDecode]")
    return one_page(stream(b"BT /G 9 Tf 72 700 Td (!!) Tj ET"), [font, descriptor, program], b"/Font<</G 6 0 R>>")


def nested_arrays():
    return one_page(stream(b"[" * 2000000 + b"] TJ"), page_extra=b"/A" + b"[" * 500000 + b"]" * 500000)


def text_flood():
    """Eight million characters on one page, in fifty kilobytes: over the ceiling of what is kept, if it is read at all."""
    line = b"(" + b"wide " * 4000 + b") Tj 0 1 Td\n"
    text = b"BT /F 4 Tf 1 Tz 1 1 Td " + line * 400 + b"ET"
    return one_page(stream(zlib.compress(text, 9), b"/Filter/FlateDecode"))


# The following have a text that costs nothing; the rest costs more than anyone has. Soft masks and shadings are looked at
# for the text, too.
WORDS = b"BT /F 12 Tf 72 700 Td (Words that stay.) Tj ET\n"


def huge_page():
    box = b"/MediaBox[-1000000000 -1000000000 1000000000 1000000000]"
    return one_page(stream(WORDS + b"0 0 1000000000 1000000000 re f"), page_extra=box)


def info_keys():
    """A million keys in the Info dictionary."""
    info = b"/Info<<" + b"".join(b"/K%d(v)" % n for n in range(1_000_000)) + b"/Title(Found)>>"
    return one_page(stream(WORDS), trailer=info)


def info_value():
    """A title of 64 MB."""
    return one_page(stream(WORDS), trailer=b"/Info<</Title(" + b"title " * (64 << 20 >> 3) + b")>>")


def info_nested():
    return one_page(stream(WORDS), trailer=b"/Info<</Title(Found)/A" + b"[" * 400_000 + b"]" * 400_000 + b">>")


def image_bomb():
    """A bitmap of 3,600 million white pixels, in no bytes at all; and one of 256 million in a quarter of a megabyte."""
    fax = stream(b"\0\x10\x01\0\x10\x01", b"/Type/XObject/Subtype/Image/Width 60000/Height 60000/BitsPerComponent 1"
                 b"/ColorSpace/DeviceGray/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 60000/Rows 60000>>")
    flat = stream(deflate_zeros(256 << 20), b"/Type/XObject/Subtype/Image/Width 16384/Height 16384/BitsPerComponent 8"
                  b"/ColorSpace/DeviceGray/Filter/FlateDecode")
    return one_page(stream(WORDS + b"q 612 0 0 792 0 0 cm /X Do /Y Do Q"), [fax, flat],
                    b"/Font<</F 5 0 R>>/XObject<</X 6 0 R/Y 7 0 R>>")


def pattern_bomb():
    """Tiles of a thousandth of a point, each filled with the pattern itself."""
    tile = stream(b"/Pattern cs /P scn 0 0 9 9 re f 0 0 1 rg 0 0 9 9 re f",
                  b"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep .001/YStep .001"
                  b"/Resources<</Pattern<</P 6 0 R>>>>")
    return one_page(stream(WORDS + b"/Pattern cs /P scn 0 0 612 792 re f"), [tile],
                    b"/Font<</F 5 0 R>>/Pattern<</P 6 0 R>>")


def dash_bomb():
    """A line of a thousand million dashes."""
    return one_page(stream(WORDS + b"[.0000001 .0000001] 0 d 0 0 m 600 700 l S"))


def group_bomb():
    """Transparency groups in the soft masks of one another, eight times each."""
    objects = []
    for level in range(12):
        number = 6 + 2 * level
        inner = b"/G gs 0 0 600 700 re f " * 8 if level < 11 else b"0 0 600 700 re f"
        objects.append(b"<</Type/ExtGState/BM/Multiply/SMask<</S/Luminosity/G %d 0 R>>>>" % (number + 1))
        state = b"/ExtGState<</G %d 0 R>>" % (number + 2)
        objects.append(stream(inner, b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Group<</S/Transparency/CS/DeviceRGB/I true>>"
                              b"/Resources<<" + state + b">>"))
    objects.append(b"<</Type/ExtGState>>")
    return one_page(stream(WORDS + b"/G gs 0 0 600 700 re f"), objects, b"/Font<</F 5 0 R>>/ExtGState<</G 6 0 R>>")


def shading_bomb():
    """A shading whose function is a program without end, as far as that goes."""
    program = stream(b"{ " + b"dup mul sqrt " * 200_000 + b" dup dup }", b"/FunctionType 4/Domain[0 1 0 1]/Range[0 1 0 1 0 1]")
    shading = b"<</ShadingType 1/ColorSpace/DeviceRGB/Domain[0 1 0 1]/Matrix[612 0 0 792 0 0]/Function 7 0 R>>"
    return one_page(stream(WORDS + b"/S sh"), [shading, program], b"/Font<</F 5 0 R>>/Shading<</S 6 0 R>>")


def deep_html():
    return b"<!DOCTYPE html><title>Deep</title>" + b"<div>" * 200000 + b"bottom"


def attributes_html():
    attributes = b" ".join(b"a%d=%d" % (n, n) for n in range(100000))
    return b"<!DOCTYPE html><title>Wide</title><body " + attributes + b"><p>text"


def formatting_html():
    """Formatting elements that are never closed in order are opened again in every paragraph."""
    tags = (b"b", b"i", b"u", b"em", b"font", b"code", b"big", b"s")
    out = bytearray(b"<!DOCTYPE html><title>Formatting</title>")
    for n in range(1500):
        out += b"<p><%s class=c%d><%s id=i%d></p>" % (tags[n % 8], n, tags[(n + 3) % 8], n)
    return bytes(out)


def table_html():
    """Misplaced text in nested tables is moved before each of them."""
    return b"<!DOCTYPE html><title>Tables</title>" + b"<table>x<tr>y<td>" * 20000


def names_html():
    return b"<!DOCTYPE html><title>Names</title>" + b"".join(b"<n%d>" % n for n in range(300000))


def text_html():
    """Half a million nodes of main text, in blocks of every kind as deep as they may be."""
    part = b"<p>Words of the text, and more.<ul><li>a<b>b<i>c</b><blockquote>d<table><tr><td>e<td>f</table><dl><dt>g<dd>h<h2>i</h2><math><mi>j</math>"
    return b"<!DOCTYPE html><title>Text</title>" + part * 20 + (b"<p>Words of the text, and more.<a href=/x>l</a><b>m<br>n</b>" * 100000)


def unclosed_html():
    return b"<!DOCTYPE html><title>" + b"x" * (15 << 20)


def entity_bomb():
    lines = [b'<?xml version="1.0"?>', b"<!DOCTYPE lolz [", b'<!ENTITY lol0 "lol">']
    for n in range(1, 12):
        lines.append(b'<!ENTITY lol%d "%s">' % (n, b"&lol%d;" % (n - 1) * 10))
    return b"\n".join(lines + [b"]>", b"<lolz>&lol11;</lolz>"]) + b"\n"


def external_entity():
    return (b'<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n'
            b"<a>&e;</a>\n")


def garbage():
    return random.Random(7).randbytes(300000)


def pdf_garbage():
    return b"%PDF-1.7\n" + random.Random(8).randbytes(300000) + b"\nstartxref\n9\n%%EOF\n"


def gzip_bomb():
    """Two gigabytes of zeros in two megabytes."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9, mtime=0) as z:
        for _ in range(2048):
            z.write(bytes(1 << 20))
    return out.getvalue()


def cut_gzip():
    return gzip.compress(good(), mtime=0)[:200]


def idle_gzip():
    """Empty stored blocks, ten megabytes of them, as gzip in gzip: 15 KB that take time and yield nothing."""
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    blocks = b"\0\0\0\xff\xff" * 2_000_000 + b"\1\0\0\xff\xff"
    return gzip.compress(head + blocks + bytes(8), mtime=0)


def mutated(seed):
    """A good PDF with a few dozen bytes changed."""
    body = bytearray(good())
    dice = random.Random(seed)
    for _ in range(40):
        body[dice.randrange(9, len(body))] = dice.randrange(256)
    return bytes(body)


FILES = {
    "good.pdf": good,
    "chinese.pdf": chinese,
    "truncated.pdf": lambda: good()[:400],
    "encrypted.pdf": encrypted,
    "zip-renamed.pdf": zip_renamed,
    "page-bomb.pdf": page_bomb,
    "many-pages.pdf": many_pages,
    "object-loop.pdf": object_loop,
    "form-bomb.pdf": form_bomb,
    "flate-bomb.pdf": flate_bomb,
    "font-bomb.pdf": font_bomb,
    "nested-arrays.pdf": nested_arrays,
    "text-flood.pdf": text_flood,
    "huge-page.pdf": huge_page,
    "info-keys.pdf": info_keys,
    "info-value.pdf": info_value,
    "info-nested.pdf": info_nested,
    "image-bomb.pdf": image_bomb,
    "pattern-bomb.pdf": pattern_bomb,
    "dash-bomb.pdf": dash_bomb,
    "group-bomb.pdf": group_bomb,
    "shading-bomb.pdf": shading_bomb,
    "garbage.pdf": pdf_garbage,
    "mutated-1.pdf": lambda: mutated(1),
    "mutated-2.pdf": lambda: mutated(2),
    "mutated-3.pdf": lambda: mutated(3),
    "deep.html": deep_html,
    "attributes.html": attributes_html,
    "formatting.html": formatting_html,
    "tables.html": table_html,
    "names.html": names_html,
    "text.html": text_html,
    "unclosed.html": unclosed_html,
    "entity-bomb.xml": entity_bomb,
    "external-entity.xml": external_entity,
    "garbage.bin": garbage,
    "bomb.html.gz": gzip_bomb,
    "cut.pdf.gz": cut_gzip,
    "idle.gz.gz": idle_gzip,
}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make.py DIRECTORY")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in FILES.items():
        (folder / name).write_bytes(make())


if __name__ == "__main__":
    main()
