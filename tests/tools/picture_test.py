"""`collsim topology export`: pictures that other programs read, and people."""

import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import program
from program import MESH, STAR, TWO_NODES

SOURCES = pathlib.Path(__file__).resolve().parents[2]
DGX = ["--cluster", "dgx-h100-x4"]
LARGE = [*DGX, "--set", "nodes=2048", "--set",
         "fabric={kind: leaf-spine, leaf: {ports: 64}, link: {kind: infiniband, bandwidth: 400 Gb/s, latency: 30 ns}}"]
RAILS = [*DGX, "--set", "nodes=64", "--set",
         "fabric={kind: rail-optimized, leaf: {ports: 64}, link: {bandwidth: 400 Gb/s, latency: 30 ns}}"]
CLUSTERS = {"star": STAR, "mesh": MESH, "two nodes": TWO_NODES, "dgx": DGX, "large": LARGE, "rails": RAILS,
            "many GPUs": [*STAR, "--set", "gpus=64"]}
SVG = "{http://www.w3.org/2000/svg}"


class Box:
    """A rectangle, with what stands in it."""

    def __init__(self, left, top, width, height, name):
        self.left, self.top, self.right, self.bottom, self.name = left, top, left + width, top + height, name

    def overlaps(self, other):
        return (self.left < other.right and other.left < self.right and
                self.top < other.bottom and other.top < self.bottom)

    def encloses(self, other):
        return (self.left <= other.left and other.right <= self.right and
                self.top <= other.top and other.bottom <= self.bottom)

    def __repr__(self):
        return f"{self.name} at {self.left:.0f}..{self.right:.0f}, {self.top:.0f}..{self.bottom:.0f}"


def numbers(element, *names):
    return [float(element.get(name)) for name in names]


def text_box(element):
    """About where words stand: letters of a common sans serif are about 0.56 of their size wide."""
    words = element.text
    size = 17 if "large" in element.get("class") else 12 if "small" in element.get("class") else 13
    width = 0.56 * size * len(words)
    x, y = numbers(element, "x", "y")
    left = x - {"start": 0, "middle": width / 2, "end": width}[element.get("text-anchor")]
    return Box(left, y - 0.75 * size, width, 0.95 * size, words)


class Picture(program.Case):
    def svg(self, *words):
        return xml.fromstring(self.output("topology", "export", *words, "--as", "svg"))

    def boxes(self, root):
        found = []
        for rectangle in root.iter(SVG + "rect"):
            if "box" in rectangle.get("class").split():
                found.append(Box(*numbers(rectangle, "x", "y", "width", "height"), rectangle.find(SVG + "title").text))
        return found

    def pairs_that_overlap(self, things):
        return [(a, b) for i, a in enumerate(things) for b in things[i + 1:] if a.overlaps(b)]

    def test_nothing_overlaps_and_nothing_sticks_out(self):
        for name, cluster in CLUSTERS.items():
            with self.subTest(name):
                root = self.svg(*cluster)
                boxes = self.boxes(root)
                words = [text_box(text) for text in root.iter(SVG + "text")]
                self.assertGreater(len(boxes), 1)
                self.assertEqual(self.pairs_that_overlap(boxes), [])
                self.assertEqual(self.pairs_that_overlap(words), [])
                paper = Box(0, 0, *numbers(root, "width", "height"), "paper")
                self.assertEqual([thing for thing in boxes + words if not paper.encloses(thing)], [])
                # The words of a box do not stick out of it.
                for box in boxes:
                    for text in words:
                        if box.overlaps(text):
                            self.assertTrue(box.encloses(text), (box, text))

    def test_small_clusters_are_shown_whole(self):
        names = [box.name for box in self.boxes(self.svg(*TWO_NODES))]
        self.assertEqual(sorted(names), sorted(["switch"] + 2 * (["switch", "nic"] + [f"gpu{i}" for i in range(4)])))

    def test_what_repeats_is_shown_once(self):
        names = [box.name for box in self.boxes(self.svg(*LARGE))]
        self.assertEqual(names.count("gpu0"), 1)
        self.assertLess(len(names), 50)
        # 8 NICs a node, 32 ports down: leaves of 4 nodes.
        for expected in ("node1: 8 GPUs, 8 NICs", "node3: 8 GPUs, 8 NICs", "leaf group 1: 4 nodes, 32 GPUs",
                         "× 510 more leaf groups: 2,040 nodes, 16,320 GPUs", "spine3", "× 28 more"):
            self.assertIn(expected, names)

    def test_a_large_node_is_not_shown_whole(self):
        names = [box.name for box in self.boxes(self.svg(*STAR, "--set", "gpus=64"))]
        self.assertEqual(sorted(names), sorted(["gpu0", "gpu1", "gpu2", "gpu3", "× 60 more", "switch"]))

    def test_lines_say_what_they_are(self):
        root = self.svg(*DGX)
        titles = [path.find(SVG + "title").text for path in root.iter(SVG + "path")]
        self.assertIn("gpu0 – nvswitch: nvlink, 450 GB/s", titles)
        self.assertIn("node1 – switch: infiniband, 8 x 50 GB/s", titles)
        # 8 GPUs with two lines each, 8 NICs with two, 8 PCIe switches with one up, 1 pair of CPUs, 3 nodes; 4 kinds
        # of link in the legend.
        self.assertEqual(len(titles), 16 + 16 + 8 + 1 + 3 + 4)
        widths = {path.find(SVG + "title").text: float(path.get("stroke-width")) for path in root.iter(SVG + "path")}
        self.assertGreater(widths["gpu0 – nvswitch: nvlink, 450 GB/s"], widths["gpu0 – pcie-switch0: pcie, 63 GB/s"])

    def test_names_are_escaped(self):
        self.file("odd.yaml", 'name: "<a> & b"\ngraph:\n  devices: [{name: "x<y", kind: gpu}, {name: \'"q\\\', kind: gpu}]\n'
                              '  links: [{from: "x<y", to: \'"q\\\', bandwidth: 1 GB/s, latency: 1 us}]\n')
        root = self.svg("--cluster", "./odd.yaml")
        self.assertEqual([box.name for box in self.boxes(root)], ["x<y", '"q\\'])
        dot = self.output("topology", "export", "--cluster", "./odd.yaml", "--as", "dot")
        self.assertIn('[label="\\"q\\\\", ', dot)

    def test_whole(self):
        whole = self.boxes(self.svg(*DGX, "--whole"))
        # 27 devices in a node.
        self.assertEqual(len(whole), 4 * 27 + 1)
        self.assertEqual(self.pairs_that_overlap(whole), [])
        self.refused(["topology", "export", *LARGE, "--as", "svg", "--whole"],
                     # 27 devices in each of 2,048 nodes, 512 leaves, 32 spines.
                     "error: --whole: a drawing shows at most 500 devices, the cluster has 55840\n"
                     "hint: without it, what repeats is drawn once; --as dot has no limit")

    def test_the_picture_of_the_readme_is_what_the_program_draws(self):
        kept = (SOURCES / "docs" / "images" / "dgx-h100-x4.svg").read_text(encoding="utf-8")
        self.assertEqual(self.output("topology", "export", *DGX, "--as", "svg"), kept)


class Dot(program.Case):
    NODE = re.compile(r'\s*d(\d+) \[label="((?:[^"\\]|\\.)*)", fillcolor="#[0-9a-f]{6}"\]')
    EDGE = re.compile(r'\s*d(\d+) -- d(\d+) \[label="([^"]*)", color="#[0-9a-f]{6}", penwidth=\d+\.\d'
                      r'(, dir=forward)?\]')
    OTHER = re.compile(r'graph "(?:[^"\\]|\\.)*" \{|\s*(?:graph|node|edge) \[[^\]]*\]|'
                       r'\s*subgraph cluster\d+ \{|\s*label="(?:[^"\\]|\\.)*"|\s*\}')

    def dot(self, *words):
        return self.output("topology", "export", *words, "--as", "dot")

    def parsed(self, text):
        """Labels by name, and the edges; every line has to be one of the kinds that we write."""
        nodes, edges = {}, []
        for line in text.splitlines():
            node, edge = self.NODE.fullmatch(line), self.EDGE.fullmatch(line)
            if node:
                self.assertNotIn(node.group(1), nodes)
                nodes[node.group(1)] = node.group(2)
            elif edge:
                edges.append((edge.group(1), edge.group(2), edge.group(3)))
            else:
                self.assertTrue(self.OTHER.fullmatch(line), line)
        self.assertEqual(text.count("{"), text.count("}"))
        for source, target, _ in edges:
            self.assertIn(source, nodes)
            self.assertIn(target, nodes)
        return nodes, edges

    def test_every_box_and_every_line(self):
        nodes, edges = self.parsed(self.dot(*TWO_NODES))
        self.assertEqual(len(nodes), 2 * 6 + 1)
        # 4 GPUs and a NIC on the switch of each node, and the cable of the NIC.
        self.assertEqual(len(edges), 2 * 6)
        self.assertEqual(sorted(label for _, _, label in edges), sorted(8 * ["50 GB/s"] + 4 * ["12.5 GB/s"]))

    def test_whole(self):
        nodes, edges = self.parsed(self.dot(*DGX, "--whole"))
        self.assertEqual((len(nodes), len(edges)), (4 * 27 + 1, 4 * (16 + 16 + 8 + 1)))

    def test_parallel_and_one_way_links(self):
        self.file("c.yaml", "name: c\ngraph:\n  devices: [{name: a, kind: gpu}, {name: b, kind: gpu}]\n  links:\n"
                            "    - {from: a, to: b, count: 2, kind: nvlink, bandwidth: 25 GB/s, latency: 1 us}\n"
                            "    - {from: b, to: a, duplex: one-way, kind: pcie, bandwidth: 1 GB/s, latency: 1 us}\n")
        text = self.dot("--cluster", "./c.yaml")
        _, edges = self.parsed(text)
        self.assertEqual([label for _, _, label in edges], ["2 x 25 GB/s", "1 GB/s"])
        self.assertEqual(text.count("dir=forward"), 1)
        self.assertIn('d1 -- d0 [label="1 GB/s"', text)

    def test_graphviz_reads_it(self):
        if shutil.which("dot") is None:
            self.skipTest("dot of Graphviz is not installed")
        for name, cluster in CLUSTERS.items():
            with self.subTest(name):
                text = self.dot(*cluster)
                nodes, edges = self.parsed(text)
                done = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, encoding="utf-8",
                                      check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                lines = done.stdout.splitlines()
                self.assertEqual(sum(line.startswith("node ") for line in lines), len(nodes))
                self.assertEqual(sum(line.startswith("edge ") for line in lines), len(edges))


class Usage(program.Case):
    def test_what_is_accepted(self):
        self.refused(["topology", "export", *STAR], "error: missing --as\nhint: see collsim topology export --help")
        self.refused(["topology", "export", *STAR, "--as", "nccl"],
                     'error: --as: unknown word "nccl"; expected svg, dot or nccl-xml')

    def test_output_file(self):
        self.assertEqual(self.output("topology", "export", *STAR, "--as", "dot", "--output", "star.dot"), "")
        self.assertEqual((self.folder / "star.dot").read_text(encoding="utf-8"),
                         self.output("topology", "export", *STAR, "--as", "dot"))


program.main()
