#!/usr/bin/env python3
"""Compares the instructions that whole commands need with those on record.

  instruction_counts.py --collsim PROGRAM --compiler "GNU 12.2.0"            compares
  instruction_counts.py --collsim PROGRAM --compiler "GNU 12.2.0" --update   records

Counted by valgrind (callgrind), so that neither a busy machine nor its clock matters. More than 5 % more fails; more than 5 % fewer
fails, too, and asks for a new record: else what was won could be lost again unseen. Other compilers, and systems with another C
library, are other programs: skipped (exit code 4), as where valgrind is missing.
"""

import argparse
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().with_name("instruction_counts.json")
BAND = 0.05
SKIPPED = 4
NO_COSTS = ["--parameters", "none"]
COMMANDS = {
    "ring, 64 GPUs on one switch, every lane":
        ["run", "all_reduce", "--cluster", "textbook-star", "--set", "gpus=64", "--bytes", "64MiB", "--algorithm", "ring", *NO_COSTS,
         "--fold", "off"],
    "pairwise, 64 GPUs of 8 nodes, every lane":
        ["run", "all_to_all", "--cluster", "dgx-h100-x4", "--set", "nodes=8", "--bytes", "1MiB", "--algorithm", "pairwise", *NO_COSTS,
         "--fold", "off"],
    "direct, 32 GPUs of 4 nodes": ["run", "all_to_all", "--cluster", "dgx-h100-x4", "--bytes", "1MiB", "--algorithm", "direct", *NO_COSTS],
    "ring, 512 GPUs on one switch, folded":
        ["run", "all_reduce", "--cluster", "textbook-star", "--set", "gpus=512", "--bytes", "64MiB", "--algorithm", "ring", *NO_COSTS],
    "NCCL's choice, 8 H100": ["run", "all_reduce", "--cluster", "dgx-h100", "--bytes", "64MiB"],
    "perf, 8 B to 1 MiB, 8 H100": ["perf", "all_reduce", "--cluster", "dgx-h100", "-b", "8", "-e", "1M", "-f", "8"],
    "a cluster of 1,024 GPUs read and described": ["topology", "check", "--cluster", "dgx-h100-superpod"],
}


def instructions(collsim, words):
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", collsim, *words, "--quiet"],
            capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode != 0 or not found:
        sys.exit(f"collsim {' '.join(words)} under valgrind ended with {result.returncode}:\n{result.stderr}")
    return int(found.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collsim", required=True)
    parser.add_argument("--compiler", required=True, help="its name and version")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    built_with = f"{arguments.compiler}, {' '.join(platform.libc_ver())}, {platform.machine()}"

    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        return SKIPPED
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if not arguments.update and record.get("built_with") != built_with:
        print(f"skipped: on record is {record.get('built_with')}, this is {built_with}")
        return SKIPPED

    counts = {title: instructions(arguments.collsim, words) for title, words in COMMANDS.items()}
    if arguments.update:
        RECORD.write_text(json.dumps({"built_with": built_with, "instructions": counts}, indent=2) + "\n")
        return 0
    failed = False
    for title, count in counts.items():
        before = record["instructions"].get(title)
        if before is None:
            print(f"{title}: not on record")
            failed = True
            continue
        change = count / before - 1
        outside = abs(change) > BAND
        failed = failed or outside
        print(f"{title}: {count / 1e6:.1f} M instructions, {100 * change:+.1f} %{' (outside of 5 %)' if outside else ''}")
    if failed:
        print(f"if that is meant: python3 tests/bench/instruction_counts.py --collsim PROGRAM --compiler '{arguments.compiler}' --update")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
