# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads WARC files as they are, member by member, without a library that would forgive: each member is one record, has the length
that it says, and its digests are those of its bytes."""

import base64
import dataclasses
import hashlib
import zlib

CHUNK = 1 << 20
RESPONSES = (b"response", b"revisit")


@dataclasses.dataclass(slots=True)
class Record:
    file: str  # its name, without .open
    member: str  # of the fleet: whose folder it is in
    offset: int
    csize: int
    type: bytes
    url: str
    date: str
    payload: str  # sha1, base32, of the payload; "" without one
    status: int  # of the HTTP answer, or 0
    original: tuple  # of a revisit: (URL, date) of the record that has the body
    fault: str  # "": none


def members(file):
    """(offset, csize, bytes) of each gzip member; raises ValueError(offset) where there is none."""
    offset, rest = 0, b""
    while True:
        if not rest:
            rest = file.read(CHUNK)
            if not rest:
                return
        gzip, parts, size = zlib.decompressobj(16 + zlib.MAX_WBITS), [], 0
        while True:
            try:
                parts.append(gzip.decompress(rest))
            except zlib.error as error:
                raise ValueError(f"at offset {offset}: {error}") from None
            size += len(rest) - len(gzip.unused_data)
            if gzip.eof:
                break
            rest = file.read(CHUNK)
            if not rest:
                raise ValueError(f"at offset {offset}: the member is cut")
        rest = gzip.unused_data
        yield offset, size, b"".join(parts)
        offset += size


def sha1(data):
    return base64.b32encode(hashlib.sha1(data).digest()).decode()


def parse(text):
    """(headers with lower-case names, block, what is wrong or "")."""
    head, separator, rest = text.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    if not separator or not lines[0].startswith(b"WARC/1."):
        return {}, b"", "no WARC header"
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        headers[name.strip().lower()] = value.strip()
    length = int(headers.get(b"content-length", b"-1"))
    block = rest[:length] if length >= 0 else b""
    if length < 0 or rest[length:] != b"\r\n\r\n":
        return headers, block, f"{len(rest)} bytes follow the header, which says {length}"
    said = headers.get(b"warc-block-digest")
    if said and said.decode() != f"sha1:{sha1(block)}":
        return headers, block, "the block digest is wrong"
    return headers, block, ""


def payload_of(headers, block):
    if headers.get(b"content-type", b"").startswith(b"application/http"):
        return block.partition(b"\r\n\r\n")[2]
    return block


def status_of(kind, block):
    words = block[:32].split(b" ") if kind in RESPONSES else ()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def record_of(name, member, offset, csize, text):
    headers, block, fault = parse(text)
    kind = headers.get(b"warc-type", b"")
    said = headers.get(b"warc-payload-digest", b"").decode().removeprefix("sha1:")
    if not fault and kind == b"response" and said != sha1(payload_of(headers, block)):
        fault = "the payload digest is wrong"
    return Record(name, member, offset, csize, kind, headers.get(b"warc-target-uri", b"").decode(errors="replace"),
                  headers.get(b"warc-date", b"").decode(errors="replace"), said, status_of(kind, block),
                  tuple(headers.get(name, b"").decode(errors="replace")
                        for name in (b"warc-refers-to-target-uri", b"warc-refers-to-date")), fault)


def read_folder(folder, member):
    """The records of all files of a folder, and the faults of files as (path, text)."""
    found, faults = [], []
    for path in sorted(folder.glob("*.warc.gz*")):
        name = path.name.removesuffix(".open")
        try:
            with open(path, "rb") as file:
                for offset, csize, text in members(file):
                    found.append(record_of(name, member, offset, csize, text))
        except ValueError as error:
            faults.append((str(path), str(error)))
    return found, faults
