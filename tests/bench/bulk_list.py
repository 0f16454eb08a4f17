# SPDX-License-Identifier: GPL-3.0-or-later
"""A list of requests with the skew of real ones: one host has 8.5 % of the lines, ten have 30 %, the others share the rest by a
power law. The same numbers give the same lines.

    bulk_list.py LINES [--first N] [--hosts N]        JSON lines on stdout
"""

import argparse
import sys

HOT = 85        # of a thousand lines
TEN = 300       # likewise, the hot one included
PREFIXES = 400  # DOI prefixes of the others


def mix(n):
    """A number of 32 bits that follows from n and looks like chance."""
    n = (n ^ n >> 16) * 0x45d9f3b & 0xffffffff
    n = (n ^ n >> 16) * 0x45d9f3b & 0xffffffff
    return n ^ n >> 16


def host_of(n, hosts):
    chance = mix(n)
    part = chance % 1000
    if part < HOT:
        return 0
    if part < TEN:
        return 1 + chance // 1000 % 9
    u = (mix(n + 0x5bd1e995) + 1) / 2**32
    return 10 + int((hosts - 10) * u**3)


def line_of(n, hosts):
    host = host_of(n, hosts)
    doi = f"10.{1000 + (host if host < 10 else 10 + host % PREFIXES)}/j.{mix(n + 7):08x}.{n}"
    return (f'{{"base_url":"https://journals{host}.press{host % 977}.example/article/view/{n}/download/{mix(n + 1)}.pdf",'
            f'"ingest_type":"pdf","link_source":"unpaywall","link_source_id":"{doi}","ingest_request_source":"unpaywall",'
            f'"release_stage":"published","ext_ids":{{"doi":"{doi}"}},"edit_extra":{{"oa_status":"gold","n":{n}}}}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=int)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--hosts", type=int, help="1 for every 66 lines")
    args = parser.parse_args()
    hosts = args.hosts or max(args.lines // 66, 100)
    for n in range(args.first, args.first + args.lines):
        sys.stdout.write(line_of(n, hosts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
