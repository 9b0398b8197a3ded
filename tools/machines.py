#!/usr/bin/env python3
"""Writes docs/machines.md: every node and every cluster that is shipped, in tables.

  python3 tools/machines.py --collsim build/release/tools/collsim           writes the page
  python3 tools/machines.py --collsim build/release/tools/collsim --check   fails if it is out of date

All figures come from the program (`list`, `topology show`, `run`), the source keys from the comments of
the YAML files, the names of measured machines from measured_machines.py.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from measured_machines import MEASURED

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "machines.md"
# As in comments of configs/: upper case, perhaps with digits.
SOURCE = re.compile(r"\[([A-Z0-9][A-Z0-9&]+)\]")
LINK_KINDS = ("nvlink", "xgmi", "pcie", "socket")

INTRODUCTION = """\
# Machines

What is shipped in `configs/`, written by `python3 tools/machines.py --collsim build/release/tools/collsim`. All rates are nominal, for one direction, in GB/s;
what the source keys mean, and which figures are estimates, is in [configs/README.md](../configs/README.md) and in the comments of each file.

## Nodes

Each is a cluster by its name too: `collsim run all_reduce --cluster mi300x --bytes 1GiB`. Where the cluster of that name has several nodes ({larger}),
`--set nodes=1` leaves one. *Two GPUs* is what the first two send each other at once
(`send_recv` of 64 GiB), *all GPUs* what each of them sends in an all-to-all of 64 GiB; both simulated, without protocol or launch.

"""

CLUSTERS = """
## Clusters

`--set nodes=N` changes the size of any of them, as far as its switches have ports (a third tier has more: `--set 'fabric.core={ports: 64}'` with rails), but of a torus. There the
dimensions change with it: `--set nodes=512 --set 'fabric.dimensions={x: 8, y: 8, z: 8}'`. *Out of a node* is what the NICs' cables allow, for each GPU.

"""

GPUS = """
## GPUs

What is inside each, for `collsim hierarchy` (nodes name it as `gpu_memory`). *Memory* is the maker's figure.

"""

MEASURED_MACHINES = """
## Measured machines

Machines of which tables of nccl-tests (rccl-tests) are published, by the names in the field `machine` of such a table, and the description that stands for each. *GPUs* is how many
there are to run on: `--nodes`, `--ranks` and `--placement` choose those of a table.

"""

TEXTBOOK = """
## Textbook machines

Round numbers, for learning.

"""


class Collsim:
    """The program, run at the root of the source tree with its own configs only."""

    def __init__(self, executable):
        self.executable = str(pathlib.Path(executable).resolve())
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("COLLSIM_")}

    def json(self, *words):
        done = subprocess.run([self.executable, *words, "--format", "json"], cwd=ROOT, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8", check=True)
        return json.loads(done.stdout)

    def names(self, kind):
        return self.json("list", kind)["entries"]

    def topology(self, cluster, *words):
        document = self.json("topology", "show", "--cluster", cluster, *words)
        document["in_force"] = {value["path"]: value["value"] for value in document["values"]}
        return document

    def rate(self, collective, cluster, *words):
        rows = self.json("run", collective, "--cluster", cluster, "--set", "nodes=1", "--bytes", "64GiB", "--parameters", "none",
                         "--quiet", *words)
        return number(rows["rows"][0]["busbw_GBps"])


def number(value):
    """Four significant digits: what a specification says, without the trace that latency leaves."""
    return f"{float(f'{value:.4g}'):g}"


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def sources(*files):
    comments = "\n".join(line.partition("#")[2] for file in files
                         for line in (ROOT / file).read_text(encoding="utf-8").splitlines())
    return " ".join(sorted(set(SOURCE.findall(comments))))


def linked(entry):
    """The name, leading to its file."""
    return f"[`{entry['name']}`](../{entry['origin']})"


def link_rates(topology):
    """The bandwidths of each kind of link in the node: "nvlink 450, pcie 63"."""
    texts = []
    for kind in LINK_KINDS:
        rates = sorted({link["bandwidth_Bps"] / 1e9 for link in topology["links"] if link["kind"] == kind}, reverse=True)
        if rates:
            texts.append(f"{kind} " + " or ".join(f"{rate:g}" for rate in rates))
    return ", ".join(texts)


def node_row(collsim, node, folder):
    name = node["name"]
    topology = collsim.topology(name, "--set", "nodes=1")
    placement = folder / "two.txt"
    placement.write_text("gpu0\ngpu1\n", encoding="utf-8")
    gpus = topology["devices"]["gpu"]
    rates = ["", ""] if gpus == 1 else [collsim.rate("send_recv", name, "--placement", str(placement)),
                                        collsim.rate("all_to_all", name)]
    return [linked(node), node["description"], str(gpus), *rates, link_rates(topology), str(topology["devices"].get("nic", 0)), sources(node["origin"])]


def gpu_row(collsim, gpu):
    values = collsim.topology("textbook-star", "--set", f"node.gpu_memory={gpu['name']}")["in_force"]
    levels = {value: path.removesuffix(".level") for path, value in values.items() if path.endswith(".level")}
    memory, cache = levels["memory"], levels["l2"]
    return [linked(gpu), gpu["description"], values[f"{cache}.capacity.value"], values[f"{memory}.name"],
            values[f"{memory}.capacity.value"], values[f"{memory}.bandwidth.value"], sources(gpu["origin"])]


def fabric_text(values):
    text = values["fabric.kind"]
    over = [value for path, value in values.items() if path.endswith("oversubscription") and value != "1"]
    return text + "".join(f", {value}:1" for value in over)


def cluster_row(collsim, cluster):
    topology = collsim.topology(cluster["name"])
    values = topology["in_force"]
    nodes, gpus = topology["nodes"], topology["devices"]["gpu"]
    out = next(cut for cut in topology["cuts"] if cut["part"] == "node")["out_min_Bps"] * nodes / gpus / 1e9
    files = {value["origin"].rpartition(":")[0] for value in topology["values"] if ".yaml:" in value["origin"]}
    return [linked(cluster), cluster["description"], str(nodes), str(gpus), fabric_text(values),
            values["fabric.routing"], number(out), sources(*files)]


def measured_row(collsim, measured):
    names = ", ".join(f"`{name}`" for name in measured.machines.split())
    if not measured.cluster:
        return [names, measured.published, "none", "", measured.differs]
    words = [word for setting in measured.settings for word in ("--set", setting)]
    topology = collsim.topology(measured.cluster, *words)
    words = shlex.join(["--cluster", measured.cluster, *words])
    return [names, measured.published, f"`{words}`", str(topology["devices"]["gpu"]), measured.differs]


def page(collsim):
    nodes = collsim.names("nodes")
    alone = {node["name"] for node in nodes}
    clusters, textbook, larger = [], [], []
    for cluster in collsim.names("clusters"):
        if cluster["name"].startswith("textbook-"):
            textbook.append([linked(cluster), cluster["description"]])
            continue
        several = collsim.topology(cluster["name"])["nodes"] > 1
        if several and cluster["name"] in alone:
            larger.append(f"`{cluster['name']}`")
        if several or cluster["name"] not in alone:
            clusters.append(cluster_row(collsim, cluster))
    with tempfile.TemporaryDirectory() as folder:
        rows = [node_row(collsim, node, pathlib.Path(folder)) for node in nodes]
    gpus = [gpu_row(collsim, gpu) for gpu in collsim.names("gpus")]
    return (INTRODUCTION.format(larger=", ".join(larger))
            + table(["node", "", "GPUs", "two GPUs", "all GPUs", "links", "NICs", "sources"], rows)
            + CLUSTERS
            + table(["cluster", "", "nodes", "GPUs", "fabric", "routing", "out of a node", "sources"], clusters)
            + MEASURED_MACHINES
            + table(["measured", "published by", "as", "GPUs", "what differs, or is not told"],
                    [measured_row(collsim, measured) for measured in MEASURED])
            + GPUS
            + table(["GPU", "", "L2", "", "memory", "", "sources"], gpus)
            + TEXTBOOK
            + table(["cluster", ""], textbook))


def main():
    parser = argparse.ArgumentParser(description="Writes docs/machines.md.")
    parser.add_argument("--collsim", required=True, metavar="FILE", help="the program")
    parser.add_argument("--check", action="store_true", help="do not write; fail if the page is out of date")
    options = parser.parse_args()
    text = page(Collsim(options.collsim))
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    there = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    difference = list(difflib.unified_diff(there.splitlines(), text.splitlines(), "docs/machines.md", "as it should be", lineterm=""))
    if difference:
        print("\n".join(difference))
        print(f"\nout of date: run python3 tools/machines.py --collsim {options.collsim}")
    return 1 if difference else 0


sys.exit(main())
