"""What the links of each shipped machine allow must come out of a simulation: one rate for two GPUs
that send to each other, one for all of them in an all-to-all. Both are a GPU's bytes out (and in) a second.

The figures are worked out from the machine's description in the comments, not from a run. Messages are
so large that latency is far below the 1 % that is allowed.
"""

import json
import re
from pathlib import Path

import program

SIZE = "1GiB"
TOLERANCE = 0.01
CONFIGS = Path(__file__).resolve().parents[2] / "configs"
PCIE3, PCIE4, PCIE5, PCIE6 = 15.75, 31.5, 63, 121


class Machine:
    """`pairs`: ("gpu0 gpu1", GB/s); `everyone`: GB/s of each GPU in an all-to-all of all."""

    def __init__(self, pairs, everyone):
        self.pairs = pairs
        self.everyone = everyone


def switched(rate, last):
    """All GPUs on one NVSwitch: any pair and everyone at once get what a GPU has."""
    return Machine([("gpu0 gpu1", rate), (f"gpu0 gpu{last}", rate)], rate)


# 25 GB/s a link; 0-1 have one, 0-3 two, 0-7 none: PCIe 3 and both sockets, 15.75 GB/s. In an all-to-all
# each GPU sends 3 of 7 blocks over PCIe, and two GPUs share a switch's way up: 6 blocks at 15.75 GB/s
# take longest (a block at 25 GB/s does not, nor do 12 blocks each way between the sockets at 38.4 or more).
CUBE_MESH = Machine([("gpu0 gpu1", 25), ("gpu0 gpu3", 50), ("gpu0 gpu7", PCIE3)], 7 / 6 * PCIE3)

ONE_NODE = {
    "dgx-1v": CUBE_MESH,
    # 6 links of 25 GB/s.
    "dgx-2": switched(150, 15),
    "dgx-a100": switched(300, 7),  # 12 links of 25 GB/s
    "dgx-b200": switched(900, 7),  # 18 links of 50 GB/s
    # 18 links of 25 GB/s.
    "dgx-h100": switched(450, 7),
    "dgx-h200": switched(450, 7),
    # 8 links of 25 GB/s.
    "hgx-h800": switched(200, 7),
    # 18 links of 50 GB/s.
    "hgx-b300": switched(900, 7),
    "gb200-nvl72": switched(900, 71),
    "gb300-nvl72": switched(900, 71),
    # 6 links of 25 GB/s for each pair; everyone uses those to all three peers.
    "gh200-x4": Machine([("gpu0 gpu3", 150)], 3 * 150),
    # One link for each pair; everyone uses all seven.
    "mi300x": Machine([("gpu0 gpu7", 64)], 7 * 64),
    "mi355x": Machine([("gpu0 gpu7", 76.5)], 7 * 76.5),
    "tpu-v7": Machine([], None),  # one chip
    # 4 links of 25 GB/s for each pair.
    "polaris": Machine([("gpu0 gpu3", 100)], 3 * 100),
    "perlmutter": Machine([("gpu0 gpu3", 100)], 3 * 100),
    "leonardo": Machine([("gpu0 gpu3", 100)], 3 * 100),
    # All goes to a CPU and down again, and the four GPUs behind a switch share its ways up and down.
    "rtx3090": Machine([("gpu0 gpu1", PCIE4 / 2), ("gpu0 gpu7", PCIE4)], PCIE4 / 4),
    # Four links of 14.0625 GB/s in a pair; of three blocks two go over PCIe.
    "rtx3090-bridge": Machine([("gpu0 gpu1", 56.25), ("gpu0 gpu2", PCIE4)], 3 / 2 * PCIE4),
    # Of a GPU's 7 blocks 4 go to the other socket: 16 share 67.2 GB/s, so a block has 4.2, and the GPU 7 of them.
    "rtx4090": Machine([("gpu0 gpu1", PCIE4), ("gpu0 gpu7", PCIE4)], 7 * 67.2 / 16),
    "rtx5090": Machine([("gpu0 gpu7", PCIE5)], PCIE5),
    # 16 blocks share the way from one switch to the other.
    "rtx-pro-6000": Machine([("gpu0 gpu1", PCIE5), ("gpu0 gpu7", PCIE5)], 7 * PCIE5 / 16),
    # Of 7 blocks 6 leave the switch, over a way that two GPUs share: 12 blocks at 63 GB/s; between the sockets 16
    # blocks share 144 GB/s, 9 each, so this is less.
    "rtx-6000d-cx8": Machine([("gpu0 gpu1", PCIE5), ("gpu0 gpu7", PCIE5)], 7 * PCIE5 / 12),
    # 2 links of 25 GB/s for each pair.
    "v100-nig": Machine([("gpu0 gpu3", 50)], 3 * 50),
    # 16 blocks share 144 GB/s between the sockets: 9 GB/s each, while 7 blocks share a GPU's 31.5: 4.5 each.
    "l40s": Machine([("gpu0 gpu1", PCIE4), ("gpu0 gpu7", PCIE4)], PCIE4),
    # 9 GB/s between the sockets, as before, and 9 for each of the 7 blocks of a GPU.
    "rtx-pro-6000-server": Machine([("gpu0 gpu1", PCIE5), ("gpu0 gpu7", PCIE5)], PCIE5),
    "aws-g5-48xlarge": Machine([("gpu0 gpu1", PCIE4), ("gpu0 gpu7", PCIE4)], PCIE4),  # 96 GB/s between the sockets
    "aws-g4dn-metal": Machine([("gpu0 gpu1", PCIE3 / 2), ("gpu0 gpu7", PCIE3 / 2)], PCIE3 / 2),  # 41.6 GB/s
    # 12 links of 25 GB/s.
    "a100-pcie-bridge": Machine([("gpu0 gpu1", 300)], 300),
    "h100-pcie-bridge": Machine([("gpu0 gpu1", 300)], 300),
    # Through both CPUs.
    "a100-pcie": Machine([("gpu0 gpu1", PCIE4)], PCIE4),
    # Two links of 25 GB/s.
    "rtx2080ti-bridge": Machine([("gpu0 gpu1", 50)], 50),
    "aws-p3dn": CUBE_MESH,
    "aws-p4d": switched(300, 7),
    "aws-p4de": switched(300, 7),
    "aws-p5": switched(450, 7),
    "aws-p5-ofi": switched(450, 7),
    "aws-p5en": switched(450, 7),
    "gcp-a2": switched(300, 7),
    "gcp-a3-high": switched(450, 7),
    "gcp-a3-mega": switched(450, 7),
}


class Fabric:
    """`pairs`: as of Machine; `two_nodes`: GB/s of each GPU in an all-to-all of the first two nodes."""

    def __init__(self, pairs, two_nodes):
        self.pairs = pairs
        self.two_nodes = two_nodes


def shared(gpus, node_out):
    """An all-to-all of two nodes: of the 2n - 1 blocks that a GPU sends, n go to the other node; a node sends n * n
    through its NICs, which together give `node_out`."""
    return (2 * gpus - 1) * node_out / gpus**2


def own_nic(gpus, rate):
    """Each GPU has NICs of its own with that rate: two GPUs of two nodes get it all."""
    return Fabric([("node0.gpu0 node1.gpu0", rate)], shared(gpus, gpus * rate))


def rails(rate, far, gpus=8):
    """As before; so do GPUs of far nodes (by the spines) and of other rails (over NVLink first)."""
    fabric = own_nic(gpus, rate)
    fabric.pairs += [(f"node0.gpu0 node{far}.gpu0", rate), ("node0.gpu0 node1.gpu3", rate)]
    return fabric


FABRICS = {
    "dgx-1v-x2": Fabric([("node0.gpu0 node1.gpu0", 12.5)], shared(8, 4 * 12.5)),  # a NIC for two GPUs
    "dgx-a100-x4": own_nic(8, 25),
    "dgx-h100-x4": own_nic(8, 50),
    "mi300x-x8": own_nic(8, 50),
    "a100-pcie-x2": Fabric([("node0.gpu1 node1.gpu1", 25)], shared(2, 25)),
    "aws-p3dn": Fabric([("node0.gpu0 node1.gpu0", 12.5)], shared(8, 12.5)),
    "aws-p4d": Fabric([("node0.gpu0 node1.gpu0", 12.5)], shared(8, 4 * 12.5)),
    "aws-p4de": Fabric([("node0.gpu0 node1.gpu0", 12.5)], shared(8, 4 * 12.5)),
    "aws-p5": own_nic(8, 4 * 12.5),
    "aws-p5-ofi": own_nic(8, 50),
    "aws-p5en": own_nic(8, 2 * 25),
    "aws-p6-b200": own_nic(8, 50),
    "gcp-a2": Fabric([("node0.gpu0 node1.gpu0", 12.5)], shared(8, 12.5)),
    "gcp-a3-high": Fabric([("node0.gpu0 node1.gpu0", 25)], shared(8, 4 * 25)),
    "gcp-a3-mega": own_nic(8, 25),
    "gcp-a3-ultra": own_nic(8, 50),
    "gcp-a4": own_nic(8, 50),
    "oci-h100": own_nic(8, 50),
    "oci-b300": own_nic(8, 100),
    "oci-gb300": own_nic(72, 100),
    "oci-mi355x": own_nic(8, 50),
    "azure-nd-a100-v4": own_nic(8, 25),
    "azure-nd-h100-v5": own_nic(8, 50),
    "azure-nd-mi300x-v5": own_nic(8, 50),
    "azure-nd-gb200-v6": own_nic(72, 50),
    # All 15 blocks of a GPU go over its PCIe link; 12 over each switch's way up, 8 over a NIC take less.
    "rtx-6000d-cx8": Fabric([("node0.gpu0 node1.gpu0", 50)], PCIE5),
    # One NIC for four GPUs.
    "v100-nig": Fabric([("node0.gpu0 node1.gpu0", 12.5)], shared(4, 12.5)),
    "dgx-a100-superpod": rails(25, 79),
    "dgx-a100-superpod-3-tier": rails(25, 639),
    "dgx-h100-superpod": rails(50, 127),
    "dgx-h100-superpod-3-tier": rails(50, 511),
    "dgx-b200-superpod": rails(50, 31),
    "gb200-nvl72-racks": rails(50, 7, gpus=72),
    "gb300-nvl72-racks": rails(100, 7, gpus=72),
    "deepseek-multi-plane": rails(50, 127),
    "meta-24k-roce": Fabric([("node0.gpu0 node1.gpu0", 50), ("node0.gpu0 node3071.gpu0", 50)], shared(8, 8 * 50)),
    # A connection takes one of the two ports of a NIC.
    "alibaba-hpn": Fabric([("node0.gpu0 node1.gpu0", 25), ("node0.gpu0 node255.gpu0", 25)], None),
    "alps": Fabric([("node0.gpu0 node1.gpu0", 25), ("node0.gpu0 node2687.gpu3", 25)], shared(4, 4 * 25)),
    "perlmutter": Fabric([("node0.gpu0 node1.gpu0", 25), ("node0.gpu0 node1535.gpu3", 25)], shared(4, 4 * 25)),
    # Two GPUs a NIC.
    "polaris": Fabric([("node0.gpu0 node1.gpu0", 25), ("node0.gpu0 node559.gpu3", 25)], shared(4, 2 * 25)),
    # One link between neighbours; one of the two ways to the chip across.
    "tpu-v7-cube": Fabric([("node0.gpu0 node1.gpu0", 100), ("node0.gpu0 node2.gpu0", 100)], 100),
}

class Rates(program.Case):
    def rate(self, collective, cluster, *words):
        # What the links allow, whatever NCCL's kernels cost.
        return self.row("run", collective, "--cluster", cluster, "--bytes", SIZE, "--parameters", "none", *words,
                        "--quiet")["busbw_GBps"]

    def close(self, rate, expected):
        self.assertLessEqual(rate, expected * (1 + 1e-9))
        self.assertGreaterEqual(rate, expected * (1 - TOLERANCE))

    def test_two_gpus(self):
        for name, machine in program.sample(ONE_NODE.items(), 3):
            for pair, expected in machine.pairs:
                placement = self.file("placement.txt", pair.replace(" ", "\n") + "\n")
                for collective in ("send_recv", "all_to_all"):
                    with self.subTest(f"{name}, {pair}, {collective}"):
                        # Of an all-to-all, each of two ranks keeps one half: nccl-tests' busbw counts what is sent.
                        self.close(self.rate(collective, name, "--set", "nodes=1", "--placement", str(placement)),
                                   expected)

    def test_all_gpus(self):
        for name, machine in program.sample(ONE_NODE.items(), 3):
            if machine.everyone is not None:
                with self.subTest(name):
                    self.close(self.rate("all_to_all", name, "--set", "nodes=1"), machine.everyone)

    def test_gpus_of_two_nodes(self):
        for name, fabric in program.sample(FABRICS.items(), 3):
            for pair, expected in fabric.pairs:
                placement = self.file("placement.txt", pair.replace(" ", "\n") + "\n")
                with self.subTest(f"{name}, {pair}"):
                    self.close(self.rate("send_recv", name, "--placement", str(placement)), expected)

    def test_two_nodes(self):
        for name, fabric in program.sample(FABRICS.items(), 3):
            if fabric.two_nodes is not None:
                with self.subTest(name):
                    self.close(self.rate("all_to_all", name, "--nodes", "2"), fabric.two_nodes)

    def test_shifts_between_far_units(self):
        # Without oversubscription, static routing keeps apart what whole units send each other: 32 nodes (or 20) of
        # rail 0 to those of a far unit, and back to the next one of the first.
        for name, nodes, far, expected in [("dgx-h100-superpod", 32, 96, 50), ("dgx-h100-superpod-3-tier", 32, 384, 50),
                                           ("dgx-a100-superpod", 20, 60, 25), ("dgx-a100-superpod-3-tier", 20, 500, 25)]:
            order = [f"node{node + offset}.gpu0" for node in range(nodes) for offset in (0, far)]
            placement = self.file("placement.txt", "\n".join(order) + "\n")
            with self.subTest(name):
                self.close(self.rate("send_recv", name, "--placement", str(placement)), expected)

    def test_a_torus(self):
        # In a ring of 4 the others are 1, 1 and 2 links away, in a cube 64 chips are 3 * (0 + 1 + 1 + 2) / 4 = 3 on
        # average: 192 passages for a block to each, over 6 links of 100 GB/s a chip, all of them as busy. With spray, two
        # ways, by the two sides of the ring, lead to the chip across.
        for routing in ("static", "spray"):
            self.close(self.rate("all_to_all", "tpu-v7-cube", "--set", f"fabric.routing={routing}"), 63 * 6 * 100 / 192)
        across = self.file("across.txt", "node0.gpu0\nnode2.gpu0\n")
        self.close(self.rate("send_recv", "tpu-v7-cube", "--set", "fabric.routing=spray", "--placement", str(across)),
                   2 * 100)


class Library(program.Case):
    def test_every_cluster_has_its_figures(self):
        named = {entry["name"] for entry in self.json("list", "clusters")["entries"]}
        machines = {name for name in named if not name.startswith("textbook-")}
        self.assertEqual(machines, set(ONE_NODE) | set(FABRICS))

    def switches(self, cluster, nodes):
        return self.json("topology", "show", "--cluster", cluster, "--set", f"nodes={nodes}")["devices"]["switch"]

    def test_superpods_have_the_switches_of_the_reference_architecture(self):
        # Units of 32 nodes: leaves, spines and cores of docs.nvidia.com/dgx-superpod.
        for units, leaves, spines in [(2, 16, 8), (4, 32, 16), (8, 64, 32)]:
            self.assertEqual(self.switches("dgx-h100-superpod", 32 * units), leaves + spines)
        for units, leaves, spines, cores in [(16, 128, 128, 64), (32, 256, 256, 128), (64, 512, 512, 256)]:
            self.assertEqual(self.switches("dgx-h100-superpod-3-tier", 32 * units), leaves + spines + cores)

    def test_superpods_of_a100_have_1_to_64_units(self):
        # 8 leaves a unit of 20 nodes, 20 cables up from each. A highest switch takes 40 cables, a spine below it 20. The
        # number of highest switches divides the 20 ports up of what is below.
        two, three = "dgx-a100-superpod", "dgx-a100-superpod-3-tier"
        for units, file, switches in [(1, two, 8 + 4), (2, two, 16 + 10), (5, two, 40 + 20),
                                      (10, three, 80 + 80 + 40), (50, three, 400 + 400 + 200)]:
            self.assertEqual(self.switches(file, 20 * units), switches)
        for units in (6, 32, 64):
            devices = self.json("topology", "show", "--cluster", three, "--set", f"nodes={20 * units}")["devices"]
            self.assertEqual(devices["gpu"], 160 * units)
        done = self.run_program("topology", "show", "--cluster", two, "--set", "nodes=120")
        self.assertIn("fabric.spine.ports: expected at least 48 ports, one for each leaf, got 40\n", done.stderr)

    def test_other_fabrics_have_the_switches_of_their_papers(self):
        self.assertEqual(self.switches("deepseek-multi-plane", 2048), 768)  # for 16,384 endpoints
        self.assertEqual(self.switches("alibaba-hpn", 15 * 128), 240 + 120)  # 15 segments of 1,024 GPUs
        # A rack switch for two nodes, 16 chassis in each of 8 pods of 192 racks, 27 above.
        self.assertEqual(self.switches("meta-24k-roce", 3072), 1536 + 8 * 16 + 27)

    def test_every_node_is_a_cluster_too(self):
        clusters = {entry["name"] for entry in self.json("list", "clusters")["entries"]}
        self.assertLessEqual({entry["name"] for entry in self.json("list", "nodes")["entries"]}, clusters)

    def test_every_measured_machine_has_its_row(self):
        folder = CONFIGS.parents[1] / "shared" / "measurements"
        rows = {name.strip("`"): cells for cells in self.rows_of("## Measured machines") for name in cells[0].split(", ")}
        self.assertEqual(len(rows), sum(len(cells[0].split(", ")) for cells in self.rows_of("## Measured machines")))
        if not folder.exists():
            self.skipTest("needs ../shared/measurements")
        ranks = {}
        for file in folder.glob("*.json"):
            table = json.loads(file.read_text(encoding="utf-8"))
            for run in table.get("runs", []):
                ranks[table["machine"]] = max(ranks.get(table["machine"], 0), run["ranks"])
        self.assertEqual(set(rows), set(ranks))
        for name, (_, _, cluster, gpus, differs) in rows.items():
            # Either a description that is large enough, or why there is none.
            self.assertTrue(differs if cluster == "none" else int(gpus) >= ranks[name] or "inside a node" in differs, name)

    @staticmethod
    def rows_of(heading):
        page = (CONFIGS.parent / "docs" / "machines.md").read_text(encoding="utf-8").split(heading)[1].split("\n## ")[0]
        return [line[2:-2].split(" | ") for line in page.splitlines() if line.startswith("| `")]

    def test_every_source_is_explained(self):
        text = (CONFIGS / "README.md").read_text(encoding="utf-8")
        known = {key for row in re.findall(r"^\| ([^|]+) \|", text.split("## Sources")[1], re.M) for key in row.split(", ")}
        used = {}
        for file in [CONFIGS / "README.md", *sorted(CONFIGS.rglob("*.yaml"))]:
            for comment in re.findall(r"#.*|^\|.*", file.read_text(encoding="utf-8"), re.M):
                for key in re.findall(r"\[([A-Z0-9][A-Z0-9&]+)\](?!\()", comment):
                    used.setdefault(key, file.name)
        self.assertGreater(len(used), 10)
        self.assertEqual({key: file for key, file in used.items() if key not in known}, {})


program.main()
