#!/usr/bin/env python3
"""What must fall out of topology and program, whatever the fitted values: who is bound by what, and what beats what."""

import collections

import program

H100 = ["--cluster", "dgx-h100"]
TWO_NODES = ["--cluster", "dgx-h100-x4", "--nodes", "2"]
GIB = 1 << 30

# Two leaves of four nodes, with one uplink for each four links down.
OVERSUBSCRIBED = """
name: oversubscribed
node:
  gpus: 1
  devices: [{ name: nic, kind: nic, count: 1 }]
  links: [{ from: gpu, to: nic, connect: one-to-one, kind: pcie, bandwidth: 100 GB/s, latency: 100 ns }]
nodes: 8
fabric:
  kind: leaf-spine
  leaf: { ports: 5, latency: 200 ns }
  spine: { oversubscription: 4, latency: 200 ns }
  link: { kind: infiniband, bandwidth: 50 GB/s, latency: 30 ns }
"""


class Shapes(program.Case):
    def time(self, *words):
        return self.row("run", *words, "--quiet")["time_ps"]

    def test_nvls_moves_the_data_once_and_an_nth(self):
        row = self.row("run", "all_reduce", *H100, "--bytes", "1GiB", "--algorithm", "nvls", "--links", "all")
        carried = {link["bytes"] for link in row["links"]["all"] if link["level"] == "nvlink"}
        # Each way: what the switch reads, or writes, of the whole, and an eighth for the own block.
        self.assertEqual(carried, {GIB + GIB // 8})

    def test_nvls_beats_rings_at_large_sizes_only(self):
        for size, nvls_wins in [("1GiB", True), ("64MiB", True), ("256KiB", False), ("4KiB", False)]:
            nvls = self.time("all_reduce", *H100, "--bytes", size, "--algorithm", "nvls")
            ring = self.time("all_reduce", *H100, "--bytes", size, "--algorithm", "nccl-ring")
            with self.subTest(size):
                self.assertEqual(nvls < ring, nvls_wins)

    def test_two_nodes(self):
        # 8 NICs of 100 Gb/s carry 2 S · 15/16 of a ring, a way, but only S of a tree: 100 GB/s of busbw bound the ring.
        slow = [*TWO_NODES, "--set", "fabric.link.bandwidth=100Gb/s", "--bytes", "1GiB"]
        busbw = {algorithm: self.row("run", "all_reduce", *slow, "--algorithm", algorithm, "--protocol",
                                     "Simple")["busbw_GBps"] for algorithm in ("nccl-ring", "nccl-tree", "nvls-tree")}
        self.assertLess(busbw["nccl-ring"], 100)
        self.assertGreater(busbw["nccl-ring"], 85)
        self.assertGreater(busbw["nccl-tree"], 120)
        self.assertGreater(busbw["nvls-tree"], 120)

    def test_reduction_in_the_fabric_moves_the_share_of_a_head_however_many_nodes(self):
        sharp = ["--cluster", "dgx-h100-x4", "--set", "fabric.reduction=sharp", "--env", "NCCL_COLLNET_ENABLE=1"]
        # 96 MiB are whole loops of every program's channels and heads.
        size = 96 << 20
        for algorithm in ("collnet-direct", "collnet-chain", "nvls"):
            for nodes in ("2", "4"):
                row = self.row("run", "all_reduce", *sharp, "--nodes", nodes, "--bytes", str(size), "--algorithm",
                               algorithm, "--links", "all")
                nics = [link["bytes"] for link in row["links"]["all"] if link["level"] == "leaf"]
                with self.subTest(algorithm, nodes=nodes):
                    # All of a node's data, once out and once in, over the NICs of its heads.
                    self.assertEqual(sum(nics), 2 * int(nodes) * size)
                    if algorithm != "collnet-chain":
                        self.assertEqual(set(nics), {size // 8})

    def test_gathers_by_the_fabric_move_a_block_each_link_once(self):
        sharp = ["--cluster", "dgx-h100-x4", "--set", "fabric.reduction=sharp", "--env", "NCCL_COLLNET_ENABLE=1"]
        size = 96 << 20
        for algorithm in ("collnet-direct", "nvls"):
            for nodes in (2, 4):
                block = size // (8 * nodes)
                for collective in ("all_gather", "reduce_scatter"):
                    row = self.row("run", collective, *sharp, "--nodes", str(nodes), "--bytes", str(size), "--algorithm",
                                   algorithm, "--links", "all")
                    with self.subTest(algorithm, collective=collective, nodes=nodes):
                        # A NIC sends its GPU's block and receives those of the rail, or the reverse.
                        nics = collections.Counter(link["bytes"] for link in row["links"]["all"] if link["level"] == "leaf")
                        each = 8 * nodes
                        self.assertEqual(nics, collections.Counter([block] * each + [(nodes - 1) * block] * each))

    def test_reduction_in_the_fabric_beats_trees_and_rings(self):
        words = ["all_reduce", "--cluster", "dgx-h100-x4", "--bytes", "1GiB"]
        sharp = self.time(*words, "--set", "fabric.reduction=sharp", "--env", "NCCL_COLLNET_ENABLE=1", "--algorithm",
                          "nvls")
        for algorithm in ("nccl-ring", "nvls-tree"):
            self.assertLess(sharp, self.time(*words, "--algorithm", algorithm))

    def test_all_to_all_over_nodes_is_bound_by_the_nics(self):
        row = self.row("run", "all_to_all", "--cluster", "dgx-h100-x4", "--bytes", "4GiB", "--links", "all")
        nics = {link["bytes"] for link in row["links"]["all"] if link["level"] == "leaf"}
        # To the 24 GPUs of other nodes, a 32nd of the data each.
        self.assertEqual(nics, {4 * GIB * 24 // 32})
        alone_ps = 4 * GIB * 24 // 32 * 20  # 50 GB/s
        self.assertGreater(row["time_ps"], alone_ps)
        self.assertLess(row["time_ps"], 1.15 * alone_ps)

    def test_oversubscription_hurts_a_ring_that_goes_to_and_fro(self):
        cluster = str(self.file("oversubscribed.yaml", OVERSUBSCRIBED))
        to_and_fro = self.file("order.txt", "".join(f"node{node}.gpu0\nnode{node + 4}.gpu0\n" for node in range(4)))
        ring = ["all_reduce", "--cluster", cluster, "--bytes", "256MiB", "--algorithm", "ring"]
        block = self.time(*ring)
        crossing = self.time(*ring, "--placement", str(to_and_fro))
        # One of the ring's links crosses between the leaves in each direction, or four over one uplink.
        self.assertGreater(crossing, 3.9 * block)

    def test_without_ll128_ll_is_kept_too_long(self):
        words = ["all_reduce", "--cluster", "alps", "--nodes", "4"]
        without = ["--env", "NCCL_PROTO=LL,Simple"]
        # The same at small sizes, half as much again at 1 MiB, and no more than that once Simple takes over.
        self.assertEqual(self.time(*words, "--bytes", "64KiB"), self.time(*words, "--bytes", "64KiB", *without))
        self.assertGreater(self.time(*words, "--bytes", "1MiB", *without), 1.3 * self.time(*words, "--bytes", "1MiB"))
        self.assertLess(self.time(*words, "--bytes", "64MiB", *without), 1.3 * self.time(*words, "--bytes", "64MiB"))

    def test_times_grow_with_sizes_and_shrink_with_bandwidth(self):
        for collective in ("all_reduce", "all_gather", "all_to_all"):
            times = [self.time(collective, *H100, "--bytes", str(1 << power)) for power in range(20, 31, 2)]
            self.assertEqual(times, sorted(times))
        quick = self.time("all_reduce", *TWO_NODES, "--bytes", "1GiB", "--set", "fabric.link.bandwidth=800Gb/s",
                          "--algorithm", "nccl-ring", "--protocol", "Simple")
        self.assertLess(quick, self.time("all_reduce", *TWO_NODES, "--bytes", "1GiB", "--algorithm", "nccl-ring",
                                         "--protocol", "Simple"))


program.main()
