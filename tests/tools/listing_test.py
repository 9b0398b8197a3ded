"""`collsim list`."""

from pathlib import Path

import program

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


class Hostile(program.Case):
    def test_descriptions_are_one_line_of_text(self):
        self.file("configs/clusters/bad.yaml", 'name: bad\ndescription: "\\e[31mred\\nnext\\n"\nnode: { gpus: 1 }\n')
        entries = self.json("list", "clusters", "--config-dir", "configs")["entries"]
        self.assertIn("?[31mred?next", [entry["description"] for entry in entries])


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
        self.assertIn("nccl-tuning-2.28", self.names("parameters"))
        self.assertRegex(self.output("list", "parameters"),
                         r"\nnccl-tuning-2\.27 +What NCCL 2\.27 decides with +\S")

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


program.main()
