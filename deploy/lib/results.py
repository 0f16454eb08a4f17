#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prepares the quickstart's requests, waits for their results and prints them as a table.

    results.py prepare FILE RUN                              requests of this run, as JSON lines
    results.py show --requests FILE --worker DIR -- COMMAND  runs COMMAND, which prints result JSON lines

A sample request says in sample_expects how it must end; show exits with 1 if one ends otherwise, 3 if the
results do not come.
"""

import argparse
import json
import os
import selectors
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import private_servers as servers  # noqa: E402

PATIENCE_S = 240  # without any new result: a host may have been made to be left alone for a while


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def prepare(path, run):
    for number, request in enumerate(read_lines(path), 1):
        request["link_source_id"] = f"{run}/{number}"
        print(json.dumps(request))


def identity(request):
    return request.get("link_source_id")


def collect(command, wanted, worker):
    """The results of the wanted requests by identity, as far as they come. The command is ended at the end."""
    found = {}
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    waiter = selectors.DefaultSelector()
    waiter.register(process.stdout, selectors.EVENT_READ)
    pending = b""
    deadline = time.monotonic() + PATIENCE_S
    try:
        while len(found) < len(wanted) and time.monotonic() < deadline:
            if not waiter.select(timeout=1):
                if not worker.running():
                    print("quickstart: the worker has ended; the end of its log:", file=sys.stderr)
                    print(servers.tail(worker.log), file=sys.stderr)
                    break
                continue
            data = os.read(process.stdout.fileno(), 1 << 16)
            if not data:
                print(f"quickstart: {command[0]} ended", file=sys.stderr)
                break
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                result = json.loads(line)
                key = identity(result.get("request") or {})
                if key in wanted and key not in found:
                    found[key] = result
                    deadline = time.monotonic() + PATIENCE_S
                    progress(len(found), len(wanted))
    finally:
        process.terminate()
        process.wait()
    return found


def progress(done, total):
    if sys.stderr.isatty():
        print(f"\r   {done} of {total} results", end="\n" if done == total else "", file=sys.stderr, flush=True)


def size_text(size):
    for unit in ("B", "KB", "MB"):
        if size < 1000 or unit == "MB":
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return ""


def document_text(result):
    """Size, kind and page count of what was found, in a few words."""
    meta = result.get("file_meta")
    if not meta:
        return ""
    words = f"{size_text(meta['size_bytes'])} {meta.get('mimetype') or '?'}"
    pdf = result.get("pdf_meta") or {}
    if pdf.get("status") == "success":
        words += f", {(pdf.get('pdf_extra') or {}).get('page_count')} p."
    elif pdf:
        words += f" ({pdf.get('status')})"
    return words


def short(text, width):
    return text if len(text) <= width else text[:width - 1] + "…"


def bare(url):
    return (url or "").removeprefix("https://").removeprefix("http://")


def print_table(requests, found):
    """One line a request, in the order of the file. Returns how many ended otherwise than they should."""
    columns = shutil.get_terminal_size((150, 24)).columns
    room = max(30, (columns - 6 - 21 - 34 - 6) // 2)
    bold, red, plain = ("\033[1m", "\033[31m", "\033[0m") if sys.stdout.isatty() else ("", "", "")
    print(f"\n{bold}  {'type':5} {'request':{room}} {'status':20} {'document':33} {'ended at':{room}}{plain}")
    wrong = 0
    for request in requests:
        result = found.get(identity(request))
        status = result["status"] if result else "(no result)"
        good = status == request["sample_expects"]
        wrong += not good
        terminal = ((result or {}).get("terminal") or {}).get("terminal_url")
        same = terminal == request["base_url"]
        line = (f"{request['ingest_type']:5} {short(bare(request['base_url']), room):{room}} {status:20} "
                f"{short(document_text(result or {}), 33):33} {'=' if same else short(bare(terminal), room)}")
        print(f"{'  ' if good else red + '! '}{line.rstrip()}{'' if good else plain}")
        if not good:
            print(f"    expected {request['sample_expects']}; {(result or {}).get('error_message') or ''}")
    hits = sum(1 for result in found.values() if result.get("hit"))
    drawn = sum(1 for result in found.values() if (result.get("pdf_meta") or {}).get("has_page0_thumbnail"))
    print(f"\n{len(found)} of {len(requests)} results, {hits} documents found, {drawn} with a thumbnail; "
          f"{'all as expected' if not wrong else f'{wrong} not as expected'}.")
    return wrong


def main():
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("prepare")
    verb.add_argument("file")
    verb.add_argument("run")
    verb = verbs.add_parser("show")
    verb.add_argument("--requests", required=True)
    verb.add_argument("--worker", required=True)
    args = parser.parse_args(words[:split])
    if args.verb == "prepare":
        prepare(args.file, args.run)
        return 0
    requests = read_lines(args.requests)
    wanted = {identity(request) for request in requests}
    found = collect(words[split + 1:], wanted, servers.Process(args.worker))
    wrong = print_table(requests, found)
    if len(found) < len(wanted):
        return 3
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
