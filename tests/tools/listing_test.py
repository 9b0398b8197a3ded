"""`collsim list` and `collsim topology show`."""

from pathlib import Path

import program
from program import STAR, TWO_NODES

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


class Listing(program.Case):
    def names(self, kind, *words):
        return [entry["name"] for entry in self.json("list", kind, *words)["entries"]]

    def test_clusters_and_nodes(self):
        for kind, some in [("clusters", ["dgx-h100", "dgx-h100-x4", "textbook-star-8"]), ("nodes", ["dgx-h100"]),
                           ("gpus", ["h100-sxm", "mi300x"])]:
            files = sorted(file.stem for file in (CONFIGS / kind).glob("*.yaml"))
            self.assertEqual(self.names(kind), files)
            self.assertLessEqual(set(some), set(files))

    def test_every_cluster_that_is_listed_can_be_used(self):
        for name in self.names("clusters"):
            with self.subTest(name):
                self.assertEqual(self.json("topology", "show", "--cluster", name)["schema"], "collsim/topology/1")

    def test_collectives_and_algorithms(self):
        self.assertEqual(self.names("collectives"),
                         ["broadcast", "scatter", "gather", "reduce", "all_gather", "reduce_scatter", "all_reduce",
                          "all_to_all", "send_recv"])
        algorithms = self.json("list", "algorithms")["entries"]
        collectives = self.json("list", "collectives")["entries"]
        self.assertEqual({(algorithm["name"], collective) for algorithm in algorithms
                          for collective in algorithm["collectives"]},
                         {(algorithm, collective["name"]) for collective in collectives
                          for algorithm in collective["algorithms"]})

    def test_parameters(self):
        self.assertEqual(self.names("parameters"), [])
        self.assertEqual(self.output("list", "parameters"),
                         "There are no parameters: results are nominal (no protocol, no launch).\n")

    def test_tables_fit_a_page(self):
        for kind in ("algorithms", "collectives"):
            for line in self.output("list", kind).splitlines():
                self.assertLessEqual(len(line), 100)

    def test_origin(self):
        self.file("here/configs/clusters/mine.yaml", "name: mine\ndescription: a test\nnode:\n  gpus: 1\n")
        # Below the current folder: as one would type it. Elsewhere: whole.
        absolute = str(self.folder.resolve() / "here" / "configs")
        for folder, shown in [(self.folder, "here/configs/"), (self.folder / "here", "configs/"),
                              (self.folder / "here" / "configs" / "clusters", absolute + "/")]:
            done = self.run_program("list", "clusters", "--config-dir", absolute, "--format", "csv", cwd=folder)
            self.assertIn(f"mine,a test,{shown}clusters/mine.yaml\n", done.stdout)
        self.assertIn(",here/configs/clusters/mine.yaml:1\n",
                      self.output("topology", "show", "--cluster", "mine", "--config-dir", absolute, "--format", "csv"))

    def test_an_entry_that_cannot_be_read_says_so(self):
        self.file("c/clusters/broken.yaml", "name: [\n")
        entries = {entry["name"]: entry for entry in self.json("list", "clusters", "--config-dir", "c")["entries"]}
        self.assertRegex(entries["broken"]["description"], "^cannot be read: ")


class Topology(program.Case):
    def test_summary(self):
        document = self.json("topology", "show", *TWO_NODES)
        self.assertEqual(document["devices"], {"gpu": 8, "nic": 2, "switch": 3})
        self.assertEqual(document["nodes"], 2)
        self.assertEqual([(link["level"], link["links"], link["bandwidth_Bps"], link["latency_ps"])
                          for link in document["links"]],
                         # 2 NIC-switch pairs, 8 GPUs, 2 cables; both ways.
                         [("link", 4, 12.5e9, 0), ("link", 16, 50e9, 500_000), ("leaf", 4, 12.5e9, 1_000_000)])
        self.assertEqual(document["gpu_cut"], {f"{way}_{end}_Bps": 50e9 for way in ("out", "in") for end in ("min", "max")})
        self.assertEqual(document["node_cut"]["out_max_Bps"], 12.5e9)

    def test_values_and_where_they_come_from(self):
        document = self.json("topology", "show", *TWO_NODES, "--set", "nodes=3")
        values = {value["path"]: value for value in document["values"]}
        self.assertEqual((values["nodes"]["value"], values["nodes"]["origin"]), ("3", "--set"))
        self.assertEqual(values["fabric.routing"]["origin"], "default")
        self.assertRegex(values["fabric.link.bandwidth"]["origin"], r"configs/clusters/textbook-2x4\.yaml:\d+$")
        self.assertEqual(document["devices"]["gpu"], 12)

    def test_table(self):
        text = self.output("topology", "show", *STAR)
        self.assertEqual(text.split("\n\n")[0],
                         "textbook-star: GPUs around one ideal switch, 50 GB/s and 500 ns a link\n"
                         "  nodes           1\n  gpu             8\n  switch          1\n"
                         "  links of a GPU  50 GB/s out, 50 GB/s in")
        self.assertRegex(text, r"\n  node\.links\[0\]\.bandwidth  50 GB/s +\S+textbook-star\.yaml:\d+\n")

    def test_csv(self):
        lines = self.csv("topology", "show", *STAR)
        self.assertEqual(list(lines[0]), ["path", "value", "origin"])
        self.assertIn(("node.gpus", "8"), [(line["path"], line["value"]) for line in lines])


program.main()
