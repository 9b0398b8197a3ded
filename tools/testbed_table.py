#!/usr/bin/env python3
"""Predicted against measured on a testbed of namespaces, as a table for docs/testbed.md. As root:
  python3 tools/testbed_table.py [--hosts 8] [--rate 100mbit] [--sizes 1M,4M] [--iterations 3]

Latency and goodput come from send_recv between two hosts alone. With them a cluster is described, and all-reduces are predicted for
it and measured: naive, ring and tree on one switch; ring and recursive-doubling on two leaves with half the uplinks (--leaf-spine 2:1),
which are described as what tc was told, scaled by the same goodput.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTBED = ["bash", str(ROOT / "tools" / "testbed.sh")]
ON_ONE_SWITCH = ("naive", "ring", "tree")
# Of these, only the exchanges over the whole distance load the uplinks.
ON_TWO_LEAVES = ("ring", "recursive-doubling")
UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def call(words):
    done = subprocess.run([*TESTBED, *words], capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"testbed {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def measured(words, folder):
    """The rows of a run: (bytes, in place, microseconds), and what the table says besides."""
    file = folder / "rows.json"
    text = call(["run", *words, "--output", str(file)])
    rows = json.loads(file.read_text(encoding="utf-8"))["runs"][0]["rows"]
    return [(row["bytes"], row["in_place"], row["time_us"]) for row in rows], text


def link_of_send_recv(folder, iterations):
    """Latency of a route in us, and goodput in GB/s: from 8 bytes, and from the difference of 1 and 4 MiB."""
    small, _ = measured(["--hosts", "2", "send_recv", "-b", "8", "-e", "8", "-n", "200", "-w", "20"], folder)
    large, _ = measured(["--hosts", "2", "send_recv", "-b", "1M", "-e", "4M", "-f", "4", "-n", str(3 * iterations)], folder)
    (first, _, first_us), (last, _, last_us) = large
    return small[0][2], (last - first) / (last_us - first_us) / 1e3


def star(hosts, latency_us, goodput):
    return f"""name: testbed
description: {hosts} namespaces on one bridge
gpus: {hosts}
node:
  devices:
    - {{ name: switch, kind: switch }}
  links:
    - {{ from: gpu, to: switch, bandwidth: {goodput:.6f} GB/s, latency: {latency_us / 2:.3f} us }}
"""


def two_leaves(hosts, latency_us, goodput, uplink):
    lines = ["name: testbed-leaf-spine", f"description: {hosts} namespaces on two leaves and a spine", "graph:", "  devices:"]
    half = (hosts + 1) // 2
    lines += [f"    - {{ name: host{h}, kind: gpu }}" for h in range(hosts)]
    lines += [f"    - {{ name: {name}, kind: switch }}" for name in ("leaf0", "leaf1", "spine")]
    lines.append("  links:")
    lines += [f"    - {{ from: host{h}, to: leaf{h // half}, bandwidth: {goodput:.6f} GB/s, latency: {latency_us / 2:.3f} us }}"
              for h in range(hosts)]
    # A bridge more on the way costs next to nothing beside a wake-up.
    lines += [f"    - {{ from: leaf{leaf}, to: spine, bandwidth: {uplink:.6f} GB/s, latency: 0 us }}" for leaf in (0, 1)]
    return "\n".join(lines) + "\n"


def compare(algorithms, cluster, sizes, iterations, folder):
    """For each algorithm and size: measured and predicted us, in place."""
    file = folder / "cluster.yaml"
    file.write_text(cluster, encoding="utf-8")
    results = []
    for algorithm in algorithms:
        for size in sizes:
            _, text = measured(["all_reduce", "--algorithm", algorithm, "--cluster", str(file), "-b", size, "-e", size,
                                "-n", str(iterations), "-c", "0"], folder)
            row = re.search(r"^#\s+(\d+)  in\s+\S+\s+(\S+)\s+(\S+)\s+\S+ %$", text, re.M)
            results.append((algorithm, int(row[1]), float(row[2]), float(row[3])))
    return results


def table(title, results):
    print(f"\n{title}\n\n| all_reduce | size | measured | predicted | error |\n|---|---|---|---|---|")
    for algorithm, size, measured_us, predicted_us in results:
        print(f"| {algorithm} | {size / 2**20:g} MiB | {measured_us / 1e3:.1f} ms | {predicted_us / 1e3:.1f} ms | "
              f"{100 * (predicted_us / measured_us - 1):+.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--sizes", default="1M,4M")
    parser.add_argument("--iterations", type=int, default=3)
    options = parser.parse_args()
    sizes = options.sizes.split(",")
    rate = re.fullmatch(r"(\d+)(kbit|mbit|gbit)", options.rate)
    if not rate:
        sys.exit(f"--rate: expected a rate such as 100mbit, found {options.rate}")
    nominal = int(rate[1]) * UNITS[rate[2]] / 8e9
    where = ["--hosts", str(options.hosts), "--rate", options.rate]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            call(["up", *where])
            latency, goodput = link_of_send_recv(folder, options.iterations)
            print(f"send_recv between two hosts: {latency:.0f} us for 8 bytes, {goodput * 1e3:.2f} MB/s goodput "
                  f"({100 * goodput / nominal:.1f} % of {options.rate})")
            table(f"{options.hosts} hosts on one switch, {options.rate} a cable",
                  compare(ON_ONE_SWITCH, star(options.hosts, latency, goodput), sizes, options.iterations, folder))
            call(["down"])
            call(["up", *where, "--leaf-spine", "2:1"])
            uplink = goodput * ((options.hosts + 1) // 2) / 2
            table("The same hosts on two leaves, uplinks 2:1 oversubscribed",
                  compare(ON_TWO_LEAVES, two_leaves(options.hosts, latency, goodput, uplink), sizes, options.iterations, folder))
        finally:
            subprocess.run([*TESTBED, "down"], check=False)


if __name__ == "__main__":
    main()
