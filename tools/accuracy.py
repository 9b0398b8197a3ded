#!/usr/bin/env python3
"""Writes docs/accuracy.md and its plots: how far predictions are from measured machines.

  bash tools/accuracy.sh                                                     builds, then writes all (some minutes)
  python3 tools/accuracy.py --collsim build/release/tools/collsim            writes all
  python3 tools/accuracy.py --collsim build/release/tools/collsim --check    fails if what takes no fit is out of date

All figures come from the program: `validate` of the shipped sets on the shipped tables, `calibrate` for what is left out.
"""

import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "accuracy.md"
PLOTS = ROOT / "docs" / "accuracy"

# What each shipped set was fitted to: set, start of the fit, tables by cluster.
FITTED = [
    ("nccl-ampere", "nccl-ampere-nominal", {"dgx-a100": "a100-sxm-aic"}),
    ("nccl-hopper", "nccl-hopper-nominal", {"dgx-h100": "h100-sxm-aic"}),
    ("nccl-blackwell", "nccl-blackwell-nominal", {"dgx-b200": "b200-sxm-aic", "gb200-nvl72": "gb200-aic"}),
]
# Sets of cards over PCIe, fitted to the tables of 2 and 4 GPUs.
CARDS = [
    ("nccl-ada", {"l40s": "l40s-aic"}),
    ("nccl-blackwell-pcie", {"rtx-pro-6000-server": "rtx-pro-6000-server-aic"}),
]
TIERS = ["", "-generation", "-nominal"]
TIER_NAMES = {"": "fitted", "-generation": "generation", "-nominal": "nominal"}
BANDS = ["<= 64 KiB", "64 KiB - 1 MiB", "1 - 16 MiB", ">= 16 MiB"]
RIVALS = [("best_line", "best straight line"), ("nccl_formula", "NCCL's formula"), ("constant_busbw", "constant busbw")]

INTRODUCTION = """\
# Accuracy

How far predictions are from machines. Written by `bash tools/accuracy.sh` from the measured tables in [configs/measurements](../configs/measurements/README.md), with the sets of [parameters](parameters.md) that ship; a test holds these
figures to the program.

An error is |predicted / measured - 1|; `2.3 / 7.1 %` is the median and the 90th percentile over all rows: 512 B to 512 MiB, 2, 4 and 8 GPUs, two data types. NCCL's choice of algorithm, protocol and channels is predicted, too, from the version that a table names. Two runs of the same table on one machine differ by
0.3 to 0.8 % (median) and 1.5 to 9 % (90th percentile); two machines of one kind by 3 and 7 %: below that a better model cannot be seen.

The rivals are what one would use otherwise, on the same rows: the best straight line (latency and bandwidth) for each table, fitted to that very table; the time that NCCL's own tuning model expects; and a constant bus bandwidth.
"""

FITTED_HEAD = """
## On the tables that parameters were fitted to

One set of parameters a generation, for all collectives, numbers of ranks, types and sizes.

"""

BANDS_HEAD = """
By size:

"""

TIERS_HEAD = """
## What each tier is worth

The same tables with the three tiers of a generation's parameters: all that the data decide; nine values with the rest in fixed ratios; and none, only rates of links and what literature says.

"""

LEFT_OUT_HEAD = """
## Predicted without having been seen

A group of rows is left out, everything is fitted to the rest, beginning from the nominal set, and the errors are those on what was left out. Numbers of ranks are left out where two others remain. A collective that is made of other mechanisms than those that remain
(all_to_all: sends and receives, with launches, hand-offs and rates of their own) is predicted by fixed ratios alone (one rule for three generations, in which their fits, and so these tables, had a part), and is as far off as they are. So it is for NVLS, which only calls of 8 GPUs use, where these are left out: what its blocks copy is in a fixed ratio to
what they copy in a ring (one rule for Hopper and Blackwell, in which their fits had a part).

"""

UNEXPLAINED = """
## What stays unexplained

- **A left-out all_to_all.** A launch of sends takes 1.13, 1.17 and 0.99 times a ring's on Ampere, Hopper and Blackwell, and their hand-off 1.54, 0.89 and 0.44 times: no ratio serves all, and no mechanism is known that would set it.
- **The first sizes in Simple** come out up to 15 % too slow where hops are many and a few percent too fast where there is one. A start that Simple pays once, as LL and LL128 do (2 to 3 us), would take a little of that away on Hopper, hardly anything on A100.
- **NVLSTree on two nodes of Hopper** ends at 260 GB/s in published tables of EFA and of RoCE alike (others: [machines](machines.md)); here it ends where NVLS in one node does, 7 % higher. What the tree's further warps take from it is not known. EFA's set makes up for it with 4 us a message, where 2 us would do from 1 to 16 MiB.
- **One GPU and one NIC a node.** Published tables of H200 with RoCE end at 32 of 50 GB/s, about what four channels in step would reach: each waits for its last slice before it sends the next, and the NIC waits with them. Simulated channels drift apart, and come to 41.
"""

CURVES_HEAD = """
## Curves

"""


def run(collsim, *words):
    done = subprocess.run([collsim, *words, "--quiet"], capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def tables_of(machines):
    words = []
    for cluster, name in machines.items():
        words += ["--measurements", f"{cluster}={name}"]
    return words


def validate(collsim, machines, parameters, *more):
    return json.loads(run(collsim, "validate", *tables_of(machines), "--parameters", parameters, "--format", "json", *more))


def errors(score):
    if score is None or score["points"] == 0:
        return "-"
    return f"{100 * score['median_abs_error']:.1f} / {100 * score['p90_abs_error']:.1f} %"


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def names(machines):
    return ", ".join(f"`{name}`" for name in machines.values())


def fitted_part(results):
    rows = []
    for machines, result in results:
        summary = result["summary"]
        rows.append([names(machines), "all", str(summary["points"]), errors(summary)] +
                    [errors(result["rivals"][key]) for key, _ in RIVALS])
        for collective, score in summary["by_collective"].items():
            rows.append(["", collective, str(score["points"]), errors(score)] +
                        [errors(result["rivals"][key]["by_collective"].get(collective)) for key, _ in RIVALS])
    return FITTED_HEAD + table(["tables", "collective", "rows", "collsim"] + [name for _, name in RIVALS], rows)


def bands_part(results):
    rows = []
    for machines, result in results:
        rows.append([names(machines)] + [errors(result["summary"]["by_band"][band]) for band in BANDS])
    return BANDS_HEAD + table(["tables"] + [band.replace("<", "&lt;").replace(">", "&gt;") for band in BANDS], rows)


def tiers_part(collsim, results):
    rows = []
    for (parameters, _, machines), fitted in zip(FITTED, results):
        row = [names(machines)]
        for tier in TIERS:
            result = fitted if tier == "" else validate(collsim, machines, parameters + tier)
            row.append(errors(result["summary"]))
        rows.append(row)
    return TIERS_HEAD + table(["tables"] + [TIER_NAMES[tier] for tier in TIERS], rows)


def left_out_part(collsim):
    kinds = ["sizes", "ranks", "collectives", "machines"]
    rows = []
    for _, start, machines in FITTED:
        report = json.loads(run(collsim, "calibrate", *tables_of(machines), "--start", start, "--format", "json",
                                "--leave-out", ",".join(kinds)))
        for kind in kinds:
            folds = [fold for fold in report["left_out"] if fold["kind"] == kind]
            for fold in folds:
                rows.append([names(machines), kind, fold["group"], str(fold["points"]), errors(fold)])
    return LEFT_OUT_HEAD + table(["tables", "left out", "which", "rows", "error on them"], rows)


def curves_part(collsim, write):
    text = CURVES_HEAD
    for parameters, machines in [(parameters, machines) for parameters, _, machines in FITTED] + CARDS:
        for cluster, name in machines.items():
            if write:
                PLOTS.mkdir(exist_ok=True)
                run(collsim, "validate", "--measurements", f"{cluster}={name}", "--parameters", parameters,
                    "--plot", str(PLOTS / f"{name}.svg"))
            text += f"![{name}: measured and predicted](accuracy/{name}.svg)\n\n"
    return text.rstrip() + "\n"


def part_of_page(head):
    """The text of a part of the page as it stands."""
    page = PAGE.read_text(encoding="utf-8")
    begin = page.index(head)
    following = re.search(r"^## ", page[begin + len(head):], re.MULTILINE)
    end = begin + len(head) + following.start() if following else len(page)
    return page[begin:end].rstrip("\n") + "\n"


def page_of(collsim, keep_left_out, write_plots):
    results = [validate(collsim, machines, parameters) for parameters, _, machines in FITTED]
    cards = [(machines, validate(collsim, machines, parameters)) for parameters, machines in CARDS]
    shown = [(machines, result) for (_, _, machines), result in zip(FITTED, results)] + cards
    text = INTRODUCTION + fitted_part(shown) + bands_part(shown) + tiers_part(collsim, results)
    text += part_of_page(LEFT_OUT_HEAD) if keep_left_out else left_out_part(collsim)
    return text + UNEXPLAINED + curves_part(collsim, write_plots)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collsim", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep-left-out", action="store_true", help="write all but the part that needs fits")
    options = parser.parse_args()
    collsim = str(pathlib.Path(options.collsim).resolve())
    text = page_of(collsim, options.check or options.keep_left_out, not options.check)
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
        return
    there = PAGE.read_text(encoding="utf-8")
    if there != text:
        sys.stdout.writelines(difflib.unified_diff(there.splitlines(True), text.splitlines(True),
                                                   "docs/accuracy.md", "what the program says"))
        sys.exit("docs/accuracy.md is out of date: bash tools/accuracy.sh")


if __name__ == "__main__":
    main()
