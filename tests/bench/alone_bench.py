# SPDX-License-Identifier: GPL-3.0-or-later
"""The load of `e2e` through `ingestctl run`, without Kafka and PostgreSQL, in turn with the floor; see README.md."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import fetch_load  # noqa: E402
from servers.worker import write_config  # noqa: E402


def run_alone(build, folder, web, args, input_file):
    folder.mkdir()
    config = write_config(folder / "run.yaml", {"instance": folder.name, "gate.concurrency": args.concurrency, **web.settings()})
    out = folder / "out"
    before = fetch_load.children_cpu_seconds()
    subprocess.run([next(build.rglob("ingestctl")), "--config", config, "run", "--quiet", "--out", out, input_file], check=True)
    cpu_seconds = fetch_load.children_cpu_seconds() - before
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    shutil.rmtree(folder)
    if summary["by_status"] != {"success": args.requests}:
        raise SystemExit(f"not all requests had success: {summary['by_status']}")
    return {**summary["run"], "reaped_cpu_seconds": cpu_seconds}


def summarise(run, requests, floor, tool_ms):
    cpu = run["cpu_seconds"]
    stages = {name: cpu[name] for name in ("loop", "archive", "examine")}
    stages["others"] = cpu["process"] - cpu["loop"] - cpu["archive"]
    return {**fetch_load.sums(stages, cpu["examine_pdf"], requests, {"alone": floor}, tool_ms),
            **fetch_load.resumption(run.get("tls")), **fetch_load.rest(run["reaped_cpu_seconds"], run["seconds"], requests)}


def main():
    parser = argparse.ArgumentParser(description="One JSON object on stdout.")
    fetch_load.add_options(parser)
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    folder.chmod(0o755)
    input_file = folder / "requests.jsonl"
    input_file.write_text("".join(json.dumps(one) + "\n" for one in fetch_load.requests_of(args.requests, args.hosts)), encoding="utf-8")
    webs = fetch_load.webs_of(args, folder)

    def run(build, web, tag, floor, tool_ms):
        done = run_alone(build, folder / tag, web, args, input_file)
        return summarise(done, args.requests, floor, tool_ms)
    try:
        for web in webs:
            web.start()
        answer = {"machine": {"cpus": os.cpu_count()}, "alone": fetch_load.measure(args, webs, run)}
        print(json.dumps(answer, indent=1))
    finally:
        for web in webs:
            web.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
