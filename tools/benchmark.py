#!/usr/bin/env python3
"""Measures whole commands and writes docs/performance.md.

  bash tools/benchmark.sh                                              builds, then measures and writes
  python3 tools/benchmark.py --collsim build/release/tools/collsim     measures and writes
  python3 tools/benchmark.py --collsim … --only "1,024"                measures those whose title has it, and prints

Each command runs three times; the page has the quickest: time from start to end, the largest resident memory, and how much of the
time is simulation (the rest reads and builds the cluster, and prints).
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
RUNS = 3

RING = ["--bytes", "1GiB", "--algorithm", "ring", "--parameters", "none"]
# A title, what it may take (seconds, MB; None: no bound), and the command.
COMMANDS = {
    "Ring all-reduce of 1 GiB, every lane simulated (`--fold off`)": [
        ("1,024 GPUs on one switch", (1, 150),
         ["run", "all_reduce", "--cluster", "textbook-star", "--set", "gpus=1024", *RING, "--fold", "off"]),
        ("1,024 H100 of a SuperPOD", (1, 150), ["run", "all_reduce", "--cluster", "dgx-h100-superpod", *RING, "--fold", "off"]),
    ],
    "Ring all-reduce of 1 GiB, what is alike simulated once": [
        ("1,024 H100 of a SuperPOD", (1, 150), ["run", "all_reduce", "--cluster", "dgx-h100-superpod", *RING]),
        ("16,384 H100 on one tier", (0.5, None),
         ["run", "all_reduce", "--cluster", "dgx-h100-x4", "--set", "nodes=2048", *RING]),
        ("16,384 H100 of a SuperPOD of 64 units, three tiers", (4, None),
         ["run", "all_reduce", "--cluster", "dgx-h100-superpod-3-tier", "--set", "nodes=2048", *RING]),
        ("131,072 H100 on one tier", (2, 1000),
         ["run", "all_reduce", "--cluster", "dgx-h100-x4", "--set", "nodes=16384", *RING]),
        ("131,072 GPUs on one switch", (2, 1000),
         ["run", "all_reduce", "--cluster", "textbook-star", "--set", "gpus=131072", *RING]),
    ],
    "Other programs": [
        ("all-to-all of 1 MiB a rank, pairwise, 4,096 H100", (10, None),
         ["run", "all_to_all", "--cluster", "dgx-h100-x4", "--set", "nodes=512", "--bytes", "1MiB", "--algorithm", "pairwise",
          "--parameters", "none"]),
        ("NCCL's choice, all-reduce of 1 GiB, 1,024 H100 of a SuperPOD", (10, None),
         ["run", "all_reduce", "--cluster", "dgx-h100-superpod", "--bytes", "1GiB"]),
        ("NCCL's choice, one size, 8 H100", (0.02, None), ["run", "all_reduce", "--cluster", "dgx-h100", "--bytes", "8GiB"]),
    ],
}
# Without a single simulated collective: no transfers to count.
TABLES = [
    ("`perf`, 8 B to 8 GiB, 8 H100", (0.5, None),
     ["perf", "all_reduce", "--cluster", "dgx-h100", "-b", "8", "-e", "8G", "-f", "2"]),
    ("NCCL's decisions for 2,048 nodes of 8 H100", (5, None),
     ["tuning", "all_reduce", "--cluster", "dgx-h100-x4", "--set", "nodes=2048"]),
    ("`topology show`, 131,072 H100", (4, None), ["topology", "show", "--cluster", "dgx-h100-x4", "--set", "nodes=16384"]),
]

INTRODUCTION = """\
# Performance

What whole commands take, from start to end, on {machine}. Written by `bash tools/benchmark.sh`; each command ran three times, the quickest counts. *bound* is what we hold ourselves to, *simulated*
how much of the time the events themselves took (the rest reads and builds the cluster, and prints), *transfers/s* how many messages that was a second; where one lane stands for many, all of them count.
"""
OUTRO = """
The number of instructions that some small commands need is compared with [what is on record](../tests/bench/instruction_counts.json) by a test (`tests/bench/instruction_counts.py`), which notices what a clock on a busy machine does not.
Benchmarks of parts (`build/release/tests/bench/*`) use Google Benchmark.
"""


def machine():
    model = platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{os.cpu_count()} cores of a machine with {model}"


def measure(words):
    """Seconds, megabytes, standard output of the quickest run."""
    best = None
    for _ in range(RUNS):
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            start = time.monotonic()
            process = subprocess.Popen(words, stdout=output, stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
            elapsed = time.monotonic() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read().decode()
            errors.seek(0)
            if process.returncode != 0:
                sys.exit(f"{' '.join(words)} ended with {process.returncode}:\n{errors.read().decode()}")
        if best is None or elapsed < best[0]:
            best = (elapsed, usage.ru_maxrss * 1024 / 1e6, text)
    return best


def quantity(value, unit):
    return f"{value:.3g} {unit}" if value < 100 else f"{value:,.0f} {unit}"


def bound_text(bound):
    seconds, megabytes = bound
    return f"{seconds} s" + (f", {megabytes:,} MB" if megabytes else "")


def row_of(collsim, title, bound, words):
    seconds, megabytes, text = measure([collsim, *words, "--timing", "--format", "json", "--quiet"])
    row = json.loads(text)["rows"][0]
    info = row["run_info"]
    share = min(info["wall_s"] / seconds, 1)
    return [title, quantity(seconds, "s"), quantity(megabytes, "MB"), bound_text(bound), f"{100 * share:.0f} %",
            quantity(info["transfers_per_s"] / 1e6, "M"), "`collsim " + " ".join(words) + "`"]


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collsim", required=True)
    parser.add_argument("--only", help="measure the commands whose title has this, and print them")
    arguments = parser.parse_args()

    def wanted(title):
        return arguments.only is None or arguments.only in title

    parts = [INTRODUCTION.format(machine=machine())]
    for heading, commands in COMMANDS.items():
        rows = []
        for title, bound, words in commands:
            if wanted(title):
                print(title, file=sys.stderr)
                rows.append(row_of(arguments.collsim, title, bound, words))
        if rows:
            parts.append(f"\n## {heading}\n\n" +
                         table(["", "time", "memory", "bound", "simulated", "transfers/s", "command"], rows))
    rows = []
    for title, bound, words in TABLES:
        if wanted(title):
            print(title, file=sys.stderr)
            seconds, megabytes, _ = measure([arguments.collsim, *words, "--quiet"])
            rows.append([title, quantity(seconds, "s"), quantity(megabytes, "MB"), bound_text(bound),
                         "`collsim " + " ".join(words) + "`"])
    if rows:
        parts.append("\n## Tables\n\n" + table(["", "time", "memory", "bound", "command"], rows))
    if arguments.only is None:
        PAGE.write_text("".join(parts) + OUTRO)
    else:
        sys.stdout.write("".join(parts[1:]))


if __name__ == "__main__":
    main()
