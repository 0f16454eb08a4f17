# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's guide as tests see it: its pages, their paragraphs, and the commands in them.

A paragraph is what stands below a heading, named PAGE#ANCHOR as links name it. Its commands are the code blocks marked `sh`;
blocks of another kind are samples of output or files, and are not run.
"""

import dataclasses
import pathlib
import re

HEADING = re.compile(r"^(#{1,4}) +(.*?) *$")
FENCE = re.compile(r"^( *)```(\w*) *$")
# Code in a line of text that begins like one of our commands.
INLINE = re.compile(r"`((?:ingestctl|ingest-worker) [^`]+)`")


@dataclasses.dataclass(frozen=True)
class Block:
    place: str  # PAGE:LINE
    text: str


@dataclasses.dataclass
class Paragraph:
    name: str
    title: str
    blocks: list
    inline: list


def anchor_of(title):
    """The anchor that renderers of Markdown give a heading: small letters, no punctuation, hyphens for spaces."""
    words = re.sub(r"[`*]", "", title).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def read_page(path, name):
    """The paragraphs of a page, in order. An anchor that is there twice is an error: links would lead to the first."""
    found = {}
    current, fence, lines, began = None, None, [], 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark = FENCE.match(line)
        if fence is not None:
            if mark and not mark.group(2):
                if fence.group(2) == "sh":
                    indent = len(fence.group(1))
                    text = "\n".join(one[indent:] for one in lines)
                    current.blocks.append(Block(f"{name}:{began}", text))
                fence = None
            else:
                lines.append(line)
            continue
        if mark:
            fence, lines, began = mark, [], number
            continue
        heading = HEADING.match(line)
        if heading:
            title = heading.group(2)
            current = Paragraph(f"{name}#{anchor_of(title)}", title, [], [])
            assert current.name not in found, f"{name}:{number}: a second heading {title!r}"
            found[current.name] = current
        elif current:
            current.inline += [(f"{name}:{number}", one) for one in INLINE.findall(line)]
    assert fence is None, f"{name}:{began}: a code block without an end"
    return found


def read_guide(deploy):
    """All paragraphs of deploy/README.md and deploy/guide/*.md by name."""
    pages = [(deploy / "README.md", "README.md")]
    pages += [(path, f"guide/{path.name}") for path in sorted((deploy / "guide").glob("*.md"))]
    return {name: one for path, page in pages for name, one in read_page(pathlib.Path(path), page).items()}
