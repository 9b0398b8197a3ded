#!/usr/bin/env python3
"""Measures whole commands and writes docs/performance.md.

  bash tools/benchmark.sh                                              builds, then measures and writes
  python3 tools/benchmark.py --collsim build/release/tools/collsim     measures and writes
  python3 tools/benchmark.py --collsim … --only "1,024"                measures those whose title has it, and prints

Whole commands run three times, those of more than five seconds once, and the page has the quickest: time from start to end, the
largest resident memory, and how much of the time is simulation (the rest reads and builds the cluster, and prints). The engine runs
each program at growing numbers of GPUs. No run may take more than a minute, so that all of it takes ten minutes at most.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
RUNS = 3
LONG_S = 5  # such a command runs once
LIMIT_S = 60  # of a run

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
        ("NCCL's choice, all-reduce of 8 GiB, 16,384 H100 of a SuperPOD of 64 units", (10, None),
         ["run", "all_reduce", "--cluster", "dgx-h100-superpod-3-tier", "--set", "nodes=2048", "--bytes", "8GiB"]),
        ("NCCL's choice, one size, 8 H100", (0.02, None), ["run", "all_reduce", "--cluster", "dgx-h100", "--bytes", "8GiB"]),
    ],
}
FULL = ["--fold", "off"]
# 32 nodes below each leaf, and half as many cables up: a fat tree of two tiers with static routes.
HALF_SPINE = ["--cluster", "dgx-h100-superpod", "--set", "fabric.kind=leaf-spine", "--set", "fabric.spine.oversubscription=2",
              "--set", "fabric.leaf.ports=48"]
GPUS_OF_A_NODE = 8


def star(gpus):
    return ["--cluster", "textbook-star", "--set", f"gpus={gpus}"]


def nodes(cluster):
    return lambda gpus: [*cluster, "--set", f"nodes={gpus // GPUS_OF_A_NODE}"]


# A title, how many transfers a second it must be at which number of GPUs, the numbers of GPUs, lanes of so many GPUs (None: not told),
# the cluster for a number of GPUs, and the rest of the command.
ENGINE = [
    ("ring", {1024: 2.5e6, 4096: 1.5e6}, [256, 512, 1024, 2048, 4096], lambda gpus: gpus, star,
     ["all_reduce", *RING]),
    ("tree", {}, [4096, 16384, 65536], lambda gpus: gpus, star,
     ["all_reduce", "--bytes", "1GiB", "--algorithm", "tree", "--parameters", "none"]),
    ("pairwise all-to-all, spine of a half", {1024: 1e6}, [128, 256, 512, 1024], lambda gpus: gpus, nodes(HALF_SPINE),
     ["all_to_all", "--bytes", "1MiB", "--algorithm", "pairwise", "--parameters", "none"]),
    ("NCCL's sends and receives, spine of a half", {512: 1e6}, [64, 128, 256, 512], None, nodes(HALF_SPINE),
     ["all_to_all", "--bytes", "1MiB", "--algorithm", "nccl-p2p"]),
    ("direct all-to-all, static routes", {1024: 1e6}, [256, 512, 1024], lambda gpus: gpus * (gpus - 1),
     nodes(["--cluster", "dgx-h100-superpod"]), ["all_to_all", "--bytes", "1MiB", "--algorithm", "direct", "--parameters", "none"]),
    ("direct all-to-all, hashed routes (512 GPUs: 60 s)", {}, [128, 256, 512], lambda gpus: gpus * (gpus - 1),
     nodes(["--cluster", "dgx-h100-superpod", "--set", "fabric.routing=ecmp"]),
     ["all_to_all", "--bytes", "1MiB", "--algorithm", "direct", "--parameters", "none"]),
]

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

What whole commands take, from start to end, on {machine}. Written by `bash tools/benchmark.sh`, in ten minutes at most; each command ran three times (once if it took more than five seconds; none for more than a minute), the quickest counts. *bound* is what we hold ourselves to, *simulated*
how much of the time the events themselves took (the rest reads and builds the cluster, and prints), *transfers/s* how many messages that was a second; where one lane stands for many, all of them count.
"""
ENGINE_TEXT = """
## The engine: every lane simulated, by number of GPUs

Time of the events alone. *memory a lane* is what the largest run needs beyond one of two ranks on the same cluster, by lane (direct all-to-alls have a lane for each pair, with a transfer in flight); 450 B are allowed; hidden: less than reading the cluster needs for a moment. *exponent*: time grows as this power of the number of transfers, by
least squares over the numbers of GPUs; 1.1 is allowed.

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


def run_once(words):
    """Seconds, megabytes and standard output; None if it takes too long."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        process = subprocess.Popen(words, stdout=output, stderr=errors)
        timer = threading.Timer(LIMIT_S, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        elapsed = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
        errors.seek(0)
        if process.returncode != 0 and elapsed >= LIMIT_S:
            return None
        if process.returncode != 0:
            sys.exit(f"{' '.join(words)} ended with {process.returncode}:\n{errors.read().decode()}")
    return elapsed, usage.ru_maxrss * 1024 / 1e6, text


def measure(words):
    """The quickest run; None if it takes too long."""
    best = None
    for _ in range(RUNS):
        once = run_once(words)
        if once is None:
            return None
        best = once if best is None else min(best, once)
        if best[0] > LONG_S:
            break
    return best


def quantity(value, unit):
    return f"{value:.3g} {unit}" if value < 100 else f"{value:,.0f} {unit}"


def bound_text(bound):
    seconds, megabytes = bound
    return f"{seconds} s" + (f", {megabytes:,} MB" if megabytes else "")


def row_of(collsim, title, bound, words):
    command = "`collsim " + " ".join(words) + "`"
    measured = measure([collsim, *words, "--timing", "--format", "json", "--quiet"])
    if measured is None:
        return [title, f"> {LIMIT_S} s", "-", bound_text(bound), "-", "-", command]
    seconds, megabytes, text = measured
    row = json.loads(text)["rows"][0]
    info = row["run_info"]
    share = min(info["wall_s"] / seconds, 1)
    return [title, quantity(seconds, "s"), quantity(megabytes, "MB"), bound_text(bound), f"{100 * share:.0f} %",
            quantity(info["transfers_per_s"] / 1e6, "M"), command]


def simulated(collsim, words):
    """Transfers, seconds of simulation and bytes of memory; None if it takes too long."""
    measured = measure([collsim, "run", *words, "--timing", "--format", "json", "--quiet"])
    if measured is None:
        return None
    row = json.loads(measured[2])["rows"][0]
    return row["transfers"], row["run_info"]["wall_s"], row["run_info"]["peak_memory_bytes"]


def exponent(points):
    """Of the power of the number of transfers that the time is, by least squares of the logarithms."""
    xs, ys = zip(*((math.log(transfers), math.log(seconds)) for transfers, seconds, _ in points))
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys)) / sum((x - x_mean) ** 2 for x in xs)


def engine_rows(collsim, entry):
    """A row for each number of GPUs; the last one has the exponent and the memory of a lane."""
    title, bounds, sizes, lanes, cluster, words = entry
    points = []
    rows = []
    for gpus in sizes:
        print(f"{title}, {gpus} GPUs", file=sys.stderr)
        command = [*words, *cluster(gpus), *FULL]
        point = simulated(collsim, command)
        bound = f"{bounds[gpus] / 1e6:.3g} M" if gpus in bounds else ""
        shown = "`collsim run " + " ".join(command) + "`"
        if point is None:
            rows.append([title, f"{gpus:,}", f"> {LIMIT_S} s", "-", bound, "", "", shown])
            break
        points.append(point)
        transfers, seconds, _ = point
        rows.append([title, f"{gpus:,}", quantity(seconds, "s"), quantity(transfers / seconds / 1e6, "M"), bound, "", "", shown])
    if len(points) > 2:
        rows[len(points) - 1][6] = f"{exponent(points):.2f}"
    if points and lanes:
        gpus = sizes[len(points) - 1]
        # Two ranks on the same cluster: what is left is the topology.
        alone = simulated(collsim, [*words, *cluster(gpus), *FULL, "--ranks", "2"])
        more = points[-1][2] - alone[2]
        rows[len(points) - 1][5] = quantity(more / lanes(gpus), "B") if more > 0 else "hidden"
    return rows


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
    rows = [row for entry in ENGINE if wanted(entry[0]) for row in engine_rows(arguments.collsim, entry)]
    if rows:
        parts.append(ENGINE_TEXT + table(["", "GPUs", "simulated in", "transfers/s", "bound", "memory a lane", "exponent", "command"], rows))
    rows = []
    for title, bound, words in TABLES:
        if wanted(title):
            print(title, file=sys.stderr)
            measured = measure([arguments.collsim, *words, "--quiet"])
            if measured is None:
                rows.append([title, f"> {LIMIT_S} s", "-", bound_text(bound), "`collsim " + " ".join(words) + "`"])
                continue
            seconds, megabytes, _ = measured
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
