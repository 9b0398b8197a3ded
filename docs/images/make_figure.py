#!/usr/bin/env python3
"""Draws docs/images/all_reduce.svg: bus bandwidth against size, one line an algorithm.

    python3 docs/images/make_figure.py --collsim build/release/tools/collsim

Every point is a simulation: `collsim perf all_reduce --isolated …` on 4 DGX H100 nodes.
"""

import argparse
import csv
import io
import math
import pathlib
import subprocess

CLUSTER = "dgx-h100-x4"
ALGORITHMS = {  # name: colour, in the order of drawing
    "naive": "#9aa0a6",
    "tree": "#b07aa1",
    "recursive-doubling": "#59a14f",
    "ring": "#f28e2b",
    "direct": "#4e79a7",
    "hierarchical": "#d62728",
}
WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 50, 54


def curve(collsim, algorithm):
    """[(bytes, busbw in GB/s)] of one algorithm, in place."""
    command = [collsim, "perf", "all_reduce", "--cluster", CLUSTER, "--algorithm", algorithm, "--isolated",
               "-b", "1K", "-e", "4G", "-f", "4", "-c", "0", "--format", "csv", "--quiet"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = csv.DictReader(io.StringIO(text))
    return [(int(row["bytes"]), float(row["busbw_GBps"])) for row in rows if row["in_place"] == "true"]


def size_label(size):
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{size >> power} {unit}"
    return f"{size} B"


class Axes:
    def __init__(self, curves):
        points = [point for line in curves.values() for point in line]
        self.x = (math.log2(min(p[0] for p in points)), math.log2(max(p[0] for p in points)))
        self.y = (math.floor(math.log10(min(p[1] for p in points))), math.ceil(math.log10(max(p[1] for p in points))))

    def place(self, size, busbw):
        across = (math.log2(size) - self.x[0]) / (self.x[1] - self.x[0])
        up = (math.log10(busbw) - self.y[0]) / (self.y[1] - self.y[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)


def text(x, y, words, size=12, anchor="start", colour="#333", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
            f'font-weight="{weight}">{words}</text>')


def grid(axes):
    parts = []
    for power in range(axes.y[0], axes.y[1] + 1):
        x, y = axes.place(2 ** axes.x[0], 10.0 ** power)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e4e4e4"/>')
        parts.append(text(LEFT - 8, y + 4, f"{10.0 ** power:g}", anchor="end", colour="#666"))
    for power in range(int(axes.x[0]), int(axes.x[1]) + 1, 4):
        x, _ = axes.place(2 ** power, 10.0 ** axes.y[0])
        parts.append(text(x, HEIGHT - BOTTOM + 20, size_label(1 << power), anchor="middle", colour="#666"))
    return parts


def spread(labels, gap=15.0):
    """Moves labels (y, name) apart, keeping their order."""
    placed = []
    for y, name in sorted(labels):
        placed.append((max(y, placed[-1][0] + gap) if placed else y, name))
    return placed


def draw(curves):
    axes = Axes(curves)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Helvetica, Arial, sans-serif">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(LEFT, 22, "All-reduce on 4 DGX H100 nodes (32 GPUs), simulated", 15, weight="bold"),
             text(LEFT, 39, "bus bandwidth in GB/s, nominal links, no protocol and no launch cost", 11, colour="#666")]
    parts += grid(axes)
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "size of each GPU's buffer", anchor="middle", colour="#666"))
    labels = []
    for name, points in curves.items():
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (axes.place(*point) for point in points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{ALGORITHMS[name]}" stroke-width="2.2" stroke-linejoin="round"/>')
        labels.append((axes.place(*points[-1])[1] + 4, name))
    for y, name in spread(labels):
        parts.append(text(WIDTH - RIGHT + 8, y, name, colour=ALGORITHMS[name], weight="bold"))
    return "\n".join(parts + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collsim", default="build/release/tools/collsim")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).with_name("all_reduce.svg"))
    options = parser.parse_args()
    options.output.write_text(draw({name: curve(options.collsim, name) for name in ALGORITHMS}), encoding="utf-8")


if __name__ == "__main__":
    main()
