#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of the house that a compiler does not know. Prints FILE:LINE: what, and exits with 1 if there is any.

    lint.py banned     calls that are not to be made
    lint.py budgets    fuzz targets that do not say what an input may cost
    lint.py layout     comments that the formatter has broken
    lint.py licence    sources that do not begin with their licence
    lint.py metrics    rows of metrics.def that nobody counts
    lint.py rooms      includes that tests/rooms.txt does not allow
    lint.py scripts    scripts that their interpreter cannot read
    lint.py top        entries of the top level that do not belong there
    lint.py version    deploy/CHANGELOG.md, which begins with another version than the project's
    lint.py twins      struct tags and prefixes of enum constants that two modules define
    lint.py wrappers   foreign headers that are not included by the file that wraps their library
"""

import ast
import os
import re
import subprocess
import sys

TOP = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "common", "deploy", "rules", "schemas", "tests", "worker")

# Foreign headers, and the files or folders that include them: one file wraps a library, or each part of it that is used.
WRAPPERS = {
    "ares": ("worker/fetch/resolve.c",),
    "brotli/": ("common/data/decode.c",),
    "curl/": ("common/net/http_client.c", "common/net/multi", "worker/fetch/", "tests/"),
    "bzlib.h": ("common/data/unpack_bzip2.c", "tests/"),
    "gnutls/": ("common/net/http_server_tls.c",),
    "isa-l/": ("common/data/compress.c",),
    "jansson.h": ("common/data/json.h",),
    "lexbor/encoding/": ("common/markup/charset.c",),
    "lexbor/dom/": ("common/markup/html",),
    "lexbor/html/": ("common/markup/html", "common/markup/charset.c", "tests/bench/"),
    "lexbor/punycode/": ("common/net/idna.c",),
    "lexbor/unicode/": ("common/net/idna.c",),
    "lexbor/url/": ("common/net/url.c",),
    "jpeglib.h": ("worker/document/pdf_thumbnail.c",),
    "libpq-fe.h": ("common/data/pg", "tests/"),
    "libpsl.h": ("common/net/psl.c",),
    "librdkafka/": ("common/kafka/", "worker/ctl/", "worker/emit/", "worker/intake/", "worker/serve/", "tests/"),
    "libxml/": ("common/markup/xml",),
    "lzma.h": ("common/data/unpack_xz.c", "tests/"),
    "magic.h": ("common/data/sniff.c",),
    "microhttpd.h": ("common/net/http_server",),
    "openssl/": ("common/data/base64.c", "common/data/digest.c", "common/kafka/certificate.c", "worker/fetch/tls_sessions.c", "tests/"),
    "pcre2.h": ("worker/scrape/jsoup/regex.c", "worker/scrape/jsoup/regex_priv.h", "worker/scrape/jsoup/regex_steps.c"),
    "poppler.h": ("worker/document/pdf.c", "worker/document/pdf_thumbnail.c"),
    "qpdf/": ("worker/document/pdf_info.c",),
    "seccomp.h": ("worker/examine/seccomp.c",),
    "systemd/": ("worker/service/notify.c",),
    "unicase.h": ("common/data/unicode.c",),
    "unictype.h": ("common/data/unicode.c",),
    "uthash.h": ("common/base/hash.h",),
    "yaml.h": ("common/data/yaml.c",),
    "zstd": ("common/data/unpack_zstd.c", "tests/"),
    "zlib.h": ("common/data/compress.c", "common/data/decode.c", "tests/"),
}
FOREIGN = re.compile(r"^#\s*include\s+<([^>]+)>", re.MULTILINE)
BANNED = re.compile(r"\b(strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|gets|system)\s*\(")
# Comments and literals, which may say anything; newlines in them are kept so that lines can be counted.
PROSE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
INCLUDE = re.compile(r'^#\s*include\s+"([^"]+)"', re.MULTILINE)
# Of worker/model/metrics.def: where a room's metrics are counted, and a row.
ROOM = re.compile(r'^ROOM\((\w+), "([^"]+)"\)', re.MULTILINE)
METRIC = re.compile(r"^METRIC(?:_SET|_HISTOGRAM)?\((\w+), (\w+),", re.MULTILINE)
STRUCT = re.compile(r"^struct (ing_\w+) \{", re.MULTILINE)
ENUM = re.compile(r"^enum\s*\w*\s*\{([^}]*)\}", re.MULTILINE)
RULER = re.compile(r"^/\* -{20,}$")
LICENCE = "SPDX-License-Identifier: GPL-3.0-or-later"


def tracked(*patterns):
    """The tracked files that are still there."""
    out = subprocess.run(["git", "ls-files", "-z", *patterns], check=True, capture_output=True, text=True).stdout
    return [name for name in out.split("\0") if os.path.isfile(name)]


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def banned():
    for path in tracked("*.c", "*.h"):
        code = PROSE.sub(lambda found: "\n" * found.group().count("\n") + '""', read(path))
        for found in BANNED.finditer(code):
            yield path, line_of(code, found.start()), f"{found.group(1)} is banned"


def rooms_of(plan):
    """Each room's name and the rooms that it may include; those that its line names, with the number; errors of the plan itself."""
    rooms, explicit, errors = {}, {}, []
    for number, line in enumerate(read(plan).split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, rest = line.partition(":")
        allowed = set()
        explicit[name] = (number, set(rest.split()) - {"common", "worker"})
        for word in rest.split():
            known = {room for room in rooms if room == word or (word in ("common", "worker") and room.startswith(word + "/"))}
            allowed |= known
            if not known:
                errors.append((plan, number, f"{name} may include {word}, which is no room in a line above"))
        rooms[name] = allowed
    return rooms, explicit, errors


def room_of(path, rooms):
    """The innermost room: of worker/gate/backoff.h worker/gate/backoff where that is one, else worker/gate."""
    stem = os.path.splitext(path)[0]
    return max((room for room in rooms if stem == room or path.startswith(room + "/")), key=len, default=None)


def rooms():
    """Every include is written from the root and allowed by tests/rooms.txt, and nothing else is allowed there."""
    plan = "tests/rooms.txt"
    known, explicit, errors = rooms_of(plan)
    yield from errors
    used, arrows = set(), set()
    for path in tracked("common/*.c", "common/*.h", "worker/*.c", "worker/*.h"):
        text = read(path)
        home = room_of(path, known)
        used.add(home)
        if home is None:
            yield path, 1, f"stands in no room of {plan}"
            continue
        for found in INCLUDE.finditer(text):
            target = room_of(found.group(1), known)
            arrows.add((home, target))
            if found.group(1).startswith(("common/", "worker/")) and target != home and target not in known[home]:
                yield path, line_of(text, found.start()), f"{home} includes {found.group(1)}"
    for room, (number, allowed) in explicit.items():
        if room not in used:
            yield plan, number, f"{room} is empty"
        for target in sorted(allowed):
            if (room, target) not in arrows:
                yield plan, number, f"{room} does not include {target}"


def prefix_of(constants):
    """What the constants of an enum have in common, to the last _: ING_LANE_."""
    common = os.path.commonprefix(constants)
    return common[: common.rfind("_") + 1]


def twins():
    """A struct's tag, and the prefix of an enum's constants, belong to one module: a reader may search for them."""
    seen = {}
    for path in tracked("common/*.c", "common/*.h", "worker/*.c", "worker/*.h"):
        code = PROSE.sub(lambda found: "\n" * found.group().count("\n"), read(path))
        names = [(found.start(), f"struct {found.group(1)}") for found in STRUCT.finditer(code)]
        for found in ENUM.finditer(code):
            constants = re.findall(r"\b(ING_\w+)\s*(?==|,|$)", found.group(1).strip())
            if len(constants) > 1 and prefix_of(constants) not in ("", "ING_"):
                names.append((found.start(), f"enum constants {prefix_of(constants)}"))
        module = re.sub(r"(_priv)?\.[ch]$", "", path)
        for start, name in names:
            other = seen.setdefault(name, (module, path))
            if other[0] != module:
                yield path, line_of(code, start), f"{name} is also defined in {other[1]}"


def wrappers():
    """A foreign library is included by its wrapper alone."""
    for path in tracked("*.c", "*.h"):
        text = read(path)
        for found in FOREIGN.finditer(text):
            for header, allowed in WRAPPERS.items():
                if found.group(1).startswith(header) and not path.startswith(allowed):
                    yield path, line_of(text, found.start()), f"{found.group(1)} is included by {', '.join(allowed)} alone"


def licence():
    for path in tracked("*.c", "*.h", "*.py", "*.cmake", "CMakeLists.txt", "*/CMakeLists.txt", "tests/run",
                        "deploy/deps", "deploy/quickstart", "*.sh"):
        text = read(path)
        if text.strip() and LICENCE not in "\n".join(text.split("\n")[:3]):
            yield path, 1, "does not begin with its licence"


def layout():
    """No ruler in two lines, and no end of a comment alone beneath the code that the comment trails."""
    for path in tracked("*.c", "*.h", "*.def"):
        trails = False
        for number, line in enumerate(read(path).split("\n"), 1):
            opened = line.rfind("/*") > line.rfind("*/")
            if RULER.match(line) or (trails and line.strip() == "*/"):
                yield path, number, "a comment that the formatter has broken: put it above what it is about"
            trails = bool(line[: line.rfind("/*")].strip()) if opened else trails and "*/" not in line


def metrics():
    """Each row of the table of metrics is counted, or filled in, by the stage whose room it stands in."""
    table = "worker/model/metrics.def"
    text = read(table)
    rooms = dict(ROOM.findall(text))
    sources = {path: PROSE.sub('""', read(path)) for path in tracked("worker/*.c") if not path.startswith("worker/model/")}
    for found in METRIC.finditer(text):
        room, member = found.groups()
        counts = re.compile(rf"ing_histogram_add(?:_shared)?\([^;,]*(?:->|\.){member},|(?:->|\.){member}(?:\[[^;]*\])?\s*(?:\+\+|--|\+=|-=|=(?!=))|(?:\+\+|--)[\w>.-]+(?:->|\.){member}\b")
        if not any(counts.search(code) for path, code in sources.items() if path.startswith(rooms.get(room, "\0"))):
            yield table, line_of(text, found.start()), f"nobody in {rooms.get(room)}* counts {room}.{member}"


def budgets():
    """Every fuzz target defines fuzz_target() and declares its FUZZ_BUDGET (tests/fuzz/target.h)."""
    for path in tracked("tests/fuzz/*.c"):
        text = read(path)
        if os.path.basename(path) not in ("driver.c", "replay.c"):
            for word in ("\nFUZZ_BUDGET(", "\nvoid fuzz_target("):
                if word not in text:
                    yield path, 1, f"no {word.strip()}…): tests/fuzz/target.h says what a target consists of"


def scripts():
    for path in tracked():
        if path.startswith("tests/data/") or path.startswith("tests/fuzz/") or path.endswith((".c", ".h")):
            continue
        with open(path, "rb") as file:
            head = file.readline(80)
        if path.endswith(".py") or (head.startswith(b"#!") and b"python" in head):
            try:
                ast.parse(read(path), path)
            except SyntaxError as error:
                yield path, error.lineno or 1, error.msg
        elif path.endswith((".sh", ".bash")) or (head.startswith(b"#!") and b"bash" in head):
            done = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
            if done.returncode:
                yield path, 1, done.stderr.strip()


def top():
    """Files that tests or people have left there are soon committed."""
    for path in tracked():
        entry = path.split("/")[0]
        if not entry.startswith(".") and entry not in TOP:
            yield path, 1, "the top level has " + " ".join(TOP)


def version():
    """project(VERSION) is the one place; the newest section of the changelog, from which packages and manual pages are dated, is of it."""
    project = re.search(r"^project\(.* VERSION ([0-9.]+)", read("CMakeLists.txt"), re.MULTILINE).group(1)
    changes = read("deploy/CHANGELOG.md")
    first = re.search(r"^## (.*)$", changes, re.MULTILINE)
    if not first or not re.fullmatch(rf"{re.escape(project)} \(\d{{4}}-\d\d-\d\d\)", first.group(1)):
        yield "deploy/CHANGELOG.md", line_of(changes, first.start()) if first else 1, f'the first section is to be "## {project} (YEAR-MONTH-DAY)"'


CHECKS = {"banned": banned, "budgets": budgets, "layout": layout, "licence": licence, "metrics": metrics, "rooms": rooms,
          "scripts": scripts, "top": top, "twins": twins, "version": version, "wrappers": wrappers}


def main():
    wanted = sys.argv[1:] or sorted(CHECKS)
    if set(wanted) - set(CHECKS):
        print(__doc__, file=sys.stderr)
        return 2
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
    count = 0
    for name in wanted:
        for path, line, what in CHECKS[name]():
            print(f"{path}:{line}: {what}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
