"""NCCL's decisions on the command line: `tuning`, and its topology files as clusters."""

import program


def tuning(case, *words):
    return case.json("tuning", *words)


class Decisions(program.Case):
    """Figures that NCCL 2.28.9 itself computes for such machines."""

    def test_one_node(self):
        document = tuning(self, "--cluster", "dgx-h100")
        self.assertEqual(document["schema"], "collsim/tuning/1")
        self.assertEqual(document["channels"], {"collective": 24, "nvls": 16, "p2p": 32, "per_peer": 32})
        self.assertEqual(document["graphs"]["ring"]["channels"], 12)
        self.assertEqual(document["graphs"]["ring"]["bw_intra_GBps"], 30.0)
        self.assertEqual(document["graphs"]["nvls"]["heads"], list(range(8)))
        self.assertEqual(document["choices"]["all_reduce"],
                         [{"from_bytes": 1024, "algorithm": "Ring", "protocol": "LL"},
                          {"from_bytes": 2 << 20, "algorithm": "NVLS", "protocol": "Simple"}])
        ring = [row for row in document["table"] if row["collective"] == "all_reduce"
                and row["algorithm"] == "Ring" and row["protocol"] == "Simple"]
        self.assertEqual([(round(row["latency_us"], 1), round(row["bandwidth_GBps"], 1)) for row in ring],
                         [(56.0, 205.7)])

    def test_four_nodes(self):
        document = tuning(self, "all_reduce", "--cluster", "dgx-h100-x4")
        self.assertEqual((document["nodes"], document["ranks"]), (4, 32))
        self.assertEqual(list(document["choices"]), ["all_reduce"])
        self.assertEqual([(row["from_bytes"], row["algorithm"], row["protocol"])
                          for row in document["choices"]["all_reduce"]],
                         [(1024, "Tree", "LL"), (256 << 10, "Tree", "LL128"), (8 << 20, "NVLSTree", "Simple"),
                          (1 << 30, "Ring", "Simple")])
        self.assertEqual(document["trees_rank0"][0], {"down": [1, 16], "up": None})
        self.assertEqual(document["rings"][0][:9], [0, 7, 6, 5, 4, 3, 2, 1, 9])

    def test_large_communicators_have_rings_on_request(self):
        document = tuning(self, "all_reduce", "--cluster", "dgx-h100-superpod", "--nodes", "8")
        self.assertNotIn("rings", document)
        # Rank 0 is the head of node 0, the root of the first tree over 8 nodes: below it are its chain and node 4.
        self.assertEqual(document["trees_rank0"][0], {"down": [1, 32], "up": None})
        self.assertEqual(len(tuning(self, "all_reduce", "--cluster", "dgx-h100-superpod", "--nodes", "8", "--rings")["rings"]),
                         document["channels"]["collective"])

    def test_one_gpu_a_node_has_heads_of_nvls_too(self):
        document = tuning(self, "--cluster", "dgx-h100-x4", "--gpus-per-node", "1")
        self.assertEqual(document["graphs"]["nvls"]["heads"], [0])
        self.assertNotIn("orders", document["graphs"]["nvls"])
        # The switch has nothing to reduce; later versions ask for two channels, too.
        document = tuning(self, "--cluster", "dgx-h100-x4", "--gpus-per-node", "1", "--nccl", "2.25")
        self.assertEqual({choice["algorithm"] for choices in document["choices"].values() for choice in choices}
                         & {"NVLS", "NVLSTree"}, set())

    def test_nics_behind_the_cpu_of_c2c_are_close_from_2_27_on(self):
        for version, types, ll128 in [("2.26", ("PHB", "PHB"), False), ("2.27", ("PXN", "P2C"), True)]:
            document = tuning(self, "all_reduce", "--cluster", "alps", "--nodes", "4", "--nccl", version)
            self.assertEqual(tuple(document["graphs"][name]["type_inter"] for name in ("ring", "tree")), types)
            self.assertEqual("LL128" in {choice["protocol"] for choice in document["choices"]["all_reduce"]}, ll128)

    def test_part_of_a_cluster(self):
        self.assertEqual(tuning(self, "--cluster", "dgx-h100-x4", "--nodes", "2")["ranks"], 16)
        # Two of eight GPUs: all links of NVLink for one channel after the other.
        two = tuning(self, "--cluster", "dgx-h100", "--gpus-per-node", "2")
        self.assertEqual(two["ranks"], 2)
        self.assertEqual(two["graphs"]["nvls"]["heads"], [0, 1])
        self.refused(["tuning", "--cluster", "dgx-h100-x4", "--nodes", "5"],
                     "error: --nodes: there are only 4 nodes, got 5")

    def test_versions_differ(self):
        def nvls(version):
            rows = tuning(self, "--cluster", "dgx-h100", "--nccl", version)["table"]
            return [round(row["bandwidth_GBps"], 1) for row in rows
                    if (row["collective"], row["algorithm"]) == ("all_reduce", "NVLS")]

        self.assertEqual(nvls("2.28"), [272.0])
        self.assertEqual(nvls("2.28.9"), [272.0])
        self.assertEqual(nvls("2.27"), [266.7])
        done = self.run_program("tuning", "--cluster", "dgx-h100", "--nccl", "2.17")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: --nccl: the decisions of NCCL 2.17 are not known\nhint: known: 2.7, 2.18, ", done.stderr)

    def test_a_size_looked_at_closely(self):
        call = tuning(self, "all_reduce", "--cluster", "dgx-h100", "--bytes", "64K")["call"]
        self.assertEqual((call["algorithm"], call["protocol"], call["channels"], call["threads"]),
                         ("Ring", "LL", 2, 512))
        by_name = {(row["algorithm"], row["protocol"]): row for row in call["candidates"]}
        # 15 us and 64 KiB at 80.6 GB/s.
        self.assertAlmostEqual(by_name["Ring", "LL"]["time_us"], 15.8, places=1)
        self.assertIn("excluded", by_name["NVLSTree", "Simple"])
        text = self.output("tuning", "all_reduce", "--cluster", "dgx-h100", "--bytes", "64K")
        self.assertIn("all_reduce of 64 KiB: Ring LL, on 2 channels of 512 threads", text)
        self.assertRegex(text, r"Ring LL +15\.0 +0\.8 +15\.8 +chosen")
        self.assertRegex(text, r"NVLSTree Simple +NVLSTree")

    def test_the_table_is_laid_out_as_in_nccls_log(self):
        text = self.output("tuning", "--cluster", "dgx-h100")
        self.assertIn("  Algorithm   |                            Tree                  |"
                      "                            Ring                  |", text)
        self.assertIn("    AllReduce |    15.2/  43.6 |    31.5/ 128.8 |    64.4/ 165.6 |    15.0/  80.6 |", text)

    def test_the_parts_and_chunks_of_a_call(self):
        # NCCL 2.28.9: 1 MiB with Ring and LL on 24 channels is 23 parts of 11264 floats and one of 3072.
        call = tuning(self, "all_reduce", "--cluster", "dgx-h100", "--bytes", "1M")["call"]
        self.assertEqual((call["algorithm"], call["protocol"], call["element_bytes"]), ("Ring", "LL", 4))
        self.assertEqual([part["count"] for part in call["parts"]], [11264] * 23 + [3072])
        self.assertEqual(call["chunk_bytes"], 32 << 10)
        self.assertIn("a channel does 44 KiB (the last one 12 KiB), in chunks of 32 KiB",
                      self.output("tuning", "all_reduce", "--cluster", "dgx-h100", "--bytes", "1M"))
        halved = tuning(self, "all_reduce", "--cluster", "dgx-h100", "--bytes", "1M", "--env",
                        "NCCL_LL_BUFFSIZE=262144")["call"]
        self.assertEqual(halved["chunk_bytes"], 16 << 10)

    def test_sends_and_receives(self):
        # 64 MiB over 32 ranks is 2 MiB to each; two channels a peer; 128 KiB a chunk over several nodes.
        cut = tuning(self, "all_to_all", "--cluster", "dgx-h100-x4", "--bytes", "64M")["send_recv"]
        self.assertEqual(cut["bytes_to_a_peer"], 2 << 20)
        self.assertEqual(cut["remote"], {"protocol": "Simple", "channels": 2, "channel_bytes": 1 << 20,
                                         "chunk_bytes": 128 << 10})
        # LL up to 16 KiB a channel, inside a node.
        self.assertEqual(tuning(self, "send_recv", "--cluster", "dgx-h100", "--bytes", "1K")["send_recv"]["local"]
                         ["protocol"], "LL")
        smaller = tuning(self, "all_to_all", "--cluster", "dgx-h100-x4", "--bytes", "64M", "--env",
                         "NCCL_P2P_NET_CHUNKSIZE=65536")["send_recv"]
        self.assertEqual(smaller["remote"]["chunk_bytes"], 64 << 10)
        self.assertRegex(self.output("tuning", "all_to_all", "--cluster", "dgx-h100-x4", "--bytes", "64M"),
                         r"on another node +Simple +2 +1 MiB +128 KiB")

    def test_the_rounds_of_sends_and_receives(self):
        # Four nodes are four groups of eight, visited at distances 0, 1, 3, 2; round 8 d + l sends to the rank l places on.
        words = ["all_to_all", "--cluster", "dgx-h100-x4", "--bytes", "64M"]
        cut = tuning(self, *words)["send_recv"]
        self.assertEqual(cut["group"], 8)
        rounds = cut["rounds_rank0"]
        self.assertEqual([row["send_to"] for row in rounds],
                         [8 * group + place for group in (0, 1, 3, 2) for place in range(8)])
        self.assertEqual([row["receive_from"] for row in rounds],
                         [8 * group + (8 - place) % 8 for group in (0, 3, 1, 2) for place in range(8)])
        # Two channels of 16 a peer; groups begin at 0, 1, 2, 3 with four bits reversed.
        self.assertEqual([row["send_channels"] for row in rounds[8::8]], [[8, 9], [4, 5], [12, 13]])
        self.assertEqual(rounds[0], {"round": 0, "send_to": 0, "send_channels": [0, 1], "receive_from": 0,
                                     "receive_channels": [0, 1]})
        # To the next rank in round 1, from the one before, rank 31 of group 3: that group is received from second, in its round 1.
        words[0] = "send_recv"
        sent = tuning(self, *words)["send_recv"]["rounds_rank0"]
        self.assertEqual([(row["round"], row.get("send_to"), row.get("receive_from")) for row in sent],
                         [(1, 1, None), (9, None, 31)])
        words[0] = "gather"
        self.assertTrue(all("send_to" not in row for row in tuning(self, *words)["send_recv"]["rounds_rank0"][1:]))
        words[0] = "all_to_all"
        text = self.output("tuning", *words)
        self.assertRegex(text, r"\n +9 +9 +8-9 +31 +8-9\n")
        self.assertTrue(text.endswith("  and 16 more\n"), text)
        self.assertEqual(tuning(self, *words, "--env", "NCCL_P2P_SCHEDULE_GROUP_SIZE=4")["send_recv"]["group"], 4)

    def test_csv_has_a_line_an_entry(self):
        lines = self.output("tuning", "all_gather", "--cluster", "dgx-h100", "--format", "csv").splitlines()
        self.assertEqual(lines[0], "collective,algorithm,protocol,latency_us,bandwidth_GBps,excluded")
        # Seven algorithms, three protocols.
        self.assertEqual(len(lines), 1 + 21)

    def test_what_has_no_effect_is_refused(self):
        self.refused(["tuning", "--cluster", "dgx-h100", "--bytes", "1M"],
                     "error: --bytes: needs a COLLECTIVE: why one is chosen differs from one to the next")
        self.refused(["tuning", "--cluster", "dgx-h100", "--redop", "max"],
                     "error: --redop: has no effect without --bytes")
        self.refused(["tuning", "--cluster", "dgx-h100", "--datatype", "half"],
                     "error: --datatype: has no effect without --bytes")
        self.refused(["tuning", "broadcast", "--cluster", "dgx-h100", "--bytes", "1M", "--redop", "max"],
                     "error: --redop: broadcast reduces nothing\n"
                     "hint: leave the option out; it is for all_reduce, reduce_scatter and reduce")
        for words in (["--bytes", "1M"], ["--rings"]):
            self.refused(["tuning", "all_reduce", "--cluster", "dgx-h100", *words, "--format", "csv"],
                         f"error: {words[0]}: has no effect on CSV, which has the table alone")
        self.refused(["tuning", "all_to_all", "--cluster", "dgx-h100", "--bytes", "1M", "--redop", "max"],
                     "error: --redop: has no effect on all_to_all, which is made of sends and receives: there is no "
                     "algorithm to choose")
        self.refused(["tuning", "all_reduce", "--cluster", "dgx-h100", "--bytes", "3"],
                     "error: --bytes: no whole element for each rank: NCCL runs nothing")

    def test_more_ranks_a_node_than_nccl_takes(self):
        words = ["tuning", "--cluster", "gb200-nvl72", "--nccl"]
        hint = "hint: GPUs of one NVLink domain are of one node, whatever their hosts"
        for version in ("2.22.3", "2.24"):
            name = "2.21-2.22" if version == "2.22.3" else version
            self.refused([*words, version],
                         f"error: a node of 72 GPUs: NCCL {name} takes at most 64 ranks a node\n{hint}")
        self.output(*words, "2.24", "--gpus-per-node", "64")
        self.output(*words, "2.25")
        self.file("large.yaml", "name: large\nnode:\n  gpus: 73\n  compute_capability: 10.0\n  devices:\n"
                  "    - {name: nvswitch, kind: nvswitch}\n    - {name: cpu, kind: cpu, processor: {vendor: arm}}\n"
                  "  links:\n    - {from: gpu, to: nvswitch, kind: nvlink, bandwidth: 900 GB/s, latency: 300 ns}\n"
                  "    - {from: gpu, to: cpu, kind: pcie, bandwidth: 63 GB/s, latency: 170 ns}\n")
        self.refused(["tuning", "--cluster", "large.yaml"],
                     f"error: a node of 73 GPUs: NCCL 2.28 takes at most 72 ranks a node\n{hint}")

    def test_a_machine_that_is_not_described_enough(self):
        done = self.run_program("tuning", "--cluster", "textbook-star")
        self.assertEqual(done.returncode, 2)
        self.assertIn("NCCL's choices need to know more of textbook-star: the GPUs have no compute_capability",
                      done.stderr)


class Variables(program.Case):
    def test_a_variable_changes_the_choice(self):
        document = tuning(self, "all_reduce", "--cluster", "dgx-h100", "--env", "NCCL_ALGO=Tree")
        self.assertEqual({row["algorithm"] for row in document["choices"]["all_reduce"]}, {"Tree"})
        self.assertEqual(document["environment"], {"NCCL_ALGO": "Tree"})
        self.assertEqual(tuning(self, "--cluster", "dgx-h100", "--env", "NCCL_NVLS_ENABLE=0")["channels"]["nvls"], 0)
        self.assertEqual(
            tuning(self, "--cluster", "dgx-h100", "--env", "NCCL_MAX_NCHANNELS=4")["channels"]["collective"], 4)

    def test_the_cluster_sets_some_and_the_option_wins(self):
        self.file("env.yaml",
                      "name: env\nnode: dgx-h100\nenvironment: {NCCL_ALGO: Tree, NCCL_PROTO: LL}\n")
        document = tuning(self, "all_reduce", "--cluster", "env.yaml", "--env", "NCCL_PROTO=Simple")
        self.assertEqual(document["choices"]["all_reduce"],
                         [{"from_bytes": 1024, "algorithm": "Tree", "protocol": "Simple"}])
        self.file("env.yaml", "name: env\nnode: dgx-h100\nenvironment: {NCCL_ALGO: Rng}\n")
        done = self.run_program("tuning", "--cluster", "env.yaml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("env.yaml:3:26: error: environment.NCCL_ALGO: ", done.stderr)

    def test_what_is_not_modelled_is_refused_by_name(self):
        done = self.run_program("tuning", "--cluster", "dgx-h100", "--env", "NCCL_FOO=1")
        self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                         (2, 'error: --env: unknown variable "NCCL_FOO"'))
        self.refused(["tuning", "--cluster", "dgx-h100", "--env", "ALGO=Ring"],
                     'error: --env: expected the full name of an NCCL variable, got "ALGO"\n'
                     "hint: write NCCL_ALGO")
        self.refused(["tuning", "--cluster", "dgx-h100", "--env", "NCCL_ALGO=Ring", "--env", "NCCL_ALGO=Tree"],
                     "error: --env: NCCL_ALGO is given twice\nhint: give it once")
        self.refused(["tuning", "--cluster", "dgx-h100", "--env", "NCCL_ALGO"],
                     'error: --env: expected NAME=VALUE, got "NCCL_ALGO"\nhint: for example NCCL_ALGO=Ring')

    def test_a_file_that_is_too_large_is_refused(self):
        # Cut, the rule behind the comments would be lost without a word.
        self.file("tuner.conf", "#\n" * (3 << 20) + "allreduce,0,1048576,tree,simple,-1,-1,-1\n")
        self.refused(["tuning", "--cluster", "dgx-h100", "--tuner", "tuner.conf"],
                     "tuner.conf: error: larger than 4 MiB")

    def test_a_tuner_file_overrules(self):
        self.file("tuner.conf", "allreduce,0,1048576,tree,simple,-1,-1,-1\n")
        words = ["all_reduce", "--cluster", "dgx-h100", "--tuner", "tuner.conf", "--bytes"]
        self.assertEqual(tuning(self, *words, "64K")["call"]["algorithm"], "Tree")
        self.assertTrue(tuning(self, *words, "64K")["call"]["by_tuner"])
        self.assertEqual(tuning(self, *words, "64M")["call"]["algorithm"], "NVLS")

    def test_a_tuner_file_changes_the_choices_and_may_set_the_channels(self):
        self.file("tuner.conf", "allreduce,0,1048576,tree,simple,4,-1,-1\n")
        document = tuning(self, "all_reduce", "--cluster", "dgx-h100", "--tuner", "tuner.conf", "--bytes", "64K")
        self.assertEqual(document["call"]["channels"], 4)
        # What the file says holds to 1 MiB; then NCCL chooses, NVLS from 2 MiB on.
        self.assertEqual([(row["from_bytes"], row["algorithm"], row["protocol"])
                          for row in document["choices"]["all_reduce"]],
                         [(1024, "Tree", "Simple"), (2 << 20, "NVLS", "Simple")])

    def test_what_leaves_nothing_is_said_of_each_collective(self):
        text = self.output("tuning", "--cluster", "dgx-h100", "--env", "NCCL_ALGO=Tree")
        self.assertRegex(text, r"all_gather +none: NCCL_ALGO and NCCL_PROTO leave nothing, calls fail")
        self.assertEqual(tuning(self, "--cluster", "dgx-h100", "--env", "NCCL_ALGO=Tree")["choices"]["reduce"], [])
        self.refused(["tuning", "all_gather", "--cluster", "dgx-h100", "--env", "NCCL_ALGO=Tree", "--env",
                      "NCCL_PROTO=LL"],
                     "error: NCCL_ALGO and NCCL_PROTO: no algorithm and protocol is left for AllGather with type float\n"
                     "hint: NCCL 2.28 ends with an error here")


class GraphFiles(program.Case):
    def test_written_graphs_are_read_back(self):
        words = ["--cluster", "dgx-h100-x4"]
        searched = tuning(self, *words, "--write-graphs", "graphs.xml")
        given = tuning(self, *words, "--env", "NCCL_GRAPH_FILE=graphs.xml")
        for key in ("graphs", "channels", "table", "choices", "rings"):
            self.assertEqual(given[key], searched[key], key)

    def test_graphs_of_another_machine_are_refused(self):
        self.output("tuning", "--cluster", "dgx-h100", "--write-graphs", "one.xml")
        self.refused(["tuning", "--cluster", "dgx-h100-x4", "--env", "NCCL_GRAPH_FILE=one.xml"],
                     "error: NCCL_GRAPH_FILE: ring, channel 0: expected a NIC of the node at both ends, for there are "
                     "several nodes\nhint: a graph file is of one machine and number of nodes")
        done = self.run_program("tuning", "--cluster", "dgx-h100", "--gpus-per-node", "4", "--env",
                                "NCCL_GRAPH_FILE=one.xml")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^one\.xml:\d+:\d+: error: gpu\.dev: the node has no GPU 4\n")
        self.refused(["tuning", "--cluster", "gb200-nvl72", "--env", "NCCL_GRAPH_FILE=one.xml"],
                     "error: NCCL_GRAPH_FILE: several GPUs have number 0: graph files of several hosts are not modelled")


class TopologyFiles(program.Case):
    def test_written_read_and_decided_alike(self):
        for cluster in ("dgx-h100", "dgx-1v", "l40s"):
            self.output("topology", "export", cluster, "--as", "nccl-xml", "--output", "topo.xml")
            expected = tuning(self, "--cluster", cluster)
            found = self.json("tuning", "--cluster", "topo.xml", "--quiet")
            for key in ("graphs", "channels", "table", "choices", "rings"):
                self.assertEqual(found[key], expected[key], cluster)
            self.output("topology", "import", "topo.xml", "--output", "node.yaml", "--quiet")
            self.assertEqual(tuning(self, "--cluster", "node.yaml")["graphs"], expected["graphs"])

    def test_variables_of_a_cluster_are_not_in_the_file(self):
        done = self.run_program("topology", "export", "rtx3090", "--as", "nccl-xml", "--output", "topo.xml")
        self.assertEqual(done.stderr, "note: not in the file, and to be given with it: --env NCCL_P2P_DISABLE=1\n")
        found = self.json("tuning", "--cluster", "topo.xml", "--env", "NCCL_P2P_DISABLE=1", "--quiet")
        self.assertEqual(found["graphs"], tuning(self, "--cluster", "rtx3090")["graphs"])

    def test_a_topology_file_is_a_cluster_for_every_command(self):
        self.output("topology", "export", "dgx-h100", "--as", "nccl-xml", "--output", "topo")
        row = self.json("run", "all_reduce", "--cluster", "./topo", "--set", "nodes=2", "--bytes", "1M",
                        "--quiet")["rows"][0]
        self.assertEqual((row["ranks"], row["nodes"]), (16, 2))

    # A cloud's template tells the PCIe tree: here all four GPUs and NICs behind one switch.
    TEMPLATE = ('<system version="1">\n<cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">\n'
                '<pci busid="ffff:ff:01.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">\n'
                + "".join(f'<pci busid="0001:0{i}:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/>\n'
                          f'<pci busid="0101:0{i}:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16"/>\n'
                          for i in range(4)) + "</pci>\n</cpu>\n</system>\n")

    def test_a_template_gets_the_machines_gpus_and_nics(self):
        self.file("template.xml", self.TEMPLATE)
        words = ["--cluster", "leonardo.yaml", "--env", "NCCL_TOPO_FILE=template.xml", "--quiet"]
        self.file("leonardo.yaml", "name: four\nnodes: 2\nnode: leonardo\nfabric: {kind: single-switch, switch: "
                                   "{latency: 1 us}, link: {bandwidth: 100 Gb/s, latency: 0 ns}}\n")
        # The GPUs keep their NVLinks (12 channels of 20 on one node); the NICs are as near to each of them.
        one = tuning(self, *words, "--nodes", "1")["graphs"]["ring"]
        self.assertEqual((one["channels"], one["bw_intra_GBps"], one["type_intra"]), (12, 20.0, "NVL"))
        self.assertEqual(tuning(self, *words)["graphs"]["ring"]["type_inter"], "PIX")
        # In the description NICs hang at the CPU.
        self.assertEqual(tuning(self, "--cluster", "leonardo.yaml")["graphs"]["ring"]["type_inter"], "PHB")
        done = self.run_program("tuning", "--cluster", "dgx-h100", "--env", "NCCL_TOPO_FILE=template.xml", "--quiet")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "error: NCCL_TOPO_FILE: the template has places for 4 GPUs, and the machine has 8\n"
                             "hint: a template is of one kind of machine\n"))
        done = self.run_program("tuning", "--cluster", "template.xml", "--quiet")
        self.assertEqual(done.returncode, 2)
        self.assertIn("NCCL_TOPO_FILE=FILE", done.stderr)

    def test_gpus_without_links_get_the_machines(self):
        self.output("topology", "export", "dgx-h100", "--as", "nccl-xml", "--output", "topo.xml")
        text = "\n".join(line for line in (self.folder / "topo.xml").read_text().splitlines() if "<nvlink" not in line)
        self.file("bare.xml", text + "\n")
        found = tuning(self, "--cluster", "dgx-h100", "--env", "NCCL_TOPO_FILE=bare.xml", "--quiet")
        self.assertEqual(found["graphs"], tuning(self, "--cluster", "dgx-h100")["graphs"])

    def test_what_is_assumed_is_noted(self):
        self.output("topology", "export", "dgx-h100", "--as", "nccl-xml", "--output", "topo.xml")
        done = self.run_program("topology", "import", "topo.xml")
        self.assertEqual(done.stderr.splitlines(),
                         ["note: links between CPUs are those of their sort: the file does not tell them",
                          "note: the NICs join one switch that nothing in the file tells of"])

    def test_a_missing_file_is_named_with_its_variable(self):
        for name in ("NCCL_TOPO_FILE", "NCCL_GRAPH_FILE"):
            self.refused(["tuning", "--cluster", "dgx-h100", "--env", f"{name}=none.xml"],
                         f'error: {name}: cannot read "none.xml": no such file')

    def test_an_import_refuses_what_tuning_refuses(self):
        gpu = '<pci busid="0000:0{}:00.0" class="0x030200" link_speed="" link_width="16"><gpu dev="0" sm="80" rank="0" gdr="1"/></pci>\n'
        self.file("twice.xml", '<system version="1">\n<cpu numaid="0" arch="arm64">\n'
                  + gpu.format(1) + gpu.format(2) + "</cpu>\n</system>\n")
        for words in (["tuning", "--cluster", "twice.xml"], ["topology", "import", "twice.xml"]):
            done = self.run_program(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("twice.xml:4:101: error: gpu.rank: two GPUs have rank 0\n", done.stderr)

    def test_mistakes_in_the_file_are_located(self):
        self.file("bad.xml", '<system version="1">\n<cpu numaid="0"\n')
        done = self.run_program("tuning", "--cluster", "bad.xml")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^bad\.xml:\d+:\d+: error: ")
        self.refused(["topology", "import", "none.xml"], 'error: cannot read "none.xml": no such file')


program.main()
