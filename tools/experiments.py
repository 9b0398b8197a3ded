#!/usr/bin/env python3
"""Holds docs/experiments.md to the experiments that ship: each has its place there, with its table and its plot.

  bash tools/experiments.sh                                                     builds, then writes all (a minute)
  python3 tools/experiments.py --collsim build/release/tools/collsim            writes tables and plots
  python3 tools/experiments.py --collsim build/release/tools/collsim --check    fails if any is out of date

In the page `$ collsim sweep NAME --plot NAME.svg` stands above the table. Of a long table lines may be left out: "…" alone on
a line stands for them, and as many lines as there are before and behind it are kept.
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "experiments.md"
PLOTS = ROOT / "docs" / "experiments"
EXPERIMENTS = ROOT / "configs" / "experiments"
BLOCK = re.compile(r"```console\n\$ collsim sweep (\S+) --plot (\S+)\.svg\n(.*?)```\n", re.DOTALL)
ELLIPSIS = "…"


def sweep(collsim, name, folder):
    """The table, as lines, and the plot."""
    plot = pathlib.Path(folder, name + ".svg")
    done = subprocess.run([collsim, "sweep", name, "--config-dir", str(ROOT / "configs"), "--plot", str(plot), "--points",
                           str(pathlib.Path(folder, name + ".jsonl"))], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"collsim sweep {name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines(), plot.read_text(encoding="utf-8")


def shortened(shown, lines):
    """The lines, without those that the page leaves out."""
    if ELLIPSIS not in [line.strip() for line in shown]:
        return lines
    at = [line.strip() for line in shown].index(ELLIPSIS)
    behind = len(shown) - at - 1
    return lines[:at] + [shown[at]] + lines[len(lines) - behind:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collsim", required=True, type=pathlib.Path, help="the executable")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    collsim = str(options.collsim.resolve())

    page = PAGE.read_text(encoding="utf-8")
    shown = {match.group(1) for match in BLOCK.finditer(page)}
    shipped = {path.stem for path in EXPERIMENTS.glob("*.yaml")}
    if shown != shipped:
        sys.exit(f"{PAGE.name} and configs/experiments differ: {', '.join(sorted(shown ^ shipped))}")

    plots = {}
    with tempfile.TemporaryDirectory() as folder:
        def filled(match):
            name = match.group(1)
            lines, plots[name] = sweep(collsim, name, folder)
            table = "\n".join(shortened(match.group(3).splitlines(), lines))
            return f"```console\n$ collsim sweep {name} --plot {name}.svg\n{table}\n```\n"

        new = BLOCK.sub(filled, page)

    if not options.check:
        PAGE.write_text(new, encoding="utf-8")
        PLOTS.mkdir(exist_ok=True)
        for name, text in plots.items():
            (PLOTS / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"{len(plots)} experiments written")
        return 0
    failed = new != page
    sys.stdout.writelines(difflib.unified_diff(page.splitlines(True), new.splitlines(True), "docs/experiments.md", "now"))
    for name, text in plots.items():
        path = PLOTS / f"{name}.svg"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            failed = True
            print(f"docs/experiments/{name}.svg is out of date: bash tools/experiments.sh")
    print(f"{len(plots)} experiments run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
