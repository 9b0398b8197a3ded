"""`tuning --log`: the log of a run beside the prediction. The logs are written here, as NCCL writes them, from
what the program itself decides under other inputs: those inputs must then explain the log."""

import program

PATTERNS = {"balanced_tree": 1, "split_tree": 2, "tree": 3, "ring": 4, "nvls": 5}
FUNCTIONS = {"broadcast": "Broadcast", "reduce": "Reduce", "all_gather": "AllGather",
             "reduce_scatter": "ReduceScatter", "all_reduce": "AllReduce"}
ALGORITHMS = ["Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"]
PROTOCOLS = ["LL", "LL128", "Simple"]


def graph_lines(graphs, several):
    for graph in graphs.values():
        yield ("Pattern {}, crossNic {}, nChannels {}, bw {:f}/{:f}, type {}/{}, sameChannels {}".format(
            PATTERNS[graph["pattern"]], graph["cross_nic"], graph["channels"], graph["bw_intra_GBps"],
            graph["bw_inter_GBps"], graph["type_intra"], graph["type_inter"], int(graph["same_channels"])))
        for number, order in enumerate(graph.get("orders", [])):
            gpus = " ".join(f"GPU/{gpu}" for gpu in order["gpus"])
            if several:
                gpus = f"NET/{order['nic_in']} {gpus} NET/{order['nic_out']}"
            yield f"{number:2d} : {gpus}"


def table_lines(rows):
    cells = {(row["collective"], row["algorithm"], row["protocol"]): row for row in rows}
    for first in range(0, len(ALGORITHMS), 3):
        block = ALGORITHMS[first:first + 3]
        yield "  Algorithm   |" + "".join(f" {'':14}   {name:>14}   {'':14} |" for name in block)
        yield "  Protocol    |" + "".join(f" {name:>14} |" for name in PROTOCOLS * len(block))
        for collective, function in FUNCTIONS.items():
            text = f"{function:>13} |"
            for algorithm in block:
                for protocol in PROTOCOLS:
                    cell = cells.get((collective, algorithm, protocol), {"latency_us": 0, "bandwidth_GBps": 0})
                    text += f" {cell['latency_us']:7.1f}/{cell['bandwidth_GBps']:6.1f} |"
            yield text


def log_lines(document, version, variables=()):
    """What rank 0 of a run logs that decides as the document says."""
    nodes, ranks = document["nodes"], document["ranks"]
    identity = f"rank 0 nranks {ranks} cudaDev 0 nvmlDev 0 busId 1b000 commId 0x1 - Init"
    yield f"NCCL version {version}+cuda12.8"
    for name, value in variables:
        yield f"{name} set by environment to {value}{'.' if value.isdigit() else ''}"
    yield f"ncclCommInitRank comm 0xa {identity} START"
    yield f"comm 0xa rank 0 nRanks {ranks} nNodes {nodes} localRanks {ranks // nodes} localRank 0 MNNVL 0"
    yield from graph_lines(document["graphs"], nodes > 1)
    for number, ring in enumerate(document["rings"]):
        yield f"Channel {number:02d}/{len(document['rings']):02d} : " + " ".join(map(str, ring))
    trees = ""
    for number, tree in enumerate(document["trees_rank0"]):
        down = (tree["down"] + [-1] * 3)[:3]
        trees += " [{}] {}/{}/{}->0->{}".format(number, *down, -1 if tree["up"] is None else tree["up"])
    yield "Trees" + trees
    yield from table_lines(document["table"])
    channels = document["channels"]
    yield ("{collective} coll channels, {collective} collnet channels, {nvls} nvls channels, {p2p} p2p channels, "
           "{per_peer} p2p channels per peer".format(**channels))
    yield f"ncclCommInitRank comm 0xa {identity} COMPLETE"


def log_text(lines):
    return "".join(f"host:10:11 [0] NCCL INFO {line}\n" for line in lines)


class Case(program.Case):
    def decided(self, *words):
        return self.json("tuning", *words)

    def log(self, document, version="2.28.9", variables=(), more=()):
        self.file("nccl.log", log_text([*log_lines(document, version, variables), *more]))

    def compared(self, *words):
        return self.json("tuning", *words, "--log", "nccl.log")["log"]

    def explaining(self, log):
        """The changes that alone explain all."""
        return [row["changes"][0] for row in log["explanations"] if not row["left"]]


class Agreement(Case):
    def test_a_log_of_what_is_predicted(self):
        for cluster in ("dgx-h100", "dgx-h100-x4", "dgx-a100-x4"):
            self.log(self.decided("--cluster", cluster))
            log = self.compared("--cluster", cluster)
            self.assertEqual(log["differences"], [], cluster)
            self.assertEqual((log["explanations"], log["together"], log["tried"]), ([], None, 0))
            self.assertEqual((log["nccl"], log["constants"], log["version_agrees"]), ("2.28.9", "2.28", True))
            # Five functions, seven algorithms, three protocols.
            self.assertEqual(log["points"]["tuning table"], {"agrees": 105, "differs": 0, "not_in_log": 0})
            self.assertGreater(log["points"]["rings"]["agrees"], 0)
            self.assertGreater(log["points"]["graphs"]["agrees"], 10)
        text = self.output("tuning", "--cluster", "dgx-a100-x4", "--log", "nccl.log")
        self.assertIn("\nAgainst the log nccl.log: NCCL 2.28.9, CUDA 12.8, 32 ranks on 4 nodes\n"
                      "  warning: the log is of 1 of the 32 ranks\n", text)
        self.assertIn("  tuning table  105 agree\n", text)
        self.assertIn("  choices       not in the log\n", text)
        self.assertTrue(text.endswith("\nAll that the log tells is as predicted.\n"), text)

    def test_choices_of_calls(self):
        document = self.decided("--cluster", "dgx-h100")
        first, second = document["choices"]["all_reduce"][:2]
        self.assertEqual((first["protocol"], second["algorithm"]), ("LL", "NVLS"))
        at = second["from_bytes"]
        # 16 NVLS channels; below, the ring, on as many as the call's bytes fill.
        self.log(document, more=[f"AllReduce: {at} Bytes -> Algo NVLS proto SIMPLE channel{{Lo..Hi}}={{0..15}}",
                                 f"AllReduce: {at // 2} Bytes -> Algo TREE proto LL channel{{Lo..Hi}}={{0..3}}"])
        log = self.compared("--cluster", "dgx-h100")
        self.assertEqual(log["points"]["choices"], {"agrees": 1, "differs": 1, "not_in_log": 0})
        self.assertEqual(log["differences"][0]["what"], f"AllReduce of {at // 2} B")
        self.assertEqual(log["differences"][0]["logged"], "Tree LL, 4 channels")
        self.assertRegex(log["differences"][0]["predicted"], r"^Ring LL")


class Explanations(Case):
    def test_another_version(self):
        self.log(self.decided("--cluster", "dgx-h100", "--nccl", "2.20.5"), "2.20.5")
        log = self.compared("--cluster", "dgx-h100")
        self.assertFalse(log["version_agrees"])
        self.assertIn("--nccl 2.20.5", self.explaining(log))
        self.assertTrue(next(row for row in log["explanations"] if row["changes"] == ["--nccl 2.20.5"])["stated"])
        self.assertEqual(self.compared("--cluster", "dgx-h100", "--nccl", "2.20.5")["differences"], [])
        text = self.output("tuning", "--cluster", "dgx-h100", "--log", "nccl.log")
        self.assertRegex(text, r"version of NCCL +2\.28 +2\.20\.5\n")
        self.assertRegex(text, r"\n  --nccl 2\.20\.5 +all of it +as the log says\n")

    def test_a_variable_that_the_log_names(self):
        self.log(self.decided("--cluster", "dgx-h100", "--env", "NCCL_NTHREADS=256"),
                 variables=[("NCCL_NTHREADS", "256"), ("NCCL_IB_HCA", "mlx5_secret")])
        log = self.compared("--cluster", "dgx-h100")
        self.assertEqual(log["environment"],
                         [{"name": "NCCL_NTHREADS", "state": "differs", "logged": "256", "given": None},
                          {"name": "NCCL_IB_HCA", "state": "not modelled"}])
        self.log(self.decided("--cluster", "dgx-h100", "--env", "NCCL_MIN_NCHANNELS=32"),
                 variables=[("NCCL_MIN_NCHANNELS", "32")])
        log = self.compared("--cluster", "dgx-h100")
        self.assertEqual(self.explaining(log)[0], "--env NCCL_MIN_NCHANNELS=32")
        given = self.compared("--cluster", "dgx-h100", "--env", "NCCL_MIN_NCHANNELS=32")
        self.assertEqual((given["differences"], given["environment"][0]["state"]), ([], "agrees"))

    def test_what_the_log_does_not_name(self):
        for variable in ("NCCL_NVLS_ENABLE=0", "NCCL_MAX_NCHANNELS=8", "NCCL_P2P_DISABLE=1", "NCCL_ALGO=Ring"):
            self.log(self.decided("--cluster", "dgx-h100", "--env", variable))
            log = self.compared("--cluster", "dgx-h100")
            self.assertIn("--env " + variable, self.explaining(log), variable)

    def test_other_nodes_and_gpus(self):
        self.log(self.decided("--cluster", "dgx-h100-x4", "--nodes", "2"))
        self.assertIn("--nodes 2", self.explaining(self.compared("--cluster", "dgx-h100-x4")))
        self.log(self.decided("--cluster", "dgx-h100", "--gpus-per-node", "4"))
        log = self.compared("--cluster", "dgx-h100")
        self.assertIn("--gpus-per-node 4", self.explaining(log))
        self.assertEqual([(row["what"], row["predicted"], row["logged"]) for row in log["differences"][:2]],
                         [("ranks", "8", "4"), ("ranks of a node", "8", "4")])

    def test_two_inputs_and_none(self):
        document = self.decided("--cluster", "dgx-h100-x4", "--nodes", "2", "--env", "NCCL_NVLS_ENABLE=0")
        self.log(document)
        log = self.compared("--cluster", "dgx-h100-x4")
        self.assertEqual(self.explaining(log), [])
        self.assertEqual(sorted(log["together"]["changes"]), ["--env NCCL_NVLS_ENABLE=0", "--nodes 2"])
        self.assertEqual(log["together"]["left"], [])
        if not program.sanitized:  # the same search again
            text = self.output("tuning", "--cluster", "dgx-h100-x4", "--log", "nccl.log")
            self.assertRegex(text, r"\n  --nodes 2 and --env NCCL_NVLS_ENABLE=0 +all of it\n"
                                   r"  No single input explains all of it\.\n$")
        document = self.decided("--cluster", "dgx-h100")
        document["rings"][0][1:3] = document["rings"][0][2:0:-1]
        self.log(document)
        log = self.compared("--cluster", "dgx-h100")
        self.assertEqual([row["what"] for row in log["differences"]], ["ring 0"])
        self.assertEqual((log["explanations"], log["together"]), ([], None))
        self.assertGreater(log["tried"], 10)


class Files(Case):
    def test_lines_that_are_mixed_are_counted(self):
        text = log_text(log_lines(self.decided("--cluster", "dgx-h100"), "2.28.9"))
        self.file("nccl.log", text + "host:10:11 [0] NCCL INFO Ring 00 : 1 -host:10:11 [0] NCCL INFO x\nhost:1:2 [0] NCC")
        log = self.compared("--cluster", "dgx-h100")
        self.assertEqual((log["garbled_lines"], log["truncated"], log["differences"]), (1, True, []))
        text = self.output("tuning", "--cluster", "dgx-h100", "--log", "nccl.log")
        self.assertRegex(text, r"warning: 1 of \d+ lines are cut or mixed with others, and left out\n"
                               r"  warning: the log ends in the middle of a line\n")

    def test_the_largest_communicator_is_compared(self):
        small = "host:10:12 [0] NCCL INFO comm 0xb rank 0 nranks 2 cudaDev 0 busId 1b000 commId 0x2 - Init COMPLETE\n"
        text = log_text(log_lines(self.decided("--cluster", "dgx-h100"), "2.28.9"))
        self.file("nccl.log", small + text)
        log = self.compared("--cluster", "dgx-h100")
        self.assertEqual((log["communicators"], log["ranks"], log["differences"]), (2, 8, []))

    def test_more_nodes_than_are_tried(self):
        # 8 GPUs a node: 262,144 ranks are 32,768 nodes, which take a while.
        for nodes, too_many in ([] if program.sanitized else [(32_768, False)]) + [(32_769, True)]:
            document = self.decided("--cluster", "dgx-h100-x4")
            self.log(document | {"nodes": nodes, "ranks": 8 * nodes})
            log = self.compared("--cluster", "dgx-h100")
            self.assertEqual((log["nodes"], log["too_many_nodes"]), (nodes, too_many))
            tried = any(f"--nodes {nodes}" in row["changes"] for row in log["explanations"])
            self.assertFalse(too_many and tried)
        text = self.output("tuning", "--cluster", "dgx-h100", "--log", "nccl.log")
        self.assertIn("  warning: a communicator of 32,769 nodes is not tried: with the GPUs of the node given it would "
                      "have more than 262,144 ranks\n", text)

    def test_nodes_without_a_rank_are_not_read(self):
        # 8 of the 9 ranks are on this node, so there are two nodes at most.
        line = "host:10:11 [0] NCCL INFO comm 0xa rank 0 nRanks 9 nNodes {} localRanks 8 localRank 0 MNNVL 0\n"
        for nodes, read in ((2, 2), (3, None)):
            self.file("nccl.log", line.format(nodes))
            self.assertEqual(self.compared("--cluster", "dgx-h100")["nodes"], read)

    def test_a_log_that_tells_nothing(self):
        self.file("nccl.log", "host:10:11 [0] NCCL INFO cudaDriverVersion 12080\n")
        text = self.output("tuning", "--cluster", "dgx-h100", "--log", "nccl.log")
        self.assertIn("\nAgainst the log nccl.log: NCCL of unknown version\n", text)
        self.assertTrue(text.endswith("\nNothing in the log can be compared.\n"))

    def test_what_is_refused(self):
        self.file("nccl.log", "nothing of the kind\n")
        words = ["tuning", "--cluster", "dgx-h100", "--log"]
        self.refused([*words, "nccl.log"],
                     'nccl.log: error: this is no log of NCCL: no line has "NCCL INFO"\n'
                     "hint: run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,TUNING")
        self.refused([*words, "none.log"], 'error: cannot read "none.log": no such file')
        self.refused([*words, "."], 'error: cannot read ".": it is a directory')
        self.refused([*words, "nccl.log", "--format", "csv"],
                     "error: --log: has no effect on CSV, which has the table alone")


program.main()
