# SPDX-License-Identifier: Apache-2.0
"""``python -m sortie info``."""

from __future__ import annotations

import argparse
import json
from typing import Optional, Sequence

from ._info import info


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m sortie")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("info", help="versions, where the library is, and GPUs")
    command.add_argument("--json", action="store_true", help="as a JSON object")
    chosen = parser.parse_args(arguments)
    found = info()
    print(json.dumps(found.as_dict(), indent=2) if chosen.json else found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
