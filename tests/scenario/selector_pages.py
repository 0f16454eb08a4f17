# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest page on which a jsoup selector finds an element, built from the selector's text.

Written against the selectors of rules/journals.yaml: combinators, #id, .class, attributes, and the pseudo classes that
are used there. A pseudo class that is not known is an error. What must not be there (:not) is met by adding nothing
that was not asked for.
"""

import html
import re
from re import _parser as parser


PHRASING = {"a", "abbr", "b", "button", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "i", "p", "span", "strong"}


class Element:
    """One element of the page: its text, its children, then those that :has() asked for."""

    def __init__(self, tag=None):
        self.tag, self.attrs, self.classes = tag, {}, []
        self.text, self.children, self.had, self.banned = "", [], [], set()
        self.pattern = None  # what :matches() wants of the text

    def name(self, inline):
        """The tag; where any will do, one that may stand there, and hold what is in it."""
        if self.tag:
            return self.tag
        likely = ["span", "b"] if inline else ["div", "section"] if self.children or self.had else ["p", "div", "section"]
        return next(tag for tag in likely if tag not in self.banned)

    def markup(self, inline=False):
        tag = self.name(inline)
        attrs = dict(self.attrs)
        if self.classes:
            attrs["class"] = " ".join(([attrs["class"]] if "class" in attrs else []) + self.classes)
        head = tag + "".join(f' {k}="{html.escape(v)}"' if v else f" {k}" for k, v in attrs.items())
        inside = "".join(e.markup(inline or tag in PHRASING) for e in self.children + self.had)
        text = html.escape(self.text, quote=False)
        if tag == "table" and text:  # which may stand in cells only
            text = f"<tr><td>{text}</td></tr>"
        return f"<{head}>{text}{inside}</{tag}>"


def split(text, at):
    """Split at a character outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == at and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def balanced(text, i):
    """The argument of the bracket at i, and where it ends."""
    close = {"(": ")", "[": "]"}[text[i]]
    depth = 0
    for j in range(i, len(text)):
        if text[j] == "\\":
            continue
        if j > i and text[j - 1] == "\\":
            continue
        depth += (text[j] == text[i]) - (text[j] == close)
        if depth == 0:
            return text[i + 1:j], j + 1
    raise ValueError(text)


def sample(pattern):
    """A short text that a regular expression finds."""
    def walk(parsed):
        out = ""
        for op, arg in parsed:
            op = str(op)
            if op == "LITERAL":
                out += chr(arg)
            elif op == "ANY":
                out += "x"
            elif op == "IN":
                kind, value = arg[0]
                out += chr(value[0] if str(kind) == "RANGE" else value)
            elif op in ("MAX_REPEAT", "MIN_REPEAT"):
                out += walk(arg[2]) * arg[0]
            elif op == "SUBPATTERN":
                out += walk(arg[3])
            elif op == "BRANCH":
                out += walk(arg[1][0])
            elif op != "AT":
                raise ValueError(f"{pattern}: {op}")
        return out
    found = walk(parser.parse(pattern))
    assert re.search(pattern, found), pattern
    return found


def read_attr(e, text):
    name, op, value = re.fullmatch(r"\s*([\w:-]+)\s*(?:([~^$*!]?=)(.*))?", text, re.S).groups()
    value = (value or "").strip("'\"")
    if op == "~=":
        value = sample(value)
    if name == "class":
        e.attrs["class"] = value
    else:
        e.attrs[name] = value


def read_pseudo(e, name, arg):
    if name in ("matches", "matchesOwn", "matchesWholeText"):
        e.text += sample(arg)
        e.pattern = arg
    elif name in ("contains", "containsOwn"):
        e.text += arg
    elif name == "has":
        arg = split(arg, ",")[0]
        nodes, _ = build(arg[1:] if arg.startswith(">") else arg)
        e.had += nodes
    elif name == "not":
        e.banned.update(x for x in split(arg, ",") if re.fullmatch(r"[a-z0-9]+", x))
    elif name not in ("first-child", "last-of-type", "first-of-type", "last-child"):
        raise ValueError(f":{name}")


def read_compound(text, i):
    """An element, where its text ends, and whether the text of the element before is meant."""
    e, text_nodes, start = Element(), False, i
    m = re.compile(r"[a-zA-Z][\w-]*|\*").match(text, i)
    if m:
        e.tag = None if m[0] == "*" else m[0]
        i = m.end()
    while i < len(text) and text[i] in "#.[:":
        c = text[i]
        if c == "[":
            arg, i = balanced(text, i)
            read_attr(e, arg)
            continue
        m = re.compile(r"[\w-]+").match(text, i + 1)
        i = m.end()
        if c == "#":
            e.attrs["id"] = m[0]
        elif c == ".":
            e.classes.append(m[0])
        elif m[0] == "matchText":
            text_nodes = True
        elif i < len(text) and text[i] == "(":
            arg, i = balanced(text, i)
            read_pseudo(e, m[0], arg)
        else:
            read_pseudo(e, m[0], "")
    return e, i, text_nodes and text[start:i] == ":matchText"


def build(selector):
    """The elements at the top, and the one that the selector finds; of several selectors, the first."""
    text = split(selector, ",")[0].strip()
    top, siblings, i, e = [], None, 0, None
    siblings = top
    combinator = " "
    while i < len(text):
        found, i, text_nodes = read_compound(text, i)
        if not text_nodes:
            if e is not None and combinator in " >":
                siblings = e.children
            siblings.append(found)
            e = found
        m = re.compile(r"\s*([>+~])\s*|\s+").match(text, i)
        if m:
            combinator, i = m[1] or " ", m.end()
        elif i < len(text):
            raise ValueError(f"{text[i:]} of {selector}")
    return top, e


def wrap(elements):
    markup = "".join(e.markup() for e in elements)
    return f"<table>{markup}</table>" if elements[0].tag == "tr" else markup


def page(selector, payload, attr=None):
    """The page with the payload as the text of what the selector finds, or as its attribute."""
    top, e = build(selector)
    if attr:
        have = e.attrs.get(attr)
        e.attrs[attr] = have if have and not payload.startswith(have) else payload
        if e.tag is None:
            e.tag = "a"
        e.text = e.text or "link"
    elif not (e.pattern and e.pattern.endswith("$")) and not (e.pattern and re.search(e.pattern, payload)):
        e.text += (" " if e.text and not e.text.endswith("/") else "") + payload
    elif e.pattern and re.search(e.pattern, payload):
        e.text = payload
    return wrap(top)
