"""JSON and CSV against docs/output.md: every documented field is there with its type, and no other."""

import json
import pathlib
import re

import program
from program import STAR, TWO_NODES

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "output.md"
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
         "null": type(None)}


def documented(heading):
    """The rows of the table that follows a text of the document: field, type, when."""
    text = DOCUMENT.read_text(encoding="utf-8")
    table = text[text.index(heading) + len(heading):].split("|---|---|---|---|\n", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")][:3] for line in table.splitlines()]


class Document(program.Case):
    def check(self, value, heading, present=()):
        """`value` has the fields that are always there, may have others that are documented, and no more."""
        known = set()
        for field, kinds, when in documented(heading):
            name = field.strip("`")
            known.add(name)
            if when == "always" or name in present:
                self.assertIn(name, value)
            if name not in value:
                continue
            types = tuple(TYPES[kind] for kind in kinds.split(" or "))
            flat = tuple(kind for entry in types for kind in (entry if isinstance(entry, tuple) else (entry,)))
            self.assertIsInstance(value[name], flat, name)
            # In Python a bool is an int.
            self.assertEqual(isinstance(value[name], bool), bool in flat and value[name] is not None, name)
        self.assertEqual(set(value) - known, set())

    def keys_are_documented(self, value):
        """Every name at any depth stands in the document between backquotes."""
        text = DOCUMENT.read_text(encoding="utf-8")
        if isinstance(value, dict):
            for key, below in value.items():
                self.assertIn(f"`{key}`", text)
                self.keys_are_documented(below)
        elif isinstance(value, list):
            for item in value:
                self.keys_are_documented(item)

    def check_row(self, row, present=()):
        self.check(row, "### A row", present)
        self.keys_are_documented(row)
        self.assertEqual(sum(part["time_ps"] for part in row["attribution"]), row["time_ps"])
        self.assertAlmostEqual(row["time_us"], row["time_ps"] / 1e6)
        for name in ("input_digest", "result_digest"):
            self.assertRegex(row[name], r"^[0-9a-f]{32}$")
        for level in row["links"]["levels"]:
            self.assertLessEqual(level["peak_utilisation"], 1)
            self.assertLessEqual(level["used"], level["links"])


class Results(Document):
    ALL = ["--verify", "--critical-path", "--per-rank", "--timing"]

    def test_run(self):
        document = self.json("run", "all_reduce", *TWO_NODES, "--bytes", "1M", *self.ALL)
        self.check(document, "print one object:")
        self.assertEqual(document["schema"], "collsim/results/1")
        row = document["rows"][0]
        self.check_row(row, ["time_of_rank_ps", "critical_path", "check", "run_info", "chosen_because"])
        self.check(row["links"], "`links`:", ["top"])
        full = self.row("run", "all_reduce", *TWO_NODES, "--bytes", "1M", "--links", "all")
        self.check(full["links"], "`links`:", ["all"])
        self.keys_are_documented(full)

    def test_groups(self):
        row = self.row("run", "all_reduce", *TWO_NODES, "--bytes", "1M", "--groups", "dp=2")
        self.check_row(row, ["groups"])
        # A GPU of each node in each of four groups.
        self.assertEqual((row["ranks"], row["nodes"]), (2, 2))
        groups = row["groups"]
        self.assertEqual((groups["kind"], groups["size"], groups["count"]), ("dp", 2, 4))
        self.assertEqual(len(groups["time_of_group_ps"]), 4)
        self.assertEqual(groups["time_of_group_ps"][groups["slowest"]], row["time_ps"])
        lines = self.csv("run", "all_reduce", *TWO_NODES, "--bytes", "1M", "--groups", "dp=2", "--node-list", "node[1,0]")
        self.assertEqual([(line["groups"], line["placement"]) for line in lines], [("dp=2", "block of node[1,0]")])
        for row in self.json("compare", "all_reduce", *TWO_NODES, "--bytes", "1M", "--groups", "tp=4")["rows"]:
            self.assertEqual((row["groups"]["count"], row["nodes"]), (2, 1))

    def test_every_collective(self):
        for entry in self.json("list", "collectives")["entries"]:
            for row in self.rows("compare", entry["name"], *TWO_NODES, "--bytes", "1M"):
                with self.subTest(collective=entry["name"], algorithm=row["algorithm"]):
                    self.assertEqual(row["collective"], entry["name"])
                    self.check_row(row)
                    for bound in row["bounds"]:
                        self.assertLessEqual(bound["time_ps"], row["time_ps"])
                    self.assertEqual([bound["time_ps"] for bound in row["bounds"]],
                                     sorted((bound["time_ps"] for bound in row["bounds"]), reverse=True))

    def test_compare(self):
        document = self.json("compare", "all_reduce", *STAR, "--bytes", "1M")
        self.check(document, "print one object:", ["not_simulated"])
        self.keys_are_documented(document["not_simulated"])

    def test_perf(self):
        for averaging in ("0", "1", "2", "3"):
            # Ranks of a tree end at different times, so each averaging gives another time.
            for row in self.rows("perf", "broadcast", *TWO_NODES, "-b", "1M", "-e", "1M", "-a", averaging,
                                 "--algorithm", "tree"):
                self.check_row(row, ["iterations", "check"])
        self.assertNotIn("iterations", self.rows("perf", "broadcast", *TWO_NODES, "--isolated")[0])

    def test_integers_are_exact(self):
        # 2^60 - 4 bytes: a double has steps of 128 there.
        text = self.output("run", "send_recv", "--cluster", "textbook-mesh", "--set",
                           "node.links[0].bandwidth=1 PB/s", "--ranks", "2", "--bytes", "1152921504606846972",
                           "--format", "json")
        row = json.loads(text)["rows"][0]
        self.assertEqual(row["bytes"], 1152921504606846972)
        # A thousandth of a picosecond a byte.
        self.assertEqual(row["time_ps"], -(-1152921504606846972 // 1000) + 10**6)

    def test_the_same_twice(self):
        words = ["run", "all_reduce", *TWO_NODES, "--bytes", "1M", "--critical-path", "--per-rank", "--format", "json"]
        self.assertEqual(self.output(*words), self.output(*words))
        perf = ["perf", "all_gather", *TWO_NODES, "-b", "1K", "-e", "1M", "-f", "4"]
        self.assertEqual(self.output(*perf), self.output(*perf))

    def test_result_digest(self):
        words = ["run", "all_reduce", *TWO_NODES, "--bytes", "1M", "--algorithm", "ring"]
        digest = self.row(*words)["result_digest"]
        for option in (["--timing"], ["--trace", "t.json"], ["--links", "all"], ["--verify"], ["--critical-path"],
                       ["--per-rank"]):
            with self.subTest(option):
                self.assertEqual(self.row(*words, *option)["result_digest"], digest)
        for option in (["--chunks", "2"], ["--set", "nodes=3"], ["--network-model", "ideal"], ["--out-of-place"]):
            with self.subTest(option):
                self.assertNotEqual(self.row(*words, *option)["result_digest"], digest)

    def test_csv(self):
        columns = set()
        text = DOCUMENT.read_text(encoding="utf-8").split("## Results as CSV", 1)[1].split("```", 1)[0]
        for line in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE):
            columns |= set(re.findall(r"`(\w+)`", line))
        words = ["compare", "reduce", *TWO_NODES, "--bytes", "1M", "--root", "2"]
        lines = self.csv(*words)
        for line, row in zip(lines, self.rows(*words), strict=True):
            self.assertEqual(set(line), columns)
            for name in ("cluster", "algorithm", "ranks", "nodes", "bytes", "count", "redop", "root", "time_ps",
                         "transfers", "input_digest"):
                self.assertEqual(line[name], str(row[name]))
            self.assertEqual(float(line["busbw_GBps"]), row["busbw_GBps"])
            self.assertEqual(int(line["time_mean_ps"]), row["time_per_rank_ps"]["mean"])
            self.assertEqual((line["bound"], int(line["bound_ps"])),
                             (row["bounds"][0]["name"], row["bounds"][0]["time_ps"]))
        rootless = self.csv("run", "all_gather", *STAR, "--bytes", "0")[0]
        self.assertEqual((rootless["redop"], rootless["root"], rootless["bound"]), ("", "", ""))

    def test_csv_quotes_what_needs_it(self):
        self.file("c/clusters/odd.yaml", 'name: odd\ndescription: \'a "quoted", description\'\ngpus: 2\nnode:\n'
                                         "  links:\n    - { from: gpu, to: gpu, connect: mesh, bandwidth: 1 GB/s, "
                                         "latency: 0 ns }\n")
        entries = {line["name"]: line for line in self.csv("list", "clusters", "--config-dir", "c")}
        self.assertEqual(entries["odd"]["description"], 'a "quoted", description')


class Others(Document):
    def test_list(self):
        for kind in ("clusters", "nodes", "algorithms", "collectives", "parameters"):
            document = self.json("list", kind)
            self.check(document, "`collsim/list/1`")
            self.assertEqual((document["schema"], document["kind"]), ("collsim/list/1", kind))
            self.keys_are_documented(document)

    def test_topology(self):
        document = self.json("topology", "show", *TWO_NODES)
        self.check(document, "`collsim topology show`", ["nics", "longest_route"])
        self.assertEqual(document["schema"], "collsim/topology/1")
        types = {"devices", "paths"}
        self.keys_are_documented({key: value for key, value in document.items() if key not in types})
        (paths,) = document["paths"]
        self.keys_are_documented(dict.fromkeys(paths))
        self.assertNotIn("nics", self.json("topology", "show", *STAR))

    def test_topology_check(self):
        document = self.json("topology", "check", *TWO_NODES, "--set", "node.links[0].latency=1 ms")
        self.check(document, "`collsim topology check`")
        self.assertEqual(document["schema"], "collsim/topology-check/1")
        self.assertEqual(len(document["findings"]), 1)
        self.keys_are_documented(document)

    def test_validation(self):
        document = self.json("validate", "--cluster", "dgx-h100", "--measurements", "h100-sxm-aic", "--max-bytes", "64K",
                             "--collectives", "all_to_all,all_reduce")
        self.check(document, "`collsim validate`")
        self.assertEqual(document["schema"], "collsim/validation/1")
        self.keys_are_documented(document)
        nested = ["by_band", "by_collective"]
        for scores in (document["summary"], document["apart"], *document["rivals"].values()):
            self.check(scores, "A score:", nested)
            for score in (*scores["by_band"].values(), *scores["by_collective"].values()):
                self.check(score, "A score:")
        for run in document["runs"]:
            self.check(run, "A run has the fields of a score")
            for row in run["rows"]:
                self.check(row, "A measured row:")

    def test_hierarchy(self):
        document = self.json("hierarchy", "--cluster", "dgx-h100-x4", *STAR)
        self.check(document, "`collsim hierarchy`")
        self.assertEqual(document["schema"], "collsim/hierarchy/1")
        self.keys_are_documented(document)
        self.assertEqual([ladder["cluster"] for ladder in document["ladders"]], ["dgx-h100-x4", "textbook-star"])
        for ladder in document["ladders"]:
            self.check(ladder, "A ladder:")
            for rung in ladder["rungs"]:
                outside = ["devices", "example", "through"] if rung["kind"] != "memory" else []
                self.check(rung, "A rung:", outside)
                self.assertEqual("devices" in rung, rung["kind"] != "memory")
        star = document["ladders"][1]["rungs"]
        # 50 GB/s and 500 ns there and from there; what the memory behind it adds is not described.
        self.assertEqual(star, [{
            "kind": "gpu", "scope": "node", "level": "link", "name": "GPU over a link",
            "capacity_bytes": None, "capacity_source": None, "bandwidth_Bps": 50e9, "bandwidth_source": "links",
            "latency_ps": 1_000_000, "latency_source": "links", "load_ps": None, "times_slower": None,
            # 20 ps a byte.
            "times": [{"bytes": 2**20, "fits": True, "time_ps": 20 * 2**20 + 1_000_000},
                      {"bytes": 2**30, "fits": True, "time_ps": 20 * 2**30 + 1_000_000}],
            "devices": 7, "example": "gpu1", "through": ["switch"]}])


program.main()
