"""`collsim topology show` and `check`."""

import re

import program
from program import MESH, STAR, TWO_NODES

DGX = ["--cluster", "dgx-h100-x4"]

# Two nodes; line 9 has a cable in bytes where bits were meant.
MINE = """name: mine
nodes: 2
node:
  gpus: 2
  devices: [{name: nic, kind: nic, count: 2}]
  links:
    - {from: gpu, to: gpu, connect: mesh, kind: nvlink, bandwidth: 900 GB/s, latency: 1 us}
    - {from: gpu, to: nic, connect: one-to-one, kind: pcie, bandwidth: 251 GB/s, latency: 1 us}
fabric: {kind: single-switch, link: {bandwidth: 250 GB/s, latency: 1 us}}
"""


GRAPH = """name: pair
graph:
  devices: [{name: a, kind: gpu}, {name: b, kind: gpu}, {name: s, kind: switch}]
  links: [{from: a, to: s, bandwidth: 1 GB/s, latency: 1 us}, {from: b, to: s, bandwidth: 1 GB/s, latency: 1 us}]
"""


class Show(program.Case):
    def test_devices_and_links(self):
        document = self.json("topology", "show", *TWO_NODES)
        self.assertEqual(document["devices"], {"gpu": 8, "nic": 2, "switch": 3})
        self.assertEqual(document["nodes"], 2)
        self.assertEqual([(link["level"], link["links"], link["bandwidth_Bps"], link["latency_ps"])
                          for link in document["links"]],
                         # 2 NIC-switch pairs, 8 GPUs, 2 cables; both ways.
                         [("link", 4, 12.5e9, 0), ("link", 16, 50e9, 500_000), ("leaf", 4, 12.5e9, 1_000_000)])

    def test_cuts(self):
        gpus, nodes = self.json("topology", "show", *TWO_NODES)["cuts"]
        self.assertEqual((gpus["part"], gpus["parts"], gpus["gpus_max"]), ("gpu", 8, 1))
        self.assertEqual({gpus[f"{way}_{end}_Bps"] for way in ("out", "in") for end in ("min", "max")}, {50e9})
        self.assertNotIn("oversubscription", gpus)
        self.assertEqual((nodes["part"], nodes["parts"], nodes["gpus_min"]), ("node", 2, 4))
        self.assertEqual((nodes["out_max_Bps"], nodes["inside_out_max_Bps"]), (12.5e9, 4 * 50e9))
        self.assertEqual(nodes["oversubscription"], 16)

    def test_cuts_of_leaf_groups(self):
        fabric = ("fabric={kind: leaf-spine, leaf: {ports: 48}, spine: {oversubscription: 2}, "
                  "link: {bandwidth: 400 Gb/s, latency: 30 ns}}")
        cuts = self.json("topology", "show", *DGX, "--set", "nodes=10", "--set", fabric)["cuts"]
        self.assertEqual([cut["part"] for cut in cuts], ["gpu", "node", "leaf"])
        leaf = cuts[2]
        # 32 ports down take 4 nodes of 8 NICs: groups of 4, 4 and 2 nodes; 16 ports up each.
        self.assertEqual((leaf["parts"], leaf["gpus_min"], leaf["gpus_max"]), (3, 16, 32))
        self.assertEqual((leaf["inside_out_min_Bps"], leaf["inside_out_max_Bps"]), (2 * 400e9, 4 * 400e9))
        self.assertEqual((leaf["out_min_Bps"], leaf["out_max_Bps"], leaf["oversubscription"]), (800e9, 800e9, 2))

    def test_oversubscription_of_the_nodes_below(self):
        cuts = {cut["part"]: cut for cut in self.json("topology", "show", "--cluster", "meta-24k-roce")["cuts"]}
        self.assertNotIn("nodes_oversubscription", cuts["node"])
        # Racks of 2 x 8 NICs have 32 cables up. A pod: 192 of them, 16 x 27 cables up.
        self.assertEqual(cuts["leaf"]["nodes_oversubscription"], 16 / 32)
        self.assertAlmostEqual(cuts["spine"]["nodes_oversubscription"], 192 * 16 / (16 * 27))
        self.assertAlmostEqual(cuts["spine"]["oversubscription"], 192 * 32 / (16 * 27))
        self.assertEqual(cuts["spine"]["nodes_out_max_Bps"], 192 * 16 * 50e9)
        self.assertRegex(self.output("topology", "show", "--cluster", "meta-24k-roce"),
                         r"\n  part .* inside : out .* nodes : out\n(.*\n)+  spine group .* 14.2 : 1 .* 7.11 : 1\n")
        # Four cables of 25 GB/s for each pair of 24 groups; 112 nodes of four NICs.
        (local,) = [cut for cut in self.json("topology", "show", "--cluster", "alps")["cuts"] if cut["part"] == "local"]
        self.assertAlmostEqual(local["nodes_oversubscription"], 112 * 4 / (23 * 4))

    def test_bisection_of_a_torus(self):
        half = self.json("topology", "show", "--cluster", "tpu-v7-cube")["cuts"][-1]
        # 32 of 64 chips on each side of a plane and, around, of another: 2 x 16 cables of 100 GB/s.
        self.assertEqual((half["part"], half["parts"], half["gpus_min"], half["gpus_max"]), ("half", 2, 32, 32))
        self.assertEqual((half["out_min_Bps"], half["out_max_Bps"]), (3.2e12, 3.2e12))
        self.assertEqual(half["nodes_oversubscription"], 32 * 600 / 3200)
        self.assertRegex(self.output("topology", "show", "--cluster", "tpu-v7-cube"),
                         r"\n  half of the torus +2 +32 +3.2 TB/s ")

    def test_nics(self):
        self.assertEqual(self.json("topology", "show", *TWO_NODES)["nics"],
                         {"per_node_min": 1, "per_node_max": 1, "per_gpu_min": 1, "per_gpu_max": 1,
                          "gpus_per_nic_min": 4, "gpus_per_nic_max": 4, "unused": 0})
        self.assertEqual(self.json("topology", "show", *DGX)["nics"],
                         {"per_node_min": 8, "per_node_max": 8, "per_gpu_min": 1, "per_gpu_max": 1,
                          "gpus_per_nic_min": 1, "gpus_per_nic_max": 1, "unused": 0})
        self.assertNotIn("nics", self.json("topology", "show", *STAR))

    def test_longest_route(self):
        route = self.json("topology", "show", *TWO_NODES)["longest_route"]
        # gpu, switch, nic, switch, nic, switch, gpu: 500 ns, 0, 1 us, 1 us, 0, 500 ns.
        self.assertEqual(route["most_links"],
                         {"from": "node0.gpu0", "to": "node1.gpu0", "links": 6, "latency_ps": 3_000_000})
        self.assertEqual(route["slowest"], route["most_links"])
        self.assertEqual((route["all_routes"], route["from_gpus"], route["gpu_classes"]), (True, 8, 1))

    def test_longest_route_of_a_large_cluster(self):
        document = self.json("topology", "show", *TWO_NODES, "--set", "nodes=300")
        route = document["longest_route"]
        # 1,200 GPUs have 1,438,800 routes: those of one are enough, as all GPUs are alike.
        self.assertEqual((route["all_routes"], route["from_gpus"], route["gpu_classes"]), (False, 1, 1))
        self.assertEqual(route["most_links"]["links"], 6)
        self.assertIn("3 us (node0.gpu0 to node1.gpu0); of the routes from one GPU of each class\n",
                      self.output("topology", "show", *TWO_NODES, "--set", "nodes=300"))

    def test_one_gpu_has_no_routes(self):
        document = self.json("topology", "show", *STAR, "--set", "gpus=1")
        self.assertNotIn("longest_route", document)
        self.assertIn("alike   the node; the GPU\n", self.output("topology", "show", *STAR, "--set", "gpus=1"))

    def test_what_is_alike(self):
        alike = self.json("topology", "show", *DGX)["alike"]
        # GPUs, NVSwitches, PCIe switches, CPUs, NICs, the switch.
        self.assertEqual(alike, {"device_classes": 6, "nodes": [{"nodes": 4, "first": "node0"}],
                                 "gpus": [{"gpus": 32, "first": "node0.gpu0"}]})
        one_wider = ["--set", "node.links[1]={from: gpu1, to: switch, bandwidth: 1 GB/s, latency: 1 us}"]
        self.assertEqual(self.json("topology", "show", *STAR, *one_wider)["alike"]["gpus"],
                         [{"gpus": 7, "first": "gpu0"}, {"gpus": 1, "first": "gpu1"}])
        self.assertIn("the node; 7 and 1 of the 8 GPUs\n", self.output("topology", "show", *STAR, *one_wider))

    def test_paths(self):
        (paths,) = self.json("topology", "show", *DGX)["paths"]
        self.assertEqual(paths["node"], "node0")
        self.assertEqual(paths["devices"], [f"gpu{i}" for i in range(8)] + [f"nic{i}" for i in range(8)])
        types = paths["types"]
        self.assertEqual(types[0], ["X"] + 7 * ["NV18"] + ["PIX"] + 3 * ["PHB"] + 4 * ["SYS"])
        self.assertEqual(types, [list(column) for column in zip(*types)])
        # Pairs of eight GPUs; each GPU has a NIC on its switch, three more at its socket.
        self.assertEqual(paths["gpu_pairs"], {"NV18": 28})
        self.assertEqual(paths["nic_pairs"], {"PHB": 24, "PIX": 8, "SYS": 32})
        self.assertEqual(paths["other_nodes"], {"NET": 24})

    def test_paths_of_nodes_that_differ(self):
        self.file("mixed.yaml", """name: mixed
nodes:
  - {count: 3, node: dgx-h100}
  - count: 2
    node:
      gpus: 1
      devices: [{name: nic, kind: nic}]
      links: [{from: gpu, to: nic, kind: pcie, bandwidth: 63 GB/s, latency: 1 us}]
fabric: {kind: single-switch, link: {bandwidth: 50 GB/s, latency: 1 us}}
""")
        paths = self.json("topology", "show", "--cluster", "./mixed.yaml")["paths"]
        self.assertEqual([entry["node"] for entry in paths], ["node0", "node3"])
        self.assertEqual(paths[1]["types"], [["X", "PIX"], ["PIX", "X"]])
        self.assertEqual(paths[1]["other_nodes"], {"NET": 25})

    def test_large_matrices_are_counted(self):
        text = self.output("topology", "show", *MESH, "--set", "gpus=30")
        # 30 · 29 / 2 pairs.
        self.assertIn("Paths in the node, as nvidia-smi topo -m has them\n  pairs of GPUs: 435 LINK\n"
                      "  --matrix shows all 30 by 30\n", text)
        self.assertNotIn("types", self.json("topology", "show", *STAR, "--set", "gpus=300")["paths"][0])
        self.assertIn("  not shown: more than 256 GPUs and NICs; --matrix shows them\n",
                      self.output("topology", "show", *STAR, "--set", "gpus=300"))

    def test_large_matrices_on_request(self):
        text = self.output("topology", "show", "aws-p5", "--matrix")
        header, _, row = text[text.index("\nPaths in node0"):].split("\n")[2:5]
        self.assertEqual(header.split(), [f"gpu{i}" for i in range(8)] + [f"nic{i}" for i in range(32)])
        # Four NICs on a GPU's PCIe switch, twelve more at its socket, sixteen at the other.
        self.assertEqual(row.split(), ["gpu0", "X"] + 7 * ["NV18"] + 4 * ["PIX"] + 12 * ["PHB"] + 16 * ["SYS"])
        (paths,) = self.json("topology", "show", *STAR, "--set", "gpus=300", "--matrix")["paths"]
        self.assertEqual({len(row) for row in paths["types"]}, {300})
        # 300 · 299 / 2.
        self.assertEqual(paths["gpu_pairs"], {"LINK": 44_850})
        self.refused(["topology", "show", *STAR, "--matrix", "--format", "csv"],
                     "error: --matrix: has no effect on CSV: it has the values in force alone")

    def test_values_and_where_they_come_from(self):
        document = self.json("topology", "show", *TWO_NODES, "--set", "nodes=3")
        values = {value["path"]: value for value in document["values"]}
        self.assertEqual((values["nodes"]["value"], values["nodes"]["origin"]), ("3", "--set"))
        self.assertEqual(values["fabric.routing"]["origin"], "default")
        self.assertRegex(values["fabric.link.bandwidth"]["origin"], r"configs/clusters/textbook-2x4\.yaml:\d+$")
        self.assertEqual(document["devices"]["gpu"], 12)

    def test_table(self):
        text = self.output("topology", "show", *STAR, "--set", "gpus=3")
        self.assertEqual(text.split("\nEvery value")[0], """\
textbook-star, changed by --set; its file says: GPUs around one ideal switch, 50 GB/s and 500 ns a link
  nodes          1
  gpu            3
  switch         1
  longest route  2 links, 1 us (gpu0 to gpu1)
  alike          the node; all 3 GPUs

Links (one direction each; a switch's latency is part of the links that leave it)
  level  kind     links  bandwidth  latency
  -----  -------  -----  ---------  -------
  link   generic      6    50 GB/s   500 ns

What can leave and enter each part
  part  parts  GPUs each      out       in  out of what is inside  inside : out
  ----  -----  ---------  -------  -------  ---------------------  ------------
  gpu       3          1  50 GB/s  50 GB/s

Paths in the node, as nvidia-smi topo -m has them
        gpu0  gpu1  gpu2
  ----  ----  ----  ----
  gpu0  X     LINK  LINK
  gpu1  LINK  X     LINK
  gpu2  LINK  LINK  X
  LINK links of no particular kind
""")
        self.assertRegex(text, r"\n  node\.links\[0\]\.bandwidth  50 GB/s +\S+textbook-star\.yaml:\d+\n")

    def test_switches_by_level(self):
        superpod = ["topology", "show", "--cluster", "dgx-h100-superpod"]
        # 32 of 64 ports down: 128 nodes in 4 groups of 32, a leaf for each of 8 rails. They have 32 x 32
        # cables up, 64 to a spine.
        self.assertEqual(self.json(*superpod)["switches"],
                         [{"level": "leaf", "switches": 32, "ports_used_min": 64, "ports_used_max": 64, "ports": 64},
                          {"level": "spine", "switches": 16, "ports_used_min": 64, "ports_used_max": 64, "ports": 64}])
        self.assertRegex(self.output(*superpod), r"\n  switch +48 \(32 leaf, 16 spine\)\n"
                                                 r"  fabric ports +leaf 64 of 64, spine 64 of 64 in use\n")
        self.assertEqual(self.json("topology", "show", *TWO_NODES)["switches"],
                         [{"level": "switch", "switches": 1, "ports_used_min": 2, "ports_used_max": 2}])
        self.assertRegex(self.output("topology", "show", *TWO_NODES), r"\n  fabric ports +2 in use\n")
        for without in (STAR, ["--cluster", str(self.file("graph.yaml", GRAPH))]):
            self.assertNotIn("switches", self.json("topology", "show", *without))
            self.assertNotIn("fabric ports", self.output("topology", "show", *without))
        # Two planes of leaves of 8 ports, 4 of them down, so for one node each. A leaf's 4 cables up to 4 spines.
        planes = ["--set", "fabric={kind: fat-tree, planes: 2, tiers: [{ports: 8}, {}], "
                           "link: {bandwidth: 400 Gb/s, latency: 30 ns}}"]
        self.assertEqual(self.json("topology", "show", *DGX, *planes)["switches"],
                         [{"level": "leaf", "switches": 8, "ports_used_min": 8, "ports_used_max": 8, "ports": 8},
                          {"level": "spine", "switches": 8, "ports_used_min": 4, "ports_used_max": 4}])

    def test_groups_of_a_dragonfly(self):
        polaris = ["topology", "show", "--cluster", "polaris"]
        document = self.json(*polaris)
        # 1,120 NICs, 16 on each of 7 switches of a group: 10 groups. Each has 4 links to each of 9 others, 36 on 7
        # switches. A switch: 16 NICs, 6 others of its group, 5 or 6 global links.
        self.assertEqual(document["groups"], {"groups": 10, "switches": 7, "links_between_groups": 4,
                                              "global_links_min": 5, "global_links_max": 6})
        self.assertEqual(document["switches"], [{"level": "switch", "switches": 70, "ports_used_min": 27,
                                                 "ports_used_max": 28, "ports": 64}])
        half = document["cuts"][-1]
        self.assertEqual((half["part"], half["parts"], half["gpus_max"]), ("half", 2, 1120))
        self.assertEqual(half["out_max_Bps"], 5 * 5 * 4 * 25e9)
        text = self.output(*polaris)
        self.assertRegex(text, r"\n  switch +70 \(10 groups of 7\)\n"
                               r"  fabric ports +27 to 28 of 64 in use\n"
                               r"  global links +4 between any two groups, 5 to 6 at a switch\n")
        self.assertRegex(text, r"\n  half of the groups +2 +1,120 +2.5 TB/s ")
        # One group.
        small = [*polaris, "--set", "nodes=8"]
        self.assertEqual(self.json(*small)["groups"], {"groups": 1, "switches": 7, "links_between_groups": 0,
                                                       "global_links_min": 0, "global_links_max": 0})
        self.assertRegex(self.output(*small), r"\n  switch +7 \(1 group of 7\)\n")
        self.assertNotIn("global links", self.output(*small))
        self.assertNotIn("half", [cut["part"] for cut in self.json(*small)["cuts"]])

    def test_switches_of_a_torus(self):
        text = self.output("topology", "show", "--cluster", "tpu-v7-cube")
        # A chip, and two neighbours in each of three dimensions.
        self.assertRegex(text, r"\n  switch +64 \(4 x 4 x 4\)\n  fabric ports +7 in use\n")
        for dimensions, nodes, shape in [("{x: 8, y: 1, z: 2}", 16, r" \(8 x 2\)"), ("{x: 1, y: 8}", 8, r" \(one ring\)"),
                                         ("{x: 1}", 1, "")]:
            text = self.output("topology", "show", "--cluster", "tpu-v7-cube", "--set", f"nodes={nodes}", "--set",
                               f"fabric.dimensions={dimensions}")
            self.assertRegex(text, rf"\n  switch +{nodes}{shape}\n")

    def test_derived_values(self):
        def derived(*words):
            return {line["path"]: line["value"] for line in self.csv("topology", "show", *words)
                    if line["origin"] == "derived"}
        superpod = ["--cluster", "dgx-h100-superpod"]
        # As in test_switches_by_level.
        self.assertEqual(derived(*superpod), {"fabric.rails": "8", "fabric.leaf.down": "32", "fabric.leaf.up": "32",
                                              "fabric.spine.down": "64", "fabric.spine.count": "16"})
        # Three times as many ports down as up. Of 4 groups x 4 leaves x 16 cables, 64 to a spine.
        said = ["--set", "fabric.rails=4", "--set", "fabric.spine.oversubscription=3", "--set", "nodes=96"]
        self.assertEqual(derived(*superpod, *said), {"fabric.leaf.down": "48", "fabric.leaf.up": "16",
                                                     "fabric.spine.down": "64", "fabric.spine.count": "4"})
        said = ["--set", "fabric.leaf={down: 32, up: 32, latency: 200 ns}", "--set", "fabric.rails=8",
                "--set", "fabric.spine={count: 16, latency: 200 ns}"]
        self.assertEqual(derived(*superpod, *said), {})
        # One NIC a node.
        self.assertEqual(derived(*TWO_NODES), {"fabric.switch.ports": "2"})
        self.assertEqual(derived(*TWO_NODES, "--set", "fabric.switch.ports=4"), {})
        self.assertEqual(derived("--cluster", "polaris"), {})
        # As in test_groups_of_a_dragonfly: 16 + 6 + 6.
        switch = ["--set", "fabric.switch={down: 16, latency: 350 ns}"]
        self.assertEqual(derived("--cluster", "polaris", *switch), {"fabric.switch.ports": "28"})
        values = self.json("topology", "show", *superpod)["values"]
        self.assertEqual([value["value"] for value in values if value["path"] == "fabric.rails"], ["8"])
        self.assertRegex(self.output("topology", "show", *superpod), r"\n  fabric\.rails +8 +derived\n")

    def test_the_description_is_the_files(self):
        first = [self.output("topology", "show", *TWO_NODES, *words).split("\n")[0] for words in
                 ([], ["--set", "nodes=3"], ["--set", "description=three nodes", "--set", "nodes=3"])]
        description = self.json("topology", "show", *TWO_NODES)["description"]
        self.assertEqual(first, [f"textbook-2x4: {description}",
                                 f"textbook-2x4, changed by --set; its file says: {description}",
                                 "textbook-2x4: three nodes"])
        # Also by what leaves all its values to their defaults, and in the other outputs.
        rails = ["--cluster", "dgx-h100-superpod"]
        words = self.json("topology", "show", *rails)["description"]
        more = [*rails, "--set", "fabric.core={}"]
        for command in (["topology", "show"], ["hierarchy"]):
            self.assertEqual(self.output(*command, *rails).split("\n")[0], f"dgx-h100-superpod: {words}")
            self.assertEqual(self.output(*command, *more).split("\n")[0],
                             f"dgx-h100-superpod, changed by --set; its file says: {words}")
        self.assertNotIn("changed by --set", self.output("topology", "export", *rails, "--as", "svg"))
        picture = self.output("topology", "export", *more, "--as", "svg")
        self.assertIn(f"changed by --set; its file says: {words}", re.sub("</text>\\s*<text[^>]*>", " ", picture))

    def test_csv(self):
        lines = self.csv("topology", "show", *STAR)
        self.assertEqual(list(lines[0]), ["path", "value", "origin"])
        self.assertIn(("node.gpus", "8"), [(line["path"], line["value"]) for line in lines])


class Check(program.Case):
    def setUp(self):
        super().setUp()
        self.file("mine.yaml", MINE)
        self.mine = ["topology", "check", "--cluster", "./mine.yaml"]

    def test_warnings_look_like_a_compilers(self):
        text = self.output(*self.mine)
        self.assertTrue(text.startswith("""\
./mine.yaml:9:49: warning: fabric.link.bandwidth: a cable of 250 GB/s, that is 2000 Gb/s [nic-speed]
  fabric: {kind: single-switch, link: {bandwidth: 250 GB/s, latency: 1 us}}
                                                  ^
hint: ports are given in bits a second: 400 Gb/s is 50 GB/s

mine: 1 warning
  check              looks for                                           found
  -----------------  --------------------------------------------------  -----
  nic-speed          cables of 200 GB/s or more, where Gb/s is likely        1
"""), text)

    def test_a_sound_cluster(self):
        text = self.output("topology", "check", *TWO_NODES)
        self.assertTrue(text.startswith("textbook-2x4: no warnings\n  check "), text)

    def test_exit_code(self):
        self.assertEqual(self.run_program(*self.mine).returncode, 0)
        strict = self.run_program(*self.mine, "--strict")
        self.assertEqual((strict.returncode, strict.stderr), (1, ""))
        self.assertEqual(strict.stdout, self.output(*self.mine))
        self.assertEqual(self.run_program("topology", "check", *TWO_NODES, "--strict").returncode, 0)

    def test_settings_are_named(self):
        done = self.output("topology", "check", *TWO_NODES, "--set", "node.links[0].latency=1 ms")
        self.assertTrue(done.startswith("--set node.links[0].latency=1 ms: warning: node.links[0].latency: "
                                        "1 ms for a link inside a node [latency]\n"), done)

    def test_the_narrow_link_of_the_right_node(self):
        self.file("mixed.yaml", """name: mixed
nodes:
  - {count: 2, node: dgx-h100}
  - {count: 2, node: gcp-a3-high}
fabric: {kind: single-switch, link: {kind: infiniband, bandwidth: 400 Gb/s, latency: 30 ns}}
""")
        text = self.output("topology", "check", "--cluster", "./mixed.yaml")
        warning, line, caret, hint = text.split("\n")[:4]
        self.assertRegex(warning, r"configs/nodes/gcp-a3-high\.yaml:\d+:\d+: warning: nodes\[1\]\.node\.links\[2\]\.bandwidth: "
                                  r"node2\.gpu0 and 7 more: 31\.5 GB/s to the NIC, whose cable has 50 GB/s \[narrow-slot\]$")
        self.assertTrue(line.startswith("    - { from: nic, to: pcie-switch,"), line)
        self.assertTrue(line[caret.index("^"):].startswith("31.5 GB/s"), line + "\n" + caret)
        self.assertEqual(hint, "hint: the cable is never filled")
        done = self.output("topology", "check", *DGX, "--set", "node.links[2].bandwidth=16 GB/s")
        self.assertTrue(done.startswith(
            "--set node.links[2].bandwidth=16 GB/s: warning: node.links[2].bandwidth: node0.gpu0 and 7 more: "
            "16 GB/s to the NIC, whose cable has 50 GB/s [narrow-slot]\n"), done)

    def test_json(self):
        document = self.json(*self.mine)
        self.assertEqual(document["findings"], [{
            "check": "nic-speed", "path": "fabric.link.bandwidth", "origin": "./mine.yaml:9",
            "message": "a cable of 250 GB/s, that is 2000 Gb/s",
            "hint": "ports are given in bits a second: 400 Gb/s is 50 GB/s"}])
        found = {check["check"]: check["found"] for check in document["checks"]}
        self.assertEqual({name: count for name, count in found.items() if count}, {"nic-speed": 1})

    def test_csv(self):
        (line,) = self.csv(*self.mine)
        self.assertEqual((line["check"], line["origin"]), ("nic-speed", "./mine.yaml:9"))

    def test_what_cannot_be_built_is_an_error(self):
        self.file("mine.yaml", MINE.replace("to: nic", "to: nik"))
        done = self.run_program(*self.mine)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("error: node.links[1].to: expected a device of the node", done.stderr)


program.main()
