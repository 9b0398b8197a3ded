"""`collsim perf`: nccl-tests' table to the letter, and its options."""

import re

import program
from program import LATENCY_PS, MESH, PS_PER_BYTE, STAR, TWO_NODES

# nccl-tests 2.18.3 and 2.19.6 print these lines so, trailing blanks included.
HEADER = [
    "#                                                              out-of-place                       in-place          ",
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong ",
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         ",
]


def number(value, width):
    """A number as nccl-tests' getFloatStr writes it."""
    power, limit = 0, 1
    while value >= limit:
        power, limit = power + 1, limit * 10
    if power < width - 2:
        return f"{value:{width}.2f}"
    if power < width - 1:
        return f"{value:{width}.1f}"
    if power < width + 1:
        return f"{value:{width}.0f}"
    return f"{value:{width}.1e}" if width >= 7 else f"{value:{width}.0e}"


def half(row, wrong):
    end = "    N/A" if wrong is None else f"  {wrong:6g}"
    return (f"  {number(row['time_ps'] / 1e6, 7)}  {number(row['algbw_GBps'], 6)}  {number(row['busbw_GBps'], 6)}"
            + end)


class Perf(program.Case):
    def lines(self, *words):
        """The table's lines that are results."""
        return [line for line in self.output("perf", *words).splitlines() if line and not line.startswith("#")]

    def sizes(self, *words):
        return [int(line.split()[0]) for line in self.lines("all_reduce", *STAR, "--algorithm", "ring", *words)]


class Table(Perf):
    def test_ignored_contention_is_said(self):
        done = self.run_program("perf", "all_to_all", *STAR, "-b", "1M", "-e", "2M", "--algorithm", "direct",
                                "--network-model", "ideal")
        self.assertEqual(done.stderr,
                         'from 1 MiB: transfers overlapped on links, which the network model "ideal" ignores: the time '
                         'is too short; "flow" shares the links\nnominal: no protocol, no launch\n')

    def test_other_options_of_nccl_tests_are_refused_by_name(self):
        for option, why in [("-u", "how buffers are aligned is not modelled"),
                            ("-I", "times of single iterations are not shown"),
                            ("-K", "times of single iterations are not shown")]:
            self.refused(["perf", "all_reduce", *STAR, option, "3"],
                         f"error: {option}: {why}\nhint: leave the option out, or {option} 0")

    def test_frame(self):
        text = self.output("perf", "all_reduce", *TWO_NODES, "-b", "1M", "-e", "4M", "-f", "2", "-g", "2", "-t", "2",
                           "-n", "7", "-w", "3", "-c", "0")
        version = self.output("--version").split()[1]
        lines = text.split("\n")
        devices = [f"#  Rank {rank:2} Group  0 Pid {1000 + rank // 4:6} on      node{rank // 4} device {rank % 4:2} "
                   f"[0000:{rank % 4 + 1:02x}:00] textbook-2x4 (simulated)" for rank in range(8)]
        self.assertEqual(lines[:5], [
            f"# nccl-tests version 2.19.6 nccl-headers=0 nccl-library=0 simulated by collsim {version}",
            "# Collective test starting: all_reduce_perf",
            "# nThread 2 nGpus 2 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 3 iters: 7 "
            "agg iters: 1 validation: 0 graph: 0 unalign: 0",
            "#", "# Using devices"])
        self.assertEqual(lines[5:14], [*devices, "#"])
        self.assertEqual(lines[14:17], HEADER)
        self.assertEqual(lines[20], "# Out of bounds values : 0 OK")
        self.assertRegex(lines[21], r"^# Avg bus bandwidth    : [0-9.]+ $")
        self.assertEqual(lines[22:], ["#", "# Collective test concluded: all_reduce_perf", "#", "", ""])

    def test_steps_in_bytes(self):
        text = self.output("perf", "all_reduce", *STAR, "-b", "1M", "-e", "3M", "-i", "1M")
        self.assertIn(" minBytes 1048576 maxBytes 3145728 step: 1048576(bytes) warmup ", text)

    def test_lines_say_what_json_says(self):
        # From nanoseconds to weeks, so that every style of number occurs.
        sizes = ["-b", "4", "-e", "4G", "-f", "16"]
        largest = ["-b", "4G", "-e", "4G"]
        styles = set()
        for cluster, bandwidth, gpus, range_of_sizes in ((STAR, "20 kB/s", 8, sizes), (STAR, "1 GB/s", 8, sizes),
                                                         (MESH, "100 TB/s", 64, largest)):
            words = ["all_reduce", *cluster, "--set", f"node.links[0].bandwidth={bandwidth}", "--set",
                     "node.links[0].latency=1 ps", "--set", f"gpus={gpus}", "--algorithm", "direct", *range_of_sizes]
            rows = self.rows("perf", *words)
            lines = self.lines(*words)
            self.assertEqual(len(rows), 2 * len(lines))
            for line, out_of_place, in_place in zip(lines, rows[::2], rows[1::2], strict=True):
                self.assertEqual(line, f"{out_of_place['bytes']:12}  {out_of_place['count']:12}     float     sum      -1"
                                 + half(out_of_place, 0) + half(in_place, 0))
                styles |= {re.sub(r"\d", "9", word) for word in line.split()[5:]}
        self.assertLessEqual({"9.99", "9999.99", "99999.9", "999999", "9.9e+99", "9e+99"}, styles)

    def test_average_bandwidth(self):
        words = ["reduce_scatter", *STAR, "-b", "64K", "-e", "1M", "-f", "4"]
        rows = self.rows("perf", *words)
        mean = sum(row["busbw_GBps"] for row in rows) / len(rows)
        self.assertIn(f"\n# Avg bus bandwidth    : {mean:g} \n", self.output("perf", *words))

    def test_every_collective_in_its_columns(self):
        # root and redop are nccl-tests': -1 and none where there is none, but sendrecv shows -o.
        expected = {"all_reduce": (2**20, 2**18, "sum", "-1"), "all_gather": (2**20, 2**15, "none", "-1"),
                    "reduce_scatter": (2**20, 2**15, "sum", "-1"), "broadcast": (2**20, 2**18, "none", "0"),
                    "reduce": (2**20, 2**18, "sum", "0"), "gather": (2**20, 2**15, "none", "0"),
                    "scatter": (2**20, 2**15, "none", "0"), "all_to_all": (2**20, 2**15, "none", "-1"),
                    "send_recv": (2**20, 2**18, "sum", "-1")}
        names = {"all_to_all": "alltoall", "send_recv": "sendrecv"}
        for collective, (size, count, redop, root) in expected.items():
            with self.subTest(collective):
                text = self.output("perf", collective, *STAR, "-b", "1M", "-e", "1M")
                self.assertIn(f"# Collective test starting: {names.get(collective, collective)}_perf\n", text)
                line = [line for line in text.splitlines() if line and not line.startswith("#")][0]
                self.assertTrue(line.startswith(f"{size:12}  {count:12}     float  {redop:>6}  {root:>6}  "), line)

    def test_what_cannot_run_in_place(self):
        for collective in ("all_to_all", "send_recv"):
            with self.subTest(collective):
                rows = self.rows("perf", collective, *STAR, "-b", "1M", "-e", "2M", "-f", "2")
                self.assertEqual([row["in_place"] for row in rows], [False, False])
                for line, row in zip(self.lines(collective, *STAR, "-b", "1M", "-e", "2M", "-f", "2"), rows):
                    self.assertTrue(line.endswith(half(row, 0) + half(row, None)), line)

    def test_rounded_sizes(self):
        # 8 blocks of 16 bytes: what is smaller rounds down to nothing, as nccl-tests shows it.
        lines = self.lines("all_gather", *STAR, "-b", "64", "-e", "256", "-f", "2")
        self.assertEqual([line.split()[:2] for line in lines], [["0", "0"], ["128", "4"], ["256", "8"]])
        self.assertTrue(lines[0].endswith(2 * "     0.00    0.00    0.00       0"), lines[0])


class Options(Perf):
    def test_sizes(self):
        self.assertEqual(self.sizes(), [32 * 2**20])
        self.assertEqual(self.sizes("-b", "8", "-e", "128", "-f", "4"), [8, 32, 128])
        self.assertEqual(self.sizes("-b", "8", "-e", "100", "-f", "4"), [8, 32])
        self.assertEqual(self.sizes("-b", "1K", "-e", "2K", "-i", "512"), [1024, 1536, 2048])
        self.assertEqual(self.sizes("--minbytes", "1M", "--maxbytes", "3M"), [2**20, 2 * 2**20, 3 * 2**20])
        self.assertEqual(self.sizes("-b8", "-e16", "-f2", "-i", "1K"), [8, 16])

    def test_processes(self):
        def processes(*words):
            text = self.output("perf", "all_reduce", *TWO_NODES, "-b", "1M", "-e", "1M", *words)
            return [int(process) for process in re.findall(r" Pid +(\d+) ", text)]
        self.assertEqual(processes(), list(range(1000, 1008)))
        self.assertEqual(processes("-g", "2"), [1000, 1000, 1001, 1001, 1002, 1002, 1003, 1003])
        self.assertEqual(processes("-t", "2", "-g", "2"), [1000] * 4 + [1001] * 4)

    def test_datatypes_and_reductions(self):
        words = ["all_reduce", *STAR, "-b", "1M", "-e", "1M"]
        self.assertEqual([line.split()[1:4] for line in self.lines(*words, "-d", "half", "-o", "max")],
                         [["524288", "half", "max"]])
        self.assertEqual([line.split()[3] for line in self.lines(*words, "-o", "all")],
                         ["sum", "prod", "max", "min", "avg"])
        types = [line.split()[2] for line in self.lines(*words, "-d", "all")]
        self.assertEqual(types, ["int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double",
                                 "bfloat16", "f8e4m3", "f8e5m2"])
        # Nothing is reduced: all reductions are one.
        self.assertEqual(len(self.lines("all_gather", *STAR, "-b", "1M", "-e", "1M", "-o", "all")), 1)

    def test_roots(self):
        words = ["broadcast", *STAR, "-b", "1M", "-e", "1M"]
        for every in ("-1", "all"):
            self.assertEqual([line.split()[4] for line in self.lines(*words, "-r", every)],
                             [str(rank) for rank in range(8)])
        self.assertEqual(self.lines(*words, "-r", "5")[0].split()[4], "5")
        self.assertEqual([row["root"] for row in self.rows("perf", *words, "-r", "5")], [5, 5])

    def test_check(self):
        words = ["all_reduce", *STAR, "-b", "1M", "-e", "1M"]
        self.assertTrue(self.lines(*words, "-c", "1")[0].endswith("       0"))
        self.assertEqual(self.lines(*words, "-c", "0")[0].count("    N/A"), 2)
        self.assertNotIn("check", self.rows("perf", *words, "-c", "0")[0])

    def test_programs_too_long_to_check(self):
        # 14 rounds of 8 messages, 2,000 chunks: 224,000 transfers.
        done = self.run_program("perf", "all_reduce", *STAR, "--algorithm", "ring", "--chunks", "2000", "-n", "1", "-w", "0")
        self.assertEqual(done.stdout.splitlines()[-7].count("    N/A"), 2)
        self.assertIn("#wrong is N/A where a program has too many transfers to check its data: 2 times; "
                      "collsim run --verify has no limit\n", done.stderr)

    def test_iterations(self):
        words = ["broadcast", *TWO_NODES, "-b", "1M", "-e", "1M", "--algorithm", "ring"]
        default = self.rows("perf", *words)[0]
        self.assertEqual(default["iterations"], {"warmup": 1, "timed": 20, "simulated": 21})
        chosen = self.rows("perf", *words, "-n", "5", "-w", "2")[0]
        self.assertEqual(chosen["iterations"], {"warmup": 2, "timed": 5, "simulated": 7})
        # A chain passes on one message while it receives the next: back to back, iterations overlap, and
        # each adds what the slowest hop takes. It is the NIC's: 4 times as slow as the links in the node.
        pace = 4 * PS_PER_BYTE * 2**20
        self.assertEqual(chosen["time_per_rank_ps"]["max"], pace)
        alone = self.rows("perf", *words, "--isolated")[0]
        self.assertNotIn("iterations", alone)
        self.assertEqual(alone["time_ps"], self.row("run", *words[:3], "--bytes", "1M", "--algorithm", "ring",
                                                    "--out-of-place")["time_ps"])
        self.assertGreater(alone["time_ps"], 2 * pace)
        one = self.rows("perf", *words, "-n", "1", "-w", "0", "-a", "3")[0]
        self.assertEqual(one["time_ps"], alone["time_ps"])

    def test_groups(self):
        words = ["all_reduce", *TWO_NODES, "-b", "4M", "-e", "4M", "--algorithm", "ring"]
        text = self.output("perf", *words, "--groups", "dp=2")
        self.assertIn("\n# 4 groups of 2 ranks at once (dp=2): the times are those of the slowest group\n#\n# Using devices\n",
                      text)
        # Ranks 0 to 7 in order of nodes: rank r and r + 4 are a group.
        self.assertEqual(re.findall(r"^#  Rank  (\d) Group  (\d) ", text, re.MULTILINE),
                         [(str(rank), str(rank % 4)) for rank in range(8)])
        rows = self.rows("perf", *words, "--groups", "dp=2")
        # Twice half of the data each way, four groups on a NIC that is 4 times as slow as a link in the node; each time
        # two links of half a microsecond in the nodes and two cables of one.
        time = 2 * (4 * 4 * PS_PER_BYTE * 2**21 + 3 * LATENCY_PS)
        for row in rows:
            self.assertEqual((row["ranks"], row["time_ps"], row["groups"]["time_of_group_ps"]), (2, time, [time] * 4))
        once = self.row("run", *words[:3], "--bytes", "4M", "--algorithm", "ring", "--groups", "dp=2")
        self.assertEqual(once["time_ps"], time)
        isolated = self.rows("perf", *words, "--groups", "dp=2", "--isolated")
        self.assertEqual([row["time_ps"] for row in isolated], [time] * 2)
        self.assertNotIn("groups", self.rows("perf", *words)[0])
        # One group of all.
        self.assertEqual(self.lines(*words, "--groups", "tp=8"), self.lines(*words))
        self.assertIn("\n# 1 group of 8 ranks at once (tp=8)", self.output("perf", *words, "--groups", "tp=8"))

    def test_roots_are_ranks_of_a_group(self):
        words = ["perf", "broadcast", *TWO_NODES, "-b", "1M", "-e", "1M", "--groups", "tp=4"]
        self.assertEqual([row["root"] for row in self.rows(*words, "-r", "-1")], [0, 0, 1, 1, 2, 2, 3, 3])
        self.refused([*words, "-r", "4"], "error: -r: there is no rank 4: ranks are 0 to 3")

    def test_placement_is_said(self):
        words = ["all_reduce", *TWO_NODES, "-b", "1M", "-e", "1M", "--algorithm", "ring"]
        self.assertNotIn("placement", self.output("perf", *words))
        self.file("my order.txt", "node1.gpu0\nnode0.gpu3\n")
        for given, shown in [(["--placement", "cyclic"], "cyclic"), (["--placement", "random:7"], "random:7"),
                             (["--placement", "my order.txt"], "my order.txt"),
                             (["--node-list", "node[1,0]"], "block of node[1,0]"),
                             (["--placement", "node[1,0]"], "block of node[1,0]")]:
            self.assertIn(f"\n# placement {shown}\n#\n# Using devices\n", self.output("perf", *words, *given))
            self.assertEqual({row["placement"] for row in self.rows("perf", *words, *given)}, {shown})
            self.assertEqual({line["placement"] for line in self.csv("perf", *words, *given)}, {shown})

    def test_a_mean_below_the_bound_is_explained(self):
        words = ["perf", "gather", *STAR, "--algorithm", "tree", "-b", "1M", "-e", "1M"]
        self.assertIn("below the bound of one call", self.run_program(*words).stderr)
        self.assertNotIn("below the bound", self.run_program(*words, "--isolated").stderr)
        for row in self.rows(*words, "--isolated"):
            self.assertGreaterEqual(row["time_ps"], max(bound["time_ps"] for bound in row["bounds"]))

    def test_averages(self):
        words = ["scatter", *STAR, "-b", "1M", "-e", "1M", "--algorithm", "direct", "-r", "3", "--isolated"]
        times = {averaging: self.rows("perf", *words, "-a", averaging)[0]["time_ps"] for averaging in "0123"}
        # The root is through when all has left; the others one latency later. Rank 0 is one of those.
        left = 7 * 2**17 * PS_PER_BYTE
        self.assertEqual(times, {"0": left + LATENCY_PS, "1": left + 7 * LATENCY_PS // 8, "2": left,
                                 "3": left + LATENCY_PS})
        self.assertEqual(self.rows("perf", *words)[0]["time_ps"], times["3"])
        back_to_back = [word for word in words if word != "--isolated"]
        self.assertEqual(self.rows("perf", *back_to_back)[0]["time_ps"],
                         self.rows("perf", *back_to_back, "-a", "1")[0]["time_ps"])

    def test_zero_is_what_graph_and_cpu_time_may_be(self):
        self.assertEqual(self.lines("all_reduce", *STAR, "-G", "0", "-C", "0"), self.lines("all_reduce", *STAR))

    def test_algorithm(self):
        words = ["all_reduce", *STAR, "-b", "8", "-e", "8M", "-f", "1024"]
        ring = self.rows("perf", *words, "--algorithm", "ring")
        self.assertEqual({row["algorithm"] for row in ring}, {"ring"})
        best = self.rows("perf", *words)
        for chosen, named in zip(best, ring, strict=True):
            self.assertIn("chosen_because", chosen)
            self.assertLessEqual(chosen["time_ps"], named["time_ps"])
        # One round of 7 S beats two of 7/8 S as long as 7 S - 14/8 S take less than the second latency:
        # for less than 9,523 bytes.
        self.assertEqual([row["algorithm"] for row in best],
                         4 * ["direct-one-shot"] + 2 * ["direct"])
        self.assertEqual(self.run_program("perf", *words).stderr,
                         "algorithm from 8 B: direct-one-shot\nalgorithm from 8 MiB: direct\n"
                         "nominal: no protocol, no launch\n")
        self.assertEqual(self.run_program("perf", *words, "--quiet").stderr, "")

    def test_timing(self):
        words = ["perf", "all_reduce", *STAR, "-b", "1M", "-e", "1M", "--timing"]
        self.assertRegex(self.run_program(*words).stderr, r"Simulated in [\d.]+ s: ")
        self.assertTrue(all("run_info" in row for row in self.rows(*words)))

    def test_symmetric_ranks_take_the_time_of_one_call(self):
        # All end together, so the next call starts from the same state.
        row = self.rows("perf", "all_reduce", *STAR, "-b", "1M", "-e", "1M", "--algorithm", "ring")[1]
        self.assertEqual(row["time_ps"], 14 * (2**17 * PS_PER_BYTE + LATENCY_PS))
        self.assertEqual(row["iterations"], {"warmup": 1, "timed": 20, "simulated": 1})


program.main()
