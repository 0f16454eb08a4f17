# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl url surt against the package that the Wayback tools (pywb among them) make their keys with."""

import random
import re
import subprocess
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the package is older than Python's view of its strings
    import surt

SEED = 20091
COUNT = 5000

# Something of everything that the canonicaliser treats: hosts, ports, addresses, sessions, dot segments, escapes.
URLS = [
    "http://www.example.com/", "http://www2.EXAMPLE.com:80/A/b/../c/?z=1&a=2&a=1#f", "example.com/x", "http://h//a///b/./c/..",
    "https://user:pw@h.org:443/x;jsessionid=0123456789ABCDEF0123456789abcdef?q", "http://127.1/", "http://0x7f.1/",
    "http://h/(S(4hqa0555fwsecu455xqckv45))/x/default.aspx", "http://2130706433/a", "http://012.0.0.1/", "http://[::1]:80/",
    "http://h/(a(4hqa0555fwsecu455xqckv45)S(4hqa0555fwsecu455xqckv45))/m.aspx?p=s", "http://http://example.com/",
    "http://h/index.php?PHPSESSID=0123456789abcdefghijklemopqrstuv&action=profile;u=4221", "mailto:foo@example.com",
    "http://h/x?sid=9682993c8daa2c5497996114facdc805&b=2", "http://h/?jsessionid=0123456789abcdefghijklemopqrstuv",
    "http://h/x?ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM&action=profile", "http://h./", "http://..h../", "http://h?x",
    "http://h/x.cfm?CFID=1169580&CFTOKEN=48630702&a=1", "http://b\u00fccher.de/\u00e4?\u00f6=\u00fc", "http://xn--bcher-kva.de/",
    "http://stra\u00dfe.example/\u00df", "dns:example.com", "filedesc:foo", "warcinfo:foo.warc", "urn:x:y", "ftp://ftp.x.org/a",
    "http://h/%41%2f%25%c3%a9?%41=%26&a", "http://h/?a&b=1&a=&A=b", "http://h:8080", "screenshot:http://www.x.com/a",
    "http://\u65e5\u672c\u8a9e\u3002jp/\u65e5", "http://\u00ad/", "http://a\u200db.com/", "", "-", "http:", "http://h:x/", "http://h:99999/",
]
PIECES = list("aA0.:/?#&=%()[]@;+-_~!$'*,|\\^` \"<>{}") + [
    "%41", "%25", "%2e", "..", "//", "www.", "www1.", "\0", "http://", "https://", "\u00e9", "\u00df", "\u3002", "\u65e5", "\U0001f600", "sid=",
    "jsessionid=", "&&", "==", "%zz", "%00", "%e9", ":80", ":443", "/./"]


def changed(dice, text):
    letters = list(text)
    for _ in range(dice.randrange(4)):
        at = dice.randrange(len(letters) + 1)
        if dice.random() < 0.3 and at < len(letters):
            del letters[at]
        else:
            letters.insert(at, dice.choice(PIECES))
    return "".join(letters)


def leads_somewhere(url):
    """A scheme with something behind it, or a host name with a dot. The package makes keys of anything."""
    return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]*:.", url, re.DOTALL)) or "." in re.split("[/?#:]", url)[0]


def theirs(url):
    """The package's key; what it refuses has none, which the tools write as a dash."""
    if not leads_somewhere(url):
        return "-"
    try:
        return surt.surt(url)
    except Exception:  # pylint: disable=broad-except  # of many kinds, from the depths of its parsing
        return "-"


def test_keys_are_those_of_the_wayback_tools(program):
    dice = random.Random(SEED)
    urls = URLS + [changed(dice, dice.choice(URLS)) for _ in range(COUNT)]
    done = subprocess.run([program("ingestctl"), "url", "surt"], input="".join(url + "\n" for url in urls).encode(),
                          capture_output=True, timeout=120, check=False)
    ours = done.stdout.decode().split("\n")[:-1]
    assert len(ours) == len(urls)
    wrong = [(url, theirs(url), key) for url, key in zip(urls, ours) if key != theirs(url)]
    assert wrong == []
    assert sum(key != "-" for key in ours) > COUNT * 0.7


def test_what_leads_nowhere_has_no_key(program):
    """A key of a single word would be that of a host which nobody has meant."""
    words = ["nope", "h/y", "", "/x", "?a.b", "//h.example/x", "http:", "1a:b"]
    done = subprocess.run([program("ingestctl"), "url", "surt", "--", *words], capture_output=True, text=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stdout) == (1, "-\n" * len(words))
    assert done.stderr.splitlines() == [f"ingestctl url surt: argument {n + 1} is no URL" for n in range(len(words))]
    done = subprocess.run([program("ingestctl"), "url", "surt"], input="http://a.example/\nnope\na.example/x\n",
                          capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "example,a)/\n-\nexample,a)/x\n")
    assert done.stderr == "ingestctl url surt: line 2 is no URL\n"
