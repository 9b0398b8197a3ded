#!/usr/bin/env python3
"""Digests of a fixed grid of runs against those on record: every collective by every algorithm, NCCL's programs among them, on clusters
with and without symmetry, under both network models, folded and in full.

  digests_test.py --collsim PROGRAM             compares
  digests_test.py --collsim PROGRAM --update    records

One build made the record. That every other one has the same digests is what is tested: CI compares a release build and one with
sanitizers at another optimisation level, and HACKING.md says how to compare another compiler's. A change of what is simulated changes
digests; then it updates the record and says why.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().with_name("digests.txt")

# Keys of an experiment's base; whose algorithms run there; the network models.
MACHINES = {
    "star": ("cluster: textbook-star, set: { gpus: 6 }, bytes: 1MiB, parameters: none", "ours", ("flow", "ideal")),
    "uneven": ("cluster: textbook-2x4, set: { nodes: 3 }, bytes: 1000004, parameters: none", "ours", ("flow", "ideal")),
    "rails": ("cluster: dgx-h100-superpod, set: { nodes: 3 }, bytes: 3MiB, parameters: none, channels: 2", "ours", ("flow",)),
    "hashed": ("cluster: dgx-h100-superpod, set: { nodes: 2, fabric.routing: ecmp }, bytes: 1MiB, parameters: none", "ours", ("flow",)),
    "groups": ("cluster: dgx-h100-x4, groups: dp=4, bytes: 1MiB, parameters: none", "ours", ("flow",)),
    "h100": ("cluster: dgx-h100, bytes: 3MiB", "nccl", ("flow",)),
    "h100 x2": ("cluster: dgx-h100-x4, set: { nodes: 2 }, bytes: 1MiB", "nccl", ("flow",)),
    "h100 x4, a GPU a node": ("cluster: dgx-h100-x4, gpus_per_node: 1, bytes: 1MiB", "nccl", ("flow",)),
    "h100 x4, SHARP": ("cluster: dgx-h100-x4, set: { fabric.reduction: sharp }, env: { NCCL_COLLNET_ENABLE: 1 }, bytes: 1MiB", "nccl", ("flow",)),
    "l40s": ("cluster: l40s, bytes: 256KiB", "nccl", ("flow",)),
}
FOLDS = ("require", "off")


def run(collsim, *words, **options):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("COLLSIM_")}
    return subprocess.run([collsim, *words], env=kept, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
                          **options)


def calls(collsim, whose):
    """Collectives and the algorithms that implement them."""
    for entry in json.loads(run(collsim, "list", "algorithms", "--format", "json").stdout)["entries"]:
        algorithm = entry["name"]
        nccls = algorithm.startswith(("nccl", "nvls", "collnet", "pat"))
        for collective in entry["collectives"] if nccls == (whose == "nccl") else []:
            yield collective, algorithm


def digests(collsim, machine):
    """By run, the digests of all the ways in which it was simulated. Algorithms that do not apply are left out."""
    base, whose, models = MACHINES[machine]
    values = ", ".join(f"{{ label: {collective} by {algorithm}, collective: {collective}, algorithm: {algorithm} }}"
                       for collective, algorithm in calls(collsim, whose))
    experiment = (f"name: digests\nbase: {{ {base} }}\naxes:\n  network_model: [{', '.join(models)}]\n"
                  f"  call: {{ values: [ {values} ] }}\n  fold: [{', '.join(FOLDS)}]\n")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "digests.yaml").write_text(experiment, encoding="utf-8")
        done = run(collsim, "sweep", "digests.yaml", "--format", "json", "--quiet", cwd=folder)
    if done.returncode not in (0, 1):
        sys.exit(f"{machine}: collsim sweep ended with {done.returncode}:\n{done.stderr}")
    document = json.loads(done.stdout)
    for failed in document.get("failed", []):
        if failed["exit_code"] != 2:
            sys.exit(f"{machine}: {failed['axes']}: {failed['message']}")
    found = {}
    for row in document["rows"]:
        name = f"{machine}, {row['axes']['network_model']}: {row['axes']['call']}"
        found.setdefault(name, set()).add(row["result_digest"])
    return found


def read_record():
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    return dict(reversed(line.split(" ", 1)) for line in lines if not line.startswith("#"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collsim", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    collsim = str(options.collsim.resolve())

    found = {}
    for machine in MACHINES:
        found |= digests(collsim, machine)
    torn = {name: all_of_them for name, all_of_them in found.items() if len(all_of_them) != 1}
    for name, all_of_them in torn.items():
        print(f"{name}: folded and in full differ: {' '.join(sorted(all_of_them))}")
    if torn:
        return 1
    ours = {name: min(one) for name, one in found.items()}
    if options.update:
        text = "# Written by digests_test.py --update\n" + "".join(f"{digest} {name}\n" for name, digest in ours.items())
        RECORD.write_text(text, encoding="utf-8")
        return 0
    record = read_record()
    wrong = [name for name in record | ours if record.get(name) != ours.get(name)]
    for name in wrong:
        print(f"{name}: on record is {record.get(name, 'nothing')}, this build has {ours.get(name, 'nothing')}")
    print(f"{len(ours)} runs, {len(wrong)} differ from the record")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
