"""List the model files with their sources and licences, and check each file's SHA-256.

frontdesk models
make setup FORCE=1     # mends what is missing or altered
"""

from __future__ import annotations

import argparse
import json

from frontdesk import models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    """0 when every file is in place, 2 with one line a file when not."""
    status = models.check()
    bad = {name: line for name, line in status.items() if line != "ok"}
    if args.json:
        rows = [
            {
                "name": file.name,
                "job": file.job,
                "licence": file.licence,
                "package": file.package,
                "path": file.path,
                "upstream": file.upstream,
                "sha256": file.sha256,
                "status": status[file.name],
            }
            for file in models.manifest().values()
        ]
        print(json.dumps(rows, indent=2))
        return 2 if bad else 0
    for file in models.manifest().values():
        mark = "ok " if status[file.name] == "ok" else "BAD"
        print(f"{mark} {file.name:26} {file.job:27} {file.licence:24} {file.upstream}")
    for line in bad.values():
        print(line)
    return 2 if bad else 0
