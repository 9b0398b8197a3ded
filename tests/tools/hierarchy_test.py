"""`collsim hierarchy`: the ladder as a table, as CSV (JSON: json_test.py), and as a picture."""

import pathlib
import re
import xml.etree.ElementTree

import program
from program import STAR, TWO_NODES

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"
LADDER = """\
name: {name}
node:
  gpus: 2
  links:
    - {{ from: gpu, to: gpu, connect: mesh, kind: nvlink, bandwidth: 100 GB/s, latency: 200 ns }}
  gpu_memory:
    - level: l2
      capacity: {{ value: 1 MB, source: nominal }}
      latency: {{ value: 150 ns, source: measured }}
      note: a note
    - level: memory
      name: HBM9
      capacity: {{ value: 80 GB, source: nominal }}
      bandwidth: {{ value: 1 TB/s, source: estimate }}
      latency: {{ value: 300 ns, source: literature }}
"""

RING = """\
name: ring
nodes: {nodes}
node:
  gpus: 1
  devices:
    - {{ name: nic, kind: nic }}
  links:
    - {{ from: gpu, to: nic, bandwidth: 100 GB/s, latency: 100 ns }}
fabric:
  kind: torus
  dimensions: {{ x: {nodes} }}
  link: {{ bandwidth: 100 GB/s, latency: 100 ns }}
  uplink: {{ bandwidth: 50 GB/s }}
"""


class Hierarchy(program.Case):
    def ladder(self, name="ladder"):
        return str(self.file(f"{name}.yaml", LADDER.format(name=name)))

    def test_table(self):
        # 1 MiB: 300 ns and 1048576 B at 1 TB/s; 200 ns and as much at 100 GB/s. 1 MiB is more than 1 MB.
        self.assertEqual(self.output("hierarchy", "--cluster", self.ladder()), """\
ladder

What gpu0 sees, from the inside out
  rung             capacity    bandwidth    slower than HBM9  one way    load           1 MiB         1 GiB
  ---------------  ----------  -----------  ----------------  -------  --------  ------------  ------------
  L2                   1 MB N    unknown             unknown           150 ns M  does not fit  does not fit
  HBM9                80 GB N     1 TB/s E               1 x           300 ns L      1.349 us      1.074 ms
  GPU over NVLink     80 GB N   100 GB/s                10 x   200 ns  700 ns        10.69 us      10.74 ms

Sources: N nominal, M measured, L literature, E estimate, without a letter worked out from the links of the description.
Time of a size: load (outside the GPU: one way), then the bytes at the bandwidth. load: of one that waits,
outside the GPU there, back and a load from the memory at the other end.

Outside the GPU
  rung             devices  such as  through
  ---------------  -------  -------  -------
  GPU over NVLink        1  gpu1     nothing

Notes
  L2: a note
""")

    def test_a_cluster_that_says_nothing_of_its_gpus(self):
        text = self.output("hierarchy", *TWO_NODES)
        self.assertNotIn("slower than", text)
        self.assertIn("Nothing is compared with the GPU's memory: the description does not give its bandwidth "
                      "(node.gpu_memory).\n", text)
        self.assertIn("All figures are worked out from the links of the description.\n", text)
        self.assertEqual(self.output("hierarchy", *STAR, "--set", "gpus=1").splitlines()[1],
                         "  Nothing to show: one GPU, and no word on what is inside (node.gpu_memory).")

    def test_set(self):
        figure = "node.gpu_memory[1].bandwidth={value: 2 TB/s, source: measured}"
        self.assertRegex(self.output("hierarchy", "--cluster", self.ladder(), "--set", figure),
                         r"\n  GPU over NVLink .* 20 x ")

    def test_large_capacities_are_short(self):
        # 8 GPUs of 80 GB a node.
        for nodes, capacity in [("3", "1.28 TB N"), ("16385", "10.49 PB N")]:
            text = self.output("hierarchy", "--cluster", "dgx-h100-x4", "--set", f"nodes={nodes}")
            self.assertRegex(text, rf"\n  GPU over NIC and leaf +{capacity} ")

    def test_a_long_way_is_told_short(self):
        # A ring of 64: 32 cables to the node on the other side, so 33 switches.
        ring = str(self.file("ring.yaml", RING.format(nodes=64)))
        self.assertRegex(self.output("hierarchy", "--cluster", ring),
                         r"\n  GPU over NIC and torus links, farthest +61  node32.gpu0  nic, 33 x switch, nic\n")

    def test_of_too_many_routes_some_are_looked_at(self):
        # Four NICs carry each route of AWS p5, striped; whether stripes share a cable only the route tells.
        fabric = "fabric={kind: fat-tree, nic_choice: balanced, tiers: [{ports: 128}, {ports: 128}, {}], " \
                 "link: {bandwidth: 100 Gb/s, latency: 30 ns}}"
        def notes(nodes):
            text = self.output("hierarchy", "--cluster", "aws-p5", "--set", f"nodes={nodes}", "--set", fabric)
            return re.findall("GPU over NIC and (.*): .* of (.*) routes looked at", text)
        self.assertEqual(notes(4), [])
        # Two nodes a leaf, 128 nodes a pod: the GPUs of 384 nodes are in other pods.
        self.assertEqual(notes(512), [("core", "3072")])

    def test_dgx_h100_as_published(self):
        rungs = {line["name"]: line for line in self.csv("hierarchy", "--cluster", "dgx-h100-x4")}
        # A load from another GPU takes 822 to 830 ns, measured; an acceptance test allows 1.2 us on one switch.
        self.assertEqual(rungs["GPU over NVLink"]["load_ps"], "828000")
        self.assertEqual(rungs["GPU over NIC and leaf"]["latency_ps"], "1200000")
        # 3350 / 450, 3350 / 50
        self.assertAlmostEqual(float(rungs["GPU over NVLink"]["times_slower"]), 7.444, delta=0.001)
        self.assertAlmostEqual(float(rungs["GPU over NIC and leaf"]["times_slower"]), 67)

    def test_the_ladder_of_every_node_falls_outwards(self):
        for entry in self.json("list", "nodes")["entries"]:
            with self.subTest(entry["name"]):
                cluster = self.file("c.yaml", f"name: c\nnode: {entry['name']}\n")
                rungs = self.json("hierarchy", "--cluster", str(cluster))["ladders"][0]["rungs"]
                inside = [rung for rung in rungs if rung["kind"] == "memory"]
                bandwidths = [rung["bandwidth_Bps"] for rung in inside if rung["bandwidth_Bps"] is not None]
                latencies = [rung["latency_ps"] for rung in inside if rung["latency_ps"] is not None]
                self.assertEqual(bandwidths, sorted(bandwidths, reverse=True))
                self.assertEqual(latencies, sorted(latencies))
                for rung in rungs:
                    if rung["kind"] == "gpu" and rung["times_slower"] is not None:
                        self.assertGreater(rung["times_slower"], 1)

    def test_csv(self):
        lines = self.csv("hierarchy", "--cluster", self.ladder())
        self.assertEqual(lines[0], {
            "cluster": "ladder", "kind": "memory", "scope": "gpu", "level": "l2", "name": "L2", "capacity_bytes": "1000000",
            "capacity_source": "nominal", "bandwidth_Bps": "", "bandwidth_source": "", "latency_ps": "150000",
            "latency_source": "measured", "load_ps": "150000", "times_slower": "", "devices": "", "example": "",
            "time_1048576_ps": "", "time_1073741824_ps": ""})
        self.assertEqual(lines[2], {
            "cluster": "ladder", "kind": "gpu", "scope": "node", "level": "nvlink", "name": "GPU over NVLink",
            "capacity_bytes": "80000000000", "capacity_source": "nominal", "bandwidth_Bps": "100000000000.0",
            "bandwidth_source": "links", "latency_ps": "200000", "latency_source": "links", "load_ps": "700000",
            "times_slower": "10.0", "devices": "1", "example": "gpu1",
            # 10 ps a byte.
            "time_1048576_ps": "10685760", "time_1073741824_ps": "10737618240"})

    def test_several_clusters_follow_each_other(self):
        both = self.output("hierarchy", "--cluster", self.ladder("one"), *TWO_NODES)
        self.assertEqual(both, self.output("hierarchy", "--cluster", self.ladder("one")) + "\n\n" +
                         self.output("hierarchy", *TWO_NODES))

    def test_what_is_refused(self):
        self.refused(["hierarchy", *STAR, *STAR], 'error: --cluster: given twice: "textbook-star"')
        self.refused(["hierarchy", "--cluster", ""], "error: --cluster: must not be empty")
        self.refused(["hierarchy", *STAR, "--plot", "-"], "error: --plot: stdout is for the result: a plot needs a file")
        self.refused(["hierarchy", *STAR, "--plot", "a.svg", "--output", "./a.svg"],
                     "error: --plot: is the file of --output: the one would overwrite the other")
        self.refused(["hierarchy", *STAR, "--set", "gpus=1", "--plot", "a.svg"],
                     "error: --plot: there is nothing to draw: one GPU, and no word on what is inside\n"
                     "hint: describe it under node.gpu_memory")
        seven = [word for i in range(7) for word in ("--cluster", self.ladder(f"c{i}"))]
        self.refused(["hierarchy", *seven, "--plot", "a.svg"], "error: --plot: expected at most 6 clusters in a plot, got 7")
        self.refused(["hierarchy", *STAR, "--plot", "none/a.svg"],
                     'error: --plot: cannot write "none/a.svg": No such file or directory')
        self.assertFalse((self.folder / "a.svg").exists())
        for setting in ("node.links[0].bandwidth=1 B/s", "node.gpu_memory[1].bandwidth.value=1 B/s"):
            self.refused(["hierarchy", "--cluster", self.ladder(), "--set", setting],
                         "error: the ladder leaves the range of exact arithmetic: a transfer takes longer than 106 days "
                         "of simulated time\nhint: faster links and memories would fit")


class Plot(program.Case):
    def plot(self, *words):
        self.output("hierarchy", *words, "--plot", "p.svg")
        return xml.etree.ElementTree.fromstring((self.folder / "p.svg").read_text(encoding="utf-8"))

    def words(self, picture):
        return [element.text for element in picture.iter(f"{SVG}text")]

    def clusters(self, count):
        names = [f"c{i}" for i in range(count)]
        for name in names:
            self.file(f"{name}.yaml", LADDER.format(name=name))
        return [word for name in names for word in ("--cluster", f"./{name}.yaml")]

    def boxes(self, picture):
        """About where each text stands: left, top, right, bottom."""
        for text in picture.iter(f"{SVG}text"):
            classes = text.get("class").split()
            letter = 6.7 * (0.9 if "small" in classes else 1) * (1.1 if "bold" in classes else 1)
            width = letter * len(text.text)
            shift = {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
            left, base = float(text.get("x")) - shift, float(text.get("y"))
            yield text.text, (left, base - 10, left + width, base + 3)

    def test_what_is_on_it(self):
        picture = self.plot(*self.clusters(1))
        self.assertEqual(picture.find(f"{SVG}title").text, "Closer is faster")
        words = self.words(picture)
        for word in ("c0", "inside the GPU", "L2", "HBM9", "inside the node", "GPU over NVLink", "unknown", "150 ns",
                     "1 TB/s", "100 GB/s", "700 ns", "Bandwidth (longer is better)"):
            self.assertIn(word, words)

    def test_longer_stems_for_larger_values(self):
        picture = self.plot(*self.clusters(1))
        stems = [float(line.get("x2")) - float(line.get("x1")) for line in picture.iter(f"{SVG}line")
                 if "stem" in line.get("class")]
        # Bandwidths of memory and NVLink: 1 TB/s and 100 GB/s are a decade apart, which is the whole axis.
        # Loads of L2, memory, NVLink: 150, 300 and 700 ns are on one from 100 ns to 1 us.
        self.assertEqual(len(stems), 5)
        bandwidth_axis, at_the_left = stems[:2]
        self.assertAlmostEqual(at_the_left, 0, delta=0.11)
        self.assertGreater(bandwidth_axis, 200)
        loads = stems[2:]
        self.assertEqual(loads, sorted(loads))
        # log10 of 1.5, 3 and 7
        self.assertAlmostEqual(loads[1] / loads[0], 0.4771 / 0.1761, delta=0.01)
        self.assertAlmostEqual(loads[2] / loads[0], 0.8451 / 0.1761, delta=0.01)

    def test_nothing_overlaps_and_all_is_inside(self):
        for words in (self.clusters(1), self.clusters(6), ["--cluster", "dgx-a100", "--cluster", "dgx-h100-x4"], TWO_NODES):
            picture = self.plot(*words)
            width, height = float(picture.get("width")), float(picture.get("height"))
            boxes = list(self.boxes(picture))
            for i, (text, (left, top, right, bottom)) in enumerate(boxes):
                with self.subTest(words=words, text=text):
                    self.assertTrue(0 <= left and right <= width and 0 <= top and bottom <= height)
                    for other, (left2, top2, right2, bottom2) in boxes[:i]:
                        self.assertTrue(left >= right2 or left2 >= right or top >= bottom2 or top2 >= bottom, other)

    def test_rows_of_several_clusters(self):
        words = self.words(self.plot("--cluster", "dgx-a100", "--cluster", "dgx-h100-x4", "--cluster", "dgx-b200"))
        self.assertEqual([word for word in words if word in ("HBM", "HBM2e", "HBM3", "HBM3e")], ["HBM"])
        self.assertEqual(words.count("GPU over NVLink"), 1)
        # Only one of them has it.
        self.assertEqual(words.count("50 GB/s"), 1)
        # The rows go outwards.
        rows = ["registers", "L1, shared memory", "L2", "L2, far part", "HBM", "GPU over NVLink", "CPU over PCIe",
                "CPU over the socket link", "GPU over NIC and leaf"]
        self.assertEqual([word for word in words if word in rows], rows)

    def test_light_and_dark(self):
        style = self.plot(*self.clusters(1)).find(f"{SVG}style").text
        light, dark = style.split("@media (prefers-color-scheme:dark)")
        for name in ("paper", "zone", "ink", "faint", "grid", "s0", "s5"):
            self.assertRegex(light, rf"\.{name}\{{")
            self.assertRegex(dark, rf"\.{name}\{{")

    def test_names_that_xml_reserves(self):
        file = self.file("odd.yaml", LADDER.format(name='"<a> & \\"b\\""'))
        self.assertIn('<a> & "b"', self.words(self.plot("--cluster", str(file))))

    def test_the_figure_of_the_documentation(self):
        page = (DOCS / "hierarchy.md").read_text(encoding="utf-8")
        command = re.search(r"^collsim (hierarchy .*) --plot hierarchy\.svg$", page, re.M).group(1)
        self.output(*command.split(), "--plot", "hierarchy.svg")
        self.assertEqual((self.folder / "hierarchy.svg").read_bytes(), (DOCS / "images" / "hierarchy.svg").read_bytes())

    def test_the_same_twice(self):
        first = self.plot(*self.clusters(2))
        self.assertEqual(xml.etree.ElementTree.tostring(first),
                         xml.etree.ElementTree.tostring(self.plot(*self.clusters(2))))


program.main()
