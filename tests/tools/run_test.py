"""`collsim run`: what each option does."""

import re

import program
from program import LATENCY_PS, MESH, PS_PER_BYTE, STAR, TWO_NODES

MIB = 2**20

# Two leaves of three nodes under three spines, each of which takes a third of every message.
SPRAYED = """
name: sprayed
nodes: 6
node:
  gpus: 1
  devices: [{ name: nic, kind: nic }]
  links: [{ from: gpu, to: nic, bandwidth: 50 GB/s, latency: 0 ns }]
fabric:
  kind: leaf-spine
  routing: spray
  leaf: { ports: 6, latency: 0 ns }
  link: { bandwidth: 10 GB/s, latency: 0 ns }
"""


class Job(program.Case):
    def test_bytes_and_datatype(self):
        row = self.row("run", "all_reduce", *STAR, "--bytes", "1M", "--algorithm", "ring")
        self.assertEqual((row["bytes"], row["count"], row["datatype"]), (MIB, MIB // 4, "float"))
        half = self.row("run", "all_reduce", *STAR, "--bytes", "1M", "--algorithm", "ring", "--datatype", "half")
        self.assertEqual((half["bytes"], half["count"], half["datatype"]), (MIB, MIB // 2, "half"))
        decimal = self.row("run", "all_reduce", *STAR, "--bytes", "1MB", "--algorithm", "ring")
        self.assertEqual(decimal["bytes"], 10**6)

    def test_sizes_that_do_not_divide_are_rounded_and_shown(self):
        # 5 blocks of whole 16-byte units: 1000 / 5 = 200 -> 192.
        row = self.row("run", "all_gather", *MESH, "--ranks", "5", "--bytes", "1000", "--algorithm", "direct",
                       "--network-model", "ideal")
        self.assertEqual((row["requested_bytes"], row["bytes"], row["count"]), (1000, 960, 48))
        self.assertEqual(row["time_ps"], 192 * PS_PER_BYTE + LATENCY_PS)
        self.assertIn("size rounded from 1000 to 960 bytes, as nccl-tests does", row["warnings"])
        text = self.output("run", "all_gather", *MESH, "--ranks", "5", "--bytes", "1000")
        self.assertIn("  note: size rounded from 1000 to 960 bytes, as nccl-tests does\n", text)

    def test_nothing_to_do(self):
        for words in (["--bytes", "0"], ["--bytes", "1M", "--ranks", "1"]):
            with self.subTest(words):
                row = self.row("run", "all_reduce", *STAR, *words)
                self.assertEqual((row["time_ps"], row["algbw_GBps"], row["busbw_GBps"]), (0, 0, 0))
                self.assertEqual((row["attribution"], row["bounds"], row["transfers"]), ([], [], 0))
                self.assertIn("  time       0 s  (0 ps)\n", self.output("run", "all_reduce", *STAR, *words))

    def test_reduction(self):
        row = self.row("run", "all_reduce", *STAR, "--bytes", "1K", "--redop", "max")
        self.assertEqual((row["redop"], row["root"]), ("max", None))
        self.assertIn("float max, in place", self.output("run", "all_reduce", *STAR, "--bytes", "1K", "--redop", "max"))

    def test_root(self):
        # The root only sends; everybody else waits one latency longer for its block.
        row = self.row("run", "scatter", *STAR, "--bytes", "1M", "--root", "3", "--algorithm", "direct", "--per-rank")
        self.assertEqual((row["root"], row["redop"]), (3, None))
        sent = 7 * (MIB // 8) * PS_PER_BYTE
        expected = [sent if rank == 3 else sent + LATENCY_PS for rank in range(8)]
        self.assertEqual(row["time_of_rank_ps"], expected)

    def test_in_place(self):
        words = ["run", "all_reduce", *STAR, "--bytes", "1M", "--algorithm", "ring"]
        self.assertIs(self.row(*words)["in_place"], True)
        self.assertIs(self.row(*words, "--out-of-place")["in_place"], False)
        # These cannot run in place.
        for collective in ("all_to_all", "send_recv"):
            self.assertIs(self.row("run", collective, *STAR, "--bytes", "1M")["in_place"], False)

    def test_spellings_of_collectives(self):
        for spelling in ("AllReduce", "all-reduce", "ALLREDUCE", "all_reduce"):
            self.assertEqual(self.row("run", spelling, *STAR, "--bytes", "1K")["collective"], "all_reduce")

    def test_channels_and_chunks(self):
        words = ["run", "broadcast", *STAR, "--bytes", "1M", "--algorithm", "ring"]
        plain = self.row(*words)
        # A chain of 7 hops, stored and forwarded.
        self.assertEqual(plain["time_ps"], 7 * (MIB * PS_PER_BYTE + LATENCY_PS))
        chunked = self.row(*words, "--chunks", "4")
        self.assertEqual((chunked["chunks"], chunked["transfers"]), (4, 4 * plain["transfers"]))
        # Chunks follow each other: the last one leaves the root after 3 others and makes 7 hops.
        self.assertEqual(chunked["time_ps"], (3 + 7) * (MIB // 4) * PS_PER_BYTE + 7 * LATENCY_PS)
        channels = self.row(*words, "--channels", "2")
        self.assertEqual((channels["channels"], channels["transfers"]), (2, 2 * plain["transfers"]))

    def test_more_channels_than_data(self):
        row = self.row("run", "broadcast", *STAR, "--bytes", "8", "--algorithm", "ring", "--channels", "64")
        self.assertLess(row["channels"], 64)
        self.assertIn(f"{row['channels']} of 64 channels in use: the data have no more parts", row["warnings"])


class Where(program.Case):
    def job(self, *words):
        row = self.row("run", "all_reduce", *TWO_NODES, "--bytes", "1M", "--algorithm", "ring", *words)
        return row["ranks"], row["nodes"], row["placement"]

    def gpus(self, *words):
        text = self.output("run", "all_reduce", *TWO_NODES, "--bytes", "1M", "--algorithm", "ring", "--per-rank", *words)
        return re.findall(r"^ +\d+  (node\d\.gpu\d) ", text, re.MULTILINE)

    def test_a_part_of_the_cluster(self):
        self.assertEqual(self.job(), (8, 2, "block"))
        self.assertEqual(self.job("--nodes", "1"), (4, 1, "block"))
        self.assertEqual(self.job("--gpus-per-node", "3"), (6, 2, "block"))
        self.assertEqual(self.job("--ranks", "5"), (5, 2, "block"))
        self.assertEqual(self.job("--gpus-per-node", "2", "--ranks", "3"), (3, 2, "block"))
        self.assertEqual(self.gpus("--gpus-per-node", "2", "--ranks", "3"), ["node0.gpu0", "node0.gpu1", "node1.gpu0"])

    def test_placement(self):
        self.assertEqual(self.job("--placement", "cyclic"), (8, 2, "cyclic"))
        self.assertEqual(self.gpus("--placement", "cyclic", "--ranks", "4"),
                         ["node0.gpu0", "node0.gpu1", "node0.gpu2", "node0.gpu3"])
        self.assertEqual(self.gpus("--placement", "cyclic", "--gpus-per-node", "2"),
                         ["node0.gpu0", "node1.gpu0", "node0.gpu1", "node1.gpu1"])
        self.file("order", "# any order\nnode1.gpu3\n\n  node0.gpu2  \r\nnode1.gpu0\n")
        self.assertEqual(self.job("--placement", "order"), (3, 2, "order"))
        self.assertEqual(self.gpus("--placement", "order"), ["node1.gpu3", "node0.gpu2", "node1.gpu0"])
        self.assertIn(", placement order, ", self.output("run", "all_reduce", *TWO_NODES, "--bytes", "1M",
                                                         "--algorithm", "ring", "--placement", "order"))
        (line,) = self.csv("compare", "all_reduce", *TWO_NODES, "--bytes", "1M", "--algorithms", "ring",
                           "--placement", "./order")
        self.assertEqual(line["placement"], "./order")
        # A ring that crosses the NICs at every hop is slower than one that crosses them twice.
        block, cyclic = (self.row("run", "all_reduce", *TWO_NODES, "--bytes", "1M", "--algorithm", "ring",
                                  "--placement", placement)["time_ps"] for placement in ("block", "cyclic"))
        self.assertGreater(cyclic, block)

    def test_settings_change_the_cluster(self):
        words = ["run", "all_gather", *STAR, "--bytes", "1M", "--algorithm", "ring"]
        plain = self.row(*words)
        faster = self.row(*words, "--set", "node.links[0].bandwidth=100 GB/s", "--set", "gpus=4")
        self.assertEqual(faster["ranks"], 4)
        self.assertEqual(faster["time_ps"], 3 * (MIB // 4 * 10 + LATENCY_PS))
        self.assertNotEqual(faster["input_digest"], plain["input_digest"])
        same = self.row(*words, "--set", "node.links[0].bandwidth=50 GB/s")
        self.assertEqual(same["input_digest"], plain["input_digest"])

    def test_config_directories(self):
        self.file("first/clusters/mine.yaml", "name: mine\ngpus: 2\nnode:\n  links:\n    - { from: gpu, to: gpu, "
                                              "connect: mesh, bandwidth: 1 GB/s, latency: 0 ns }\n")
        self.file("second/clusters/mine.yaml", "name: mine\ngpus: 2\nnode:\n  links:\n    - { from: gpu, to: gpu, "
                                               "connect: mesh, bandwidth: 2 GB/s, latency: 0 ns }\n")
        words = ["run", "send_recv", "--cluster", "mine", "--bytes", "1000", "--format", "csv"]
        self.assertEqual(self.run_program(*words).returncode, 2)
        first = self.csv(*words[:-2], "--config-dir", "first")
        self.assertEqual(first[0]["time_ps"], "1000000")
        environment = self.environment() | {"COLLSIM_CONFIG_PATH": "nowhere:second:first"}
        self.assertIn(",500000,", self.run_program(*words, env=environment).stdout)
        # The option comes before the environment.
        self.assertIn(",1000000,", self.run_program(*words, "--config-dir", "first", env=environment).stdout)


class Simulation(program.Case):
    def test_best_is_the_default(self):
        auto = self.row("run", "all_reduce", *STAR, "--bytes", "1G")
        compared = self.rows("compare", "all_reduce", *STAR, "--bytes", "1G")
        self.assertEqual(auto["algorithm"], compared[0]["algorithm"])
        self.assertEqual(auto["time_ps"], compared[0]["time_ps"])
        self.assertRegex(auto["chosen_because"], rf"^best of {len(compared)} simulated, .*{compared[1]['algorithm']}$")
        best = self.row("run", "all_reduce", *STAR, "--bytes", "1G", "--algorithm", "best")
        self.assertEqual(best, auto)
        named = self.row("run", "all_reduce", *STAR, "--bytes", "1G", "--algorithm", auto["algorithm"])
        self.assertNotIn("chosen_because", named)
        self.assertEqual(named["result_digest"], auto["result_digest"])
        self.assertIn("the only algorithm that can be simulated",
                      self.output("run", "send_recv", *STAR, "--bytes", "1K"))

    def test_network_models(self):
        words = ["run", "gather", *STAR, "--bytes", "8M", "--algorithm", "direct"]
        flow = self.row(*words, "--network-model", "flow")
        self.assertEqual((flow["network_model"], flow["contention_ignored"]), ("flow", False))
        self.assertEqual(flow["time_ps"], 7 * MIB * PS_PER_BYTE + LATENCY_PS)
        ideal = self.row(*words, "--network-model", "ideal")
        self.assertEqual((ideal["network_model"], ideal["contention_ignored"]), ("ideal", True))
        self.assertEqual(ideal["time_ps"], MIB * PS_PER_BYTE + LATENCY_PS)
        self.assertTrue(any("transfers overlapped on links" in warning for warning in ideal["warnings"]))

    def test_verify(self):
        row = self.row("run", "all_reduce", *STAR, "--bytes", "1M", "--algorithm", "ring", "--verify")
        # 8 ranks of 1 + 13 + 1 steps, 14 rounds of 8 messages.
        self.assertEqual(row["check"], {"ok": True, "steps": 120, "messages": 112, "failures": []})
        self.assertIn("Verified: 120 steps and 112 messages, every rank ends with the right data.\n",
                      self.output("run", "all_reduce", *STAR, "--bytes", "1M", "--algorithm", "ring", "--verify"))

    def test_limit_of_transfers_is_inclusive(self):
        words = ["run", "all_reduce", *STAR, "--bytes", "1M", "--algorithm", "ring"]
        self.assertEqual(self.row(*words, "--max-transfers", "112")["transfers"], 112)


class Shown(program.Case):
    def test_critical_path(self):
        row = self.row("run", "broadcast", *MESH, "--bytes", "1M", "--algorithm", "tree", "--critical-path")
        path = row["critical_path"]
        self.assertEqual(path[0]["start_ps"], 0)
        self.assertEqual(path[-1]["end_ps"], row["time_ps"])
        for before, after in zip(path, path[1:]):
            self.assertEqual(before["end_ps"], after["start_ps"])
        text = self.output("run", "broadcast", *MESH, "--bytes", "1M", "--algorithm", "tree", "--critical-path")
        self.assertEqual(len(text.split("\nCritical path\n")[1].splitlines()), 2 + len(path))
        self.assertNotIn("Critical path", self.output("run", "broadcast", *MESH, "--bytes", "1M"))
        alone = ["run", "broadcast", *MESH, "--bytes", "1M", "--ranks", "1", "--critical-path"]
        self.assertEqual(self.row(*alone)["critical_path"], [])
        self.assertIn("\nCritical path\n  no step takes time\n", self.output(*alone))

    def test_per_rank(self):
        words = ["run", "broadcast", *STAR, "--bytes", "1M", "--algorithm", "tree"]
        self.assertNotIn("time_of_rank_ps", self.row(*words))
        row = self.row(*words, "--per-rank")
        times = row["time_of_rank_ps"]
        self.assertEqual(row["time_per_rank_ps"],
                         {"min": min(times), "max": max(times), "mean": sum(times) // len(times)})
        self.assertIn("\nTime of each rank\n", self.output(*words, "--per-rank"))

    def test_links(self):
        words = ["run", "all_reduce", "--cluster", "textbook-star", "--set", "gpus=16", "--bytes", "1M",
                 "--algorithm", "ring"]
        row = self.row(*words)
        self.assertEqual(len(row["links"]["top"]), 20)
        shown = self.row(*words, "--links", "all")["links"]["all"]
        self.assertEqual(len(shown), 32)
        # A ring sends 2·15/16 of the data over every link.
        for link in shown:
            self.assertEqual(link["bytes"], 30 * (MIB // 16))
        self.assertEqual(row["links"]["levels"],
                         [{"level": "link", "links": 32, "used": 32, "bytes": 32 * 30 * (MIB // 16),
                           "peak_utilisation": shown[0]["utilisation"]}])
        self.assertIn("(8 of 32; --links all shows the rest)", self.output(*words))
        self.assertNotIn("shows the rest", self.output(*words, "--links", "all"))
        self.assertIn("gpu15 -> switch", self.output(*words, "--links", "all"))

    def test_timing(self):
        words = ["run", "all_reduce", *STAR, "--bytes", "1M"]
        self.assertNotIn("run_info", self.row(*words))
        info = self.row(*words, "--timing")["run_info"]
        self.assertEqual(sorted(info), ["events_per_s", "peak_memory_bytes", "transfers_per_s", "wall_s"])
        self.assertGreater(info["peak_memory_bytes"], 0)
        self.assertRegex(self.output(*words, "--timing"), r"\nSimulated in [\d.]+ s: .* peak memory .*\n$")

    def test_a_level_carries_what_its_links_carry(self):
        # Three spines take a third of each message: what is shown of the links is in whole bytes.
        row = self.row("run", "all_to_all", "--cluster", str(self.file("a.yaml", SPRAYED)), "--bytes", "96000",
                       "--algorithm", "direct", "--links", "all")
        for level in row["links"]["levels"]:
            self.assertEqual(sum(link["bytes"] for link in row["links"]["all"] if link["level"] == level["level"]),
                             level["bytes"])

    def test_the_explanation(self):
        text = self.output("run", "all_reduce", *STAR,
                           "--bytes", "1GiB", "--algorithm", "naive")
        for line in ["all_reduce of 1 GiB on textbook-star: 8 ranks on 1 node, float sum, in place, network model flow",
                     "  algorithm  naive, 1 channel, 1 chunk",
                     "  time       300.6 ms  (300649710720 ps)",
                     "  note: nominal: no protocol, no launch",
                     "Where the time goes (the chain of steps that ends last)",
                     "No algorithm can be faster than",
                     "Levels of the machine"]:
            self.assertIn(line + "\n", text)
        # An eighth of the time is what the message takes alone; the rest is the root's link being shared.
        self.assertRegex(text, r"\n  wire +link +42\.95 ms +14\.3 %")
        self.assertRegex(text, r"\n  sharing +link +257\.7 ms +85\.7 %")


program.main()
