# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of requests by the million; README.md says what the figures mean. A part is a module: add_options(parser), and
run(build, postgres, folder, args), which returns its figures."""

import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent.parent / "deploy/lib"))

import bulk_dump  # noqa: E402
import bulk_enqueue  # noqa: E402
import bulk_load  # noqa: E402
import bulk_scale  # noqa: E402
import private_servers  # noqa: E402

PARTS = {"load": bulk_load, "dump": bulk_dump, "enqueue": bulk_enqueue, "scale": bulk_scale}
ASKED = {"scale"}  # takes an hour: only by --only


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--rounds", type=int, default=3)
    for part in PARTS.values():
        part.add_options(parser)
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    folder.chmod(0o755)
    postgres = private_servers.Postgres(folder / "postgres")
    answer = {"machine": {"cpus": os.cpu_count(), "load": os.getloadavg()[0]}}
    try:
        postgres.start()
        for name, part in PARTS.items():
            if args.only == name or args.only is None and name not in ASKED:
                answer[name] = part.run(args.build, postgres, folder, args)
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(answer, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
