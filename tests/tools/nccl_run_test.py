#!/usr/bin/env python3
"""NCCL's programs in `run` and `perf`: its choice, what steers it, and what its kernels cost."""

import program

H100 = ["--cluster", "dgx-h100"]
H100_X4 = ["--cluster", "dgx-h100-x4"]
RUN = ["run", "all_reduce", *H100, "--bytes", "1MiB"]
H100_X4_RUN = ["run", "all_reduce", *H100_X4, "--bytes", "1MiB"]

# A set in which nothing costs anything but a launch of 3 us.
LAUNCH = "description: a launch\nlaunch: { collective: { value: 3 us, source: measured } }\n"


class Choice(program.Case):
    def test_the_choice_is_that_of_tuning(self):
        names = {"Ring": "nccl-ring", "Tree": "nccl-tree", "NVLS": "nvls", "NVLSTree": "nvls-tree"}
        for cluster, last in [(H100, 1 << 30), (H100_X4, 1 << 27)]:
            choices = self.json("tuning", "all_reduce", *cluster)["choices"]["all_reduce"]
            for choice in choices:
                if choice["from_bytes"] > last:
                    continue
                row = self.row("run", "all_reduce", *cluster, "--bytes", str(choice["from_bytes"]))
                self.assertEqual((row["algorithm"], row["protocol"]),
                                 (names[choice["algorithm"]], choice["protocol"]))
                self.assertEqual(row["chosen_because"], "NCCL's choice")

    def test_a_cluster_without_parameters_has_the_best_by_simulation(self):
        row = self.row("run", "all_reduce", *program.STAR, "--bytes", "1MiB")
        self.assertEqual((row["protocol"], row["parameters"]), (None, {"name": None, "provenance": "nominal", "tier": None, "outside": []}))

    def test_what_is_named_runs(self):
        # Parts are cells of 8 KiB (16 of traffic): 6 of 128 a channel, ceil(2 MiB / 24 / 16 KiB), make 22 channels.
        for words, expected in [(["--algorithm", "nccl-ring", "--protocol", "Simple"], ("nccl-ring", "Simple", 22)),
                                (["--algorithm", "nccl-ring", "--protocol", "ll128", "--channels", "4"],
                                 ("nccl-ring", "LL128", 4)),
                                (["--env", "NCCL_ALGO=Tree", "--env", "NCCL_PROTO=LL"], ("nccl-tree", "LL", 24)),
                                (["--env", "NCCL_MAX_NCHANNELS=2"], ("nccl-ring", "LL", 2))]:
            with self.subTest(words):
                row = self.row(*RUN, *words)
                self.assertEqual((row["algorithm"], row["protocol"], row["channels"]), expected)

    def test_sends_and_receives(self):
        for collective in ("all_to_all", "gather", "scatter", "send_recv"):
            row = self.row("run", collective, *H100, "--bytes", "8MiB")
            self.assertEqual(row["algorithm"], "nccl-p2p")

    def test_every_program_is_right(self):
        for words in (["all_reduce", *H100_X4, "--algorithm", "nccl-tree", "--bytes", "64KiB"],
                      ["all_reduce", *H100_X4, "--algorithm", "nvls-tree", "--bytes", "4MiB"],
                      ["all_reduce", *H100, "--algorithm", "nvls", "--bytes", "4MiB"],
                      ["broadcast", *H100, "--bytes", "1MiB", "--root", "3"],
                      ["all_gather", "--cluster", "dgx-h100-x4", "--gpus-per-node", "1", "--bytes", "1MiB",
                       "--algorithm", "pat"],
                      ["all_to_all", *H100_X4, "--bytes", "1MiB"]):
            with self.subTest(words):
                self.assertTrue(self.row("run", *words, "--verify")["check"]["ok"])

    def test_gathers_of_nvls_over_several_nodes(self):
        sharp = [*H100_X4, "--set", "fabric.reduction=sharp", "--env", "NCCL_COLLNET_ENABLE=1"]
        for collective in "all_gather", "reduce_scatter":
            for nodes, gpus in (2, 8), (3, 5), (4, 2):
                few = ["--nodes", str(nodes), "--gpus-per-node", str(gpus)]
                for size in "4", "1000004", "64M":
                    with self.subTest(collective, nodes=nodes, gpus=gpus, size=size):
                        text = self.output("run", collective, *sharp, *few, "--bytes", size, "--algorithm", "nvls", "--verify")
                        self.assertIn("every rank ends with the right data", text)
            # Chosen, too.
            row = self.row("run", collective, *sharp, "--bytes", "64M", "--env", "NCCL_ALGO=NVLS")
            self.assertEqual(row["algorithm"], "nvls")


class Costs(program.Case):
    def test_a_launch_and_nothing_else(self):
        file = str(self.file("launch.yaml", LAUNCH))
        bare = self.row(*RUN, "--parameters", "none", "--algorithm", "nccl")
        row = self.row(*RUN, "--parameters", file)
        self.assertEqual(row["parameters"], {"name": "launch", "provenance": "measured", "tier": None, "outside": []})
        # The wire in lines of LL, twice the data, is in both.
        launch = [part for part in row["attribution"] if part["cause"] == "launch"]
        self.assertEqual(launch, [{"cause": "launch", "parameter": "launch.collective", "time_ps": 3_000_000}])
        self.assertLess(bare["time_ps"], row["time_ps"])

    def test_the_attribution_sums_to_the_time(self):
        for words in (RUN, ["run", "all_reduce", *H100_X4, "--bytes", "64MiB"],
                      ["run", "all_to_all", *H100_X4, "--bytes", "64MiB"]):
            row = self.row(*words)
            self.assertEqual(sum(part["time_ps"] for part in row["attribution"]), row["time_ps"])
            network = "+net-ib-ndr" if "dgx-h100-x4" in words else ""
            self.assertTrue(row["warnings"][0].startswith(f"parameters nccl-hopper{network}: fitted, "), row["warnings"])

    def test_a_network_is_laid_over_the_node(self):
        two = ["run", "send_recv", *H100_X4, "--nodes", "2", "--gpus-per-node", "1", "--bytes", "8"]
        own = self.row(*two)
        self.assertEqual(own["parameters"]["name"], "nccl-hopper+net-ib-ndr")
        file = str(self.file("net.yaml", "description: x\n"
                             "send_recv: { handoff_network: { value: 1 ms, source: measured } }\n"))
        row = self.row(*two, "--network-parameters", file)
        self.assertEqual(row["parameters"]["name"], "nccl-hopper+net")
        hand_off = [part["time_ps"] for part in row["attribution"]
                    if part.get("parameter") == "send_recv.handoff_network"]
        self.assertEqual(hand_off, [1_000_000_000])
        bare = self.row(*two, "--network-parameters", "none")
        self.assertEqual(bare["parameters"]["name"], "nccl-hopper")
        cluster = str(self.file("c.yaml", "name: c\nnodes: 2\nnode: dgx-h100\nfabric:\n  kind: single-switch\n"
                                f"  parameters: {file}\n"
                                "  link: { kind: infiniband, bandwidth: 400 Gb/s, latency: 30 ns }\n"))
        row = self.row("run", "send_recv", "--cluster", cluster, "--nodes", "2", "--gpus-per-node", "1", "--bytes", "8")
        self.assertEqual(row["parameters"]["name"], "nccl-hopper+net")

    def test_one_process_waits_for_its_launches(self):
        # 11 us and 3 us for each of 8 GPUs are 35 us; the GPUs' own time adds to it in the fourth power.
        words = ["perf", "all_reduce", *H100, "-b", "8", "-e", "8"]
        alone = self.rows(*words)[0]["time_ps"]
        expected = (35_000_000 ** 4 + alone ** 4) ** (1 / 4)
        for row in self.rows(*words, "-g", "8"):
            self.assertAlmostEqual(row["time_ps"], expected, delta=2)

    def test_a_graph_costs_more(self):
        words = ["perf", "all_reduce", *H100, "-b", "8", "-e", "8"]
        plain, graph = (self.rows(*words, *more)[0]["time_ps"] for more in ([], ["-G", "1"]))
        self.assertEqual(graph - plain, 6_000_000)

    def test_more_columns(self):
        text = self.output("perf", "all_reduce", *H100, "-b", "1M", "-e", "4M", "-f", "4", "--columns")
        self.assertIn("#wrong  algorithm           protocol  channels\n", text)
        self.assertRegex(text, r"\n +1048576 .*  0  nccl-ring           LL              24\n")
        self.assertRegex(text, r"\n +4194304 .*  0  nvls                Simple          16\n")

    def test_listing(self):
        names = [entry["name"] for entry in self.json("list", "parameters")["entries"]]
        for name in ("nccl-ampere", "nccl-blackwell", "nccl-hopper", "nccl-volta", "nccl-tuning-2.28"):
            self.assertIn(name, names)


class Refused(program.Case):
    def test_what_nccl_would_not_run(self):
        self.refused([*RUN, "--algorithm", "nvls-tree"],
                     "error: --algorithm: NCCL would not run this here: NVLSTree Simple: NVLSTree needs several nodes")
        self.refused([*RUN, "--algorithm", "nvls", "--protocol", "LL"],
                     "error: --protocol: NCCL would not run this here: NVLS LL: the algorithm has the Simple "
                     "protocol only")
        self.refused(["run", "all_to_all", *H100, "--bytes", "1M", "--algorithm", "nccl-ring"],
                     "error: --algorithm: nccl-ring does not implement all_to_all; expected auto, best, naive, bruck, "
                     "direct, pairwise, hierarchical, nccl, nccl-ce or nccl-p2p")

    def test_reduction_by_switches_that_do_not_reduce(self):
        words = ["run", "all_reduce", *H100_X4, "--bytes", "1M", "--algorithm", "collnet-chain"]
        self.refused([*words, "--env", "NCCL_COLLNET_ENABLE=1"],
                     "error: --algorithm: NCCL would not run this here: no switch of the fabric reduces\n"
                     "hint: where they do, the description says so: fabric.reduction=sharp")
        self.refused(words,
                     "error: --algorithm: NCCL would not run this here: CollNetChain Simple: CollNet is off: it needs a "
                     "plugin, NCCL_COLLNET_ENABLE=1 and nodes enough")
        self.refused(["run", "all_gather", *H100_X4, "--bytes", "64M", "--algorithm", "nvls"],
                     "error: --algorithm: NCCL would not run this here: NVLS Simple: NVLS over several nodes needs CollNet")

    def test_options_that_symmetric_windows_do_not_read(self):
        words = ["run", "all_gather", *H100, "--bytes", "1M", "--algorithm"]
        self.refused([*words, "nccl-symmetric", "--protocol", "LL"],
                     "error: --protocol: has no effect on kernels for symmetric windows\n"
                     "hint: --env NCCL_SYM_KERNEL=…")
        self.refused([*words, "nccl-symmetric", "--channels", "4"],
                     "error: --channels: has no effect on kernels for symmetric windows\n"
                     "hint: --env NCCL_SYM_CTAS=…")
        self.refused([*words, "nccl-ce", "--channels", "4"],
                     "error: --channels: has no effect on copy engines\nhint: leave the option out")
        self.refused([*words, "nccl-symmetric", "--nccl", "2.26"],
                     "error: --algorithm: NCCL 2.26 has no symmetric kernels\nhint: they came with 2.27")
        self.refused([*words, "nccl-ce", "--nccl", "2.27"],
                     "error: --algorithm: NCCL 2.27 has no collectives by copy engines\nhint: they came with 2.28")

    def test_symmetric_windows(self):
        """Calls that no symmetric kernel takes run as others do."""
        perf = ["perf", *H100, "-R", "2", "-b", "64K", "-e", "64K", "--columns", "--format", "csv"]
        for collective, algorithm in [("all_reduce", "nccl-symmetric"), ("broadcast", "nccl-ring"),
                                      ("all_to_all", "nccl-p2p")]:
            self.assertIn(algorithm, self.output("perf", collective, *perf[1:]))
        self.assertIn("nccl-ring", self.output("perf", "all_reduce", *perf[1:], "--nccl", "2.26"))

    def test_channels_of_each_program(self):
        for cluster, algorithm in [(H100, "nccl-ring"), (H100, "nvls"), (H100_X4, "nvls-tree"), (H100_X4, "nccl-tree")]:
            out = self.output("run", "all_reduce", *cluster, "--bytes", "64M", "--algorithm", algorithm, "--channels", "4")
            self.assertIn(f"{algorithm}, Simple, 4 channels", out)
        self.refused(["run", "all_reduce", *H100, "--bytes", "1M", "--algorithm", "collnet-chain",
                      "--set", "environment.NCCL_COLLNET_ENABLE=1"],
                     "error: --algorithm: NCCL would not run this here: switches of the fabric reduce between nodes, and this is "
                     "one node")

    def test_options_of_others(self):
        self.refused([*RUN, "--chunks", "4"],
                     "error: --chunks: has no effect on NCCL's programs, which cut chunks by rules of their own\n"
                     "hint: --env NCCL_BUFFSIZE=…, or another --algorithm")
        self.refused([*RUN, "--algorithm", "ring", "--env", "NCCL_ALGO=Ring"],
                     "error: --env: has no effect on ring, which is not one of NCCL's programs\n"
                     "hint: --algorithm nccl")
        self.refused([*RUN, "--protocol", "LL256"],
                     'error: --protocol: unknown protocol "LL256"; expected LL, LL128 or Simple')

    def test_parameters(self):
        done = self.run_program(*RUN, "--parameters", "nccl-hoper")
        self.assertEqual((done.stdout, done.returncode), ("", 2))
        self.assertTrue(done.stderr.startswith(
            'error: --parameters: unknown parameter "nccl-hoper", did you mean "nccl-hopper"?\n'
            "hint: `collsim list parameters` shows all "), done.stderr)
        self.refused([*RUN, "--parameters", "net-roce"],
                     'error: --parameters: "net-roce" are costs of a network, not of GPUs\n'
                     "hint: choose them by --network-parameters, or fabric.parameters of the cluster")
        done = self.run_program(*H100_X4_RUN, "--network-parameters", "net-rose")
        self.assertEqual((done.stdout, done.returncode), ("", 2))
        self.assertTrue(done.stderr.startswith(
            'error: --network-parameters: unknown parameter "net-rose", did you mean "net-roce"?\n'
            "hint: `collsim list parameters` shows all "), done.stderr)
        done = self.run_program(*H100_X4_RUN, "--set", "fabric.parameters=net-rose")
        self.assertEqual(done.returncode, 2)
        self.assertIn('fabric.parameters: unknown parameter "net-rose", did you mean "net-roce"?', done.stderr)
        bad = self.file("bad.yaml", "description: x\nsimple: { slice_copy: { value: 3, source: measured } }\n")
        done = self.run_program(*RUN, "--parameters", str(bad))
        self.assertEqual(done.returncode, 2)
        self.assertIn("bad.yaml:2:32: error: simple.slice_copy.value: ", done.stderr)

    def test_uneven_nodes(self):
        self.refused(["run", "all_reduce", *H100_X4, "--bytes", "1M", "--ranks", "12"],
                     "error: --algorithm: NCCL's programs need as many GPUs on each node: here are 8 and 4\n"
                     "hint: whole nodes (--nodes, --gpus-per-node), or --algorithm best")


program.main()
