"""Every mistake on the command line: exit code 2, nothing on stdout, and the whole of stderr."""

import os

import program
from program import STAR, TWO_NODES

RUN = ["run", "all_reduce", *STAR, "--bytes", "1M"]
PERF = ["perf", "all_reduce", *STAR]

COLLECTIVES = ("broadcast, scatter, gather, reduce, all_gather, reduce_scatter, all_reduce, all_to_all or "
               "send_recv")
UNITS = ("units: none or B (bytes), K, M, G, KiB, MiB, GiB, TiB (powers of 1024), "
         "kB, MB, GB, TB (powers of 1000)")


class Descriptions(program.Case):
    def test_a_node_may_be_given_in_three_ways(self):
        for text, found, at in (("node:", "nothing", 1), ("node: [1]", "a list", 7)):
            self.file("a.yaml", f"name: a\n{text}\n")
            done = self.run_program("topology", "show", "--cluster", "a.yaml")
            self.assertIn(f"error: node: expected a node by its name or path, or a mapping, got {found}\n", done.stderr)

    def test_depth(self):
        done = self.run_program("topology", "show", *STAR, "--set", "name=" + "[" * 500)
        self.assertEqual(done.returncode, 2)
        self.assertIn("levels deep", done.stderr)

    def test_hints_of_one_letter(self):
        self.file("a.yaml", """
name: a
graph:
  devices: [{ name: a, kind: gpu }, { name: b, kind: gpu }, { name: s, kind: switch }]
  links: [{ from: a, to: c, bandwidth: 1 GB/s, latency: 0 ns }]
""")
        done = self.run_program("topology", "show", "--cluster", "a.yaml")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("did you mean", done.stderr)

    def test_the_node_of_a_graphs_device_is_a_value_in_force(self):
        digests = []
        for node in ("", ", node: 0"):
            self.file("a.yaml", f"""
name: a
graph:
  devices: [{{ name: a, kind: gpu{node} }}, {{ name: b, kind: gpu }}, {{ name: s, kind: switch }}]
  links: [{{ from: a, to: s, bandwidth: 1 GB/s, latency: 0 ns }}, {{ from: b, to: s, bandwidth: 1 GB/s, latency: 0 ns }}]
""")
            document = self.json("topology", "show", "--cluster", "a.yaml")
            values = {value["path"]: (value["value"], value["origin"]) for value in document["values"]}
            self.assertEqual(values["graph.devices[1].node"], ("0", "default"))
            self.assertNotIn("graph.devices[2].node", values)
            digests.append(document["input_digest"])
        self.assertEqual(digests[0], digests[1])


class Range(program.Case):
    def test_bytes_on_links(self):
        self.refused(["run", "broadcast", "--cluster", "dgx-h100", "--bytes", "800000TB", "--algorithm", "tree"],
                     'error: the bytes on the links of level "nvlink" exceed 2^63 - 1\n'
                     "hint: fewer bytes, ranks or iterations")

    def test_scratch(self):
        self.refused(["run", "all_to_all", *STAR, "--set", "node.links[0].bandwidth=1000 TB/s", "--bytes",
                      "9223372036854775807", "--datatype", "int8", "--algorithm", "naive", "--verify"],
                     "error: --algorithm: naive does not apply: its all_to_all puts the data of all ranks into the "
                      "root's memory, more than 8 EiB")


class Usage(program.Case):
    def test_commands(self):
        self.refused([], "error: a command is missing; expected run, compare, perf, sweep, topology, hierarchy, tuning, calibrate, validate, measure, measurements or list\n"
                         "hint: see collsim --help")
        self.refused(["comparr"],
                     'error: unknown command "comparr"; expected run, compare, perf, sweep, topology, hierarchy, tuning, calibrate, validate, measure, measurements or list\n'
                     "hint: did you mean \"compare\"? see collsim --help")
        self.refused(["topology"], "error: a command is missing; expected show, check, export or import\n"
                     "hint: see collsim topology --help")
        self.refused(["topology", "shwo", *STAR],
                     'error: unknown command "shwo"; expected show, check, export or import\n'
                     "hint: see collsim topology --help")

    def test_missing_options(self):
        self.refused(["run"], "error: missing COLLECTIVE, --bytes and --cluster\nhint: see collsim run --help")
        self.refused(["compare", "all_reduce", "--bytes", "1"],
                     "error: missing --cluster\nhint: see collsim compare --help")
        self.refused(["perf", "all_reduce"], "error: missing --cluster\nhint: see collsim perf --help")
        self.refused(["list"], "error: missing KIND\nhint: see collsim list --help")

    def test_values_that_options_do_not_take(self):
        self.refused([*RUN, "--output", ""], "error: --output: must not be empty")
        self.refused([*RUN, "--trace", "same", "--output", "same"],
                     "error: --trace: is the file of --output: the one would overwrite the other")
        self.refused([*RUN, "--out-of-place=false"],
                     'error: --out-of-place: takes no value, got "false"\nhint: see collsim run --help')
        for option in ("-n", "--iters", "-w", "--warmup_iters"):
            self.refused([*PERF, "--isolated", option, "7"],
                         f"error: {option}: cannot be given together with --isolated\nhint: see collsim perf --help")
        self.assertEqual(self.run_program("--help=foo").returncode, 2)
        self.refused(["--version", "extra"], 'error: unexpected argument "extra"\nhint: see collsim --help')

    def test_two_files_that_are_one(self):
        refusal = "error: --trace: is the file of --output: the one would overwrite the other"
        (self.folder / "out").mkdir()
        (self.folder / "link").symlink_to("out/a")
        for other in ("out/a", "./out/../out/a", "link", str(self.folder / "out" / "a")):
            self.refused([*RUN, "--trace", other, "--output", "out/a"], refusal)
        self.file("out/a", "x")
        os.link(self.folder / "out" / "a", self.folder / "hard")
        for other in ("./out/../out/a", "link", "hard"):
            self.refused([*RUN, "--trace", other, "--output", "out/a"], refusal)
        self.refused([*RUN, "--trace", "/dev/stdout"], "error: --trace: stdout is for the result: it needs another file")
        self.assertEqual((self.folder / "out" / "a").read_text(encoding="utf-8"), "x")

    def test_options_without_effect(self):
        self.refused([*RUN, "--root", "3"],
                     "error: --root: all_reduce has no root\n"
                     "hint: leave the option out; it is for broadcast, scatter, gather or reduce")
        self.refused(["compare", "broadcast", *STAR, "--bytes", "1M", "--redop", "max"],
                     "error: --redop: broadcast reduces nothing\n"
                     "hint: leave the option out; it is for reduce, reduce_scatter or all_reduce")
        self.refused(["compare", "all_reduce", *STAR, "--bytes", "1M", "--algorithms", "ring,tree,ring"],
                     'error: --algorithms: "ring" given twice\nhint: give it once')

    def test_words_that_control_terminals(self):
        self.refused(["run", "all_reduce", "--\x1b[31mred", *STAR],
                     "error: unknown option --?[31mred\nhint: see collsim run --help")
        self.refused([*RUN, b"a\xffb"], 'error: unexpected argument "a?b"\nhint: see collsim run --help')

    def test_unknown_options(self):
        self.refused([*RUN, "--algoritm", "ring"],
                     "error: unknown option --algoritm\nhint: did you mean \"--algorithm\"? see collsim run --help")
        self.refused([*RUN, "--algoritm=ring"],
                     "error: unknown option --algoritm\nhint: did you mean \"--algorithm\"? see collsim run --help")
        self.refused([*PERF, "-q", "3"], "error: unknown option -q\nhint: see collsim perf --help")
        # The misspelt option is the cause, the missing one a consequence.
        self.refused(["run", "all_reduce", "--bytes", "1", "--clustr", "x"],
                     "error: unknown option --clustr\nhint: did you mean \"--cluster\"? see collsim run --help")
        # An option of another command.
        self.refused([*PERF, "--critical-path"],
                     "error: unknown option --critical-path\nhint: see collsim perf --help")

    def test_arguments_too_many_or_too_few(self):
        self.refused(["run", "all_reduce", "textbook-star", "--bytes", "1M"],
                     'error: unexpected argument "textbook-star", and missing --cluster\n'
                     "hint: see collsim run --help")
        self.refused(["run", "--", "all_reduce"],
                     "error: missing --bytes and --cluster\nhint: see collsim run --help")
        self.refused([*RUN, "extra"], 'error: unexpected argument "extra"\nhint: see collsim run --help')
        self.refused(["run", "all_reduce", *STAR, "--bytes"],
                     "error: --bytes: a value is missing\nhint: see collsim run --help")
        self.refused([*RUN, "--algorithm", "ring", "--algorithm", "tree"],
                     'error: --algorithm: given 2 times: "ring" and "tree"\nhint: give it once')
        self.refused([*PERF, "-b", "8", "--minbytes", "16"],
                     'error: -b: given 2 times: "8" and "16"\nhint: give it once')

    def test_numbers(self):
        for option, value, found in [("--channels", "0", "1 to 1024"), ("--chunks", "x", "1 to 1048576"),
                                     ("--ranks", "0", "1 to 4294967295"), ("--root", "-1", "0 to 4294967295"),
                                     ("--nodes", "1.5", "1 to 4294967295"),
                                     ("--gpus-per-node", "4294967296", "1 to 4294967295"),
                                     ("--max-transfers", "many", "0 to 18446744073709551615")]:
            with self.subTest(option):
                self.refused([*RUN, option, value],
                             f'error: {option}: expected a whole number from {found}, got "{value}"')
        for option, value, found in [("-n", "0", "1 to 1000000"), ("-w", "-1", "0 to 1000000"),
                                     ("-a", "4", "0 to 3"), ("-g", "0", "1 to 1000000"),
                                     ("-t", "x", "1 to 1000000"), ("-f", "1.5", "1 to 1000000"),
                                     ("-c", "", "0 to 4294967295")]:
            with self.subTest(option):
                self.refused([*PERF, option, value],
                             f'error: {option}: expected a whole number from {found}, got "{value}"')

    def test_words(self):
        self.refused([*RUN, "--format", "xml"], 'error: --format: unknown word "xml"; expected table, json or csv')
        self.refused([*RUN, "--links", "some"], 'error: --links: unknown word "some"; expected top or all')
        self.refused(["list", "cluster"],
                     'error: KIND: unknown word "cluster"; expected clusters, nodes, gpus, algorithms, collectives, '
                     'parameters, measurements or experiments\nhint: did you mean "clusters"?')


class Sizes(program.Case):
    def bytes_refused(self, text, expected):
        self.refused(["run", "all_reduce", *STAR, "--bytes", text], expected)

    def test_bad_sizes(self):
        self.bytes_refused("12Q", f'error: --bytes: expected a size such as "64M", got "12Q"\n'
                                  f'hint: unknown unit "Q"; {UNITS}')
        self.bytes_refused("-1", 'error: --bytes: expected a size such as "64M", got "-1"\n'
                                 'hint: a size cannot be negative')
        self.bytes_refused("99999999999999999999",
                           'error: --bytes: "99999999999999999999" is too large: a size is less than 8 EiB')

    def test_blanks_and_digits(self):
        self.bytes_refused("8 ", 'error: --bytes: expected a size such as "64M", got "8 "')
        self.bytes_refused("0" * 31, 'error: --bytes: "' + "0" * 31 + '" has more than 30 digits')

    def test_a_time_that_cannot_be_counted(self):
        self.bytes_refused("9000000000000000000",
                           "error: the run leaves the range of exact arithmetic: a transfer takes longer than "
                           "106 days of simulated time\nhint: fewer bytes, faster links or a smaller job would fit")

    def test_bounds_that_cannot_be_counted(self):
        # Each of the eight blocks arrives in time where transfers do not share; all of them do not.
        self.refused(["run", "gather", "--algorithm", "naive", "--network-model", "ideal", *STAR, "--bytes",
                      "2097152TiB"],
                     "error: the run leaves the range of exact arithmetic: a transfer takes longer than 106 days of "
                     "simulated time\nhint: fewer bytes, faster links or a smaller job would fit")

    def test_naive_all_to_all_of_very_many_ranks(self):
        self.refused(["run", "all_to_all", "--cluster", "textbook-star", "--set", "node.gpus=65536", "--bytes", "64GiB",
                      "--algorithm", "naive"],
                     "error: --algorithm: naive does not apply: its all_to_all numbers the blocks of all ranks, which "
                     "goes up to 65535 ranks")

    def test_of_perf(self):
        self.refused([*PERF, "-b", "64M"],
                     "error: -b: the smallest size, 64M, is larger than the largest, 32M\nhint: give both -b and -e")
        self.refused([*PERF, "-b", "0", "-f", "2"], "error: -b: 0 times any factor stays 0: start above 0")
        self.refused([*PERF, "-b", "8", "-i", "0"], "error: -i: must be positive")
        self.refused([*PERF, "-b", "8", "-e", "1G", "-i", "4"],
                     "error: -i: more than 100,000 sizes between -b and -e\nhint: a larger step, or -f 2")
        self.refused([*PERF, "-e", "1X"],
                     f'error: -e: expected a size such as "64M", got "1X"\nhint: unknown unit "X"; {UNITS}')


class Names(program.Case):
    def test_collective(self):
        self.refused(["run", "all_reduc", *STAR, "--bytes", "1"],
                     f'error: COLLECTIVE: unknown collective "all_reduc"; expected {COLLECTIVES}\n'
                     "hint: did you mean \"all_reduce\"?")

    def test_algorithm(self):
        names = ("naive, ring, tree, double-tree, recursive-doubling, halving-doubling, bruck, direct, "
                 "direct-one-shot, pairwise")
        all_names = (f"{names}, hierarchical, nccl, nccl-ring, nccl-tree, nvls, nvls-tree, collnet-direct, "
                     "collnet-chain, pat, nccl-symmetric, nccl-ce or nccl-p2p")
        self.refused([*RUN, "--algorithm", "rinng"],
                     f'error: --algorithm: unknown algorithm "rinng"; expected auto, best, {all_names}\n'
                     "hint: did you mean \"ring\"?")
        self.refused(["compare", "all_reduce", *STAR, "--bytes", "1", "--algorithms", "ring,tee"],
                     f'error: --algorithms: unknown algorithm "tee"; expected {all_names}\n'
                     "hint: did you mean \"tree\"?")
        self.refused([*PERF, "--algorithm", "sharp"],
                     f'error: --algorithm: unknown algorithm "sharp"; expected auto, best, {all_names}')

    def test_algorithm_that_does_not_apply(self):
        fitting = "naive, ring, tree, double-tree, recursive-doubling, halving-doubling, direct, direct-one-shot"
        all_fitting = (f"{fitting}, hierarchical, nccl, nccl-ring, nccl-tree, nvls, nvls-tree, collnet-direct, "
                       "collnet-chain or nccl-symmetric")
        self.refused([*RUN, "--algorithm", "bruck"],
                     f"error: --algorithm: bruck does not implement all_reduce; expected auto, best, {all_fitting}")
        self.refused(["compare", "all_reduce", *STAR, "--bytes", "1", "--algorithms", "bruck"],
                     f"error: --algorithms: bruck does not implement all_reduce; expected {all_fitting}")
        self.refused([*RUN, "--algorithm", "hierarchical"],
                     "error: --algorithm: hierarchical does not apply: needs ranks on more than one node, and all are on one")

    def test_types_and_reductions(self):
        types = ("int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, f8e4m3 or f8e5m2")
        self.refused([*RUN, "--datatype", "flot"],
                     f'error: --datatype: unknown data type "flot"; expected {types}\nhint: did you mean "float"?')
        self.refused([*PERF, "-d", "flot"],
                     f'error: -d: unknown data type "flot"; expected {types}\nhint: did you mean "float"?')
        self.refused([*RUN, "--redop", "summ"],
                     'error: --redop: unknown reduction "summ"; expected sum, prod, max, min or avg\n'
                     "hint: did you mean \"sum\"?")
        self.refused([*PERF, "-o", "mulsum"],
                     'error: -o: unknown reduction "mulsum"; expected sum, prod, max, min or avg')

    def test_network_model(self):
        self.refused([*RUN, "--network-model", "flw"],
                     'error: --network-model: unknown network model "flw"; expected flow or ideal\n'
                     "hint: did you mean \"flow\"?")

    def test_cluster(self):
        shipped = len(self.json("list", "clusters")["entries"])
        self.refused(["topology", "show", "--cluster", "textbok-star"],
                     'error: unknown cluster "textbok-star", did you mean "textbook-star"?\n'
                     f"hint: `collsim list clusters` shows all {shipped}")
        self.refused(["topology", "show", "--cluster", "h800"],
                     f'error: unknown cluster "h800"\nhint: known: hgx-h800; `collsim list clusters` shows all {shipped}')
        self.refused(["topology", "show", "--cluster", "./none.yaml"],
                     'error: cannot read "./none.yaml": no such file')
        self.refused(["list", "clusters", "--config-dir", "nowhere"],
                     'error: --config-dir: there is no folder "nowhere"')

    def test_cluster_file_with_a_mistake(self):
        self.file("mine.yaml", "name: mine\nnode:\n  gpus: 2\n  links:\n"
                               "    - { from: gpu, to: gpu, connect: mesh, bandwidth: 50, latency: 1 us }\n")
        done = self.run_program("run", "all_reduce", "--cluster", "./mine.yaml", "--bytes", "1")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.splitlines()[0],
                         './mine.yaml:5:55: error: node.links[0].bandwidth: expected a bandwidth such as '
                         '"450 GB/s", got "50"')

    def test_settings(self):
        self.refused([*RUN, "--set", "nodes"], 'error: --set: expected PATH=VALUE such as "nodes=4", got "nodes"')
        self.refused([*RUN, "--set", "nods=3"],
                     '--set nods=3: error: nods: unknown key, did you mean "nodes"?\n'
                     "hint: accepted: name, description, gpus, nodes, node, fabric, graph, environment or parameters")
        self.refused([*RUN, "--set", "nodes=0"],
                     '--set nodes=0: error: nodes: expected a whole number from 1 to 1048576, got "0"')


class Jobs(program.Case):
    def test_more_than_there_is(self):
        self.refused([*RUN, "--ranks", "9"],
                     "error: --ranks: asks for 9 ranks; there are 8 GPUs to place them on\n"
                     "hint: a larger cluster: --set nodes=N or --set gpus=N")
        self.refused([*RUN, "--nodes", "2"],
                     "error: --nodes: asks for 2 nodes; the cluster has 1 with GPUs\n"
                     "hint: a larger cluster: --set nodes=2")
        self.refused([*RUN, "--gpus-per-node", "9"],
                     "error: --gpus-per-node: asks for 9 GPUs a node; node 0 has 8")
        self.refused(["run", "all_reduce", *TWO_NODES, "--bytes", "1", "--gpus-per-node", "2", "--ranks", "5"],
                     "error: --ranks: asks for 5 ranks; there are 4 GPUs to place them on\n"
                     "hint: a larger cluster: --set nodes=N or --set gpus=N")

    def test_root(self):
        self.refused(["run", "broadcast", *STAR, "--bytes", "1M", "--root", "8"],
                     "error: --root: there is no rank 8: ranks are 0 to 7")
        self.refused(["perf", "broadcast", *STAR, "-r", "8"], "error: -r: there is no rank 8: ranks are 0 to 7")
        self.refused(["perf", "broadcast", *STAR, "-r", "-2"],
                     'error: -r: expected a rank, or -1 for every rank in turn; found "-2"')

    def test_placement(self):
        self.refused([*RUN, "--placement", "nowhere.txt"],
                     'error: --placement: "nowhere.txt" is neither block, cyclic nor random, nor a file that can be read')
        self.refused([*RUN, "--placement", "."],
                     'error: --placement: "." is neither block, cyclic nor random, nor a file that can be read')
        self.refused([*RUN, "--placement", "/dev/zero"], 'error: --placement: "/dev/zero" is larger than 32 MiB')
        for name, text, message in [
                ("binary:1:4: ", "gpu\0\1\n", "not a text file: control character 0"),
                ("twice:3:1: ", "gpu0\ngpu1\ngpu0\n", 'GPU "gpu0" is listed twice, first in line 1'),
                ("empty", "# nothing\n\n", "the list names no GPU"),
                ("unknown:2:1: ", "gpu0\nxyz\n", 'there is no GPU "xyz"\nhint: the first is called gpu0'),
                ("near:3:2: ", "gpu0\n\n gpu11\n", 'there is no GPU "gpu11"\nhint: did you mean "gpu1"?')]:
            with self.subTest(name):
                file, colon, place = name.partition(":")
                self.file(file, text)
                self.refused([*RUN, "--placement", file],
                             f"{file if colon else ''}{colon}{place}error: --placement: {message}")
        self.refused([*RUN, "--placement", "random:x"],
                     'error: --placement: expected random:SEED with a whole number, got "random:x"')
        self.refused([*RUN, "--node-list", "node[0"],
                     'error: --node-list: expected a list of nodes such as "node[0-3,7]", got "node[0"')
        # A list of nodes is none of files.
        self.refused([*RUN, "--placement", "node[0"],
                     'error: --placement: expected a list of nodes such as "node[0-3,7]", got "node[0"')
        self.refused([*RUN, "--placement", "node[0-1]"],
                     "error: --placement: there is no node1: the nodes are node0 to node0\n"
                     "hint: a larger cluster: --set nodes=2")
        self.refused([*RUN, "--placement", "node0", "--node-list", "node0"],
                     "error: --placement: a list of nodes beside that of --node-list\nhint: name the nodes once")
        self.refused([*RUN, "--placement", "cyclc"],
                     'error: --placement: "cyclc" is neither block, cyclic nor random, nor a file that can be read\n'
                     "hint: did you mean \"cyclic\"?")
        self.file("two", "gpu0\ngpu1\n")
        self.refused([*RUN, "--placement", "two", "--ranks", "2"],
                     "error: --placement: a list of GPUs already says how many: leave out --nodes, "
                     "--node-list, --gpus-per-node and --ranks")

    def test_too_many_transfers(self):
        hint = ("hint: fewer --channels, --chunks or iterations, a subset of the GPUs with --ranks, "
                "another --algorithm, or a higher limit")
        # A ring of 8: 2·7 rounds of 8 messages.
        self.refused([*RUN, "--algorithm", "ring", "--max-transfers", "111"],
                     f"error: --max-transfers: the simulation needs 112 transfers, more than 111\n{hint}")
        self.refused([*PERF, "--algorithm", "ring", "--max-transfers", "2351"],
                     "error: --max-transfers: the simulation needs 112 transfers times 21 iterations, "
                     f"more than 2,351\n{hint}")
        # Four rings of 2: 2 rounds of 2 messages each.
        self.refused([*PERF, "--algorithm", "ring", "--groups", "tp=2", "--max-transfers", "335"],
                     "error: --max-transfers: the simulation needs 16 transfers times 21 iterations, "
                     f"more than 335\n{hint}")
        self.refused([*RUN, "--algorithm", "ring", "--groups", "tp=2", "--max-transfers", "15"],
                     f"error: --max-transfers: the simulation needs 16 transfers, more than 15\n{hint}")
        self.output(*RUN, "--algorithm", "ring", "--groups", "tp=2", "--max-transfers", "16")
        few = ("error: --max-transfers: no algorithm needs so few transfers; the one with the fewest, naive, "
               "needs 14\nhint: fewer --channels or --chunks, a subset of the GPUs with --ranks, or a higher limit")
        self.refused([*RUN, "--max-transfers", "13"], few)
        self.refused(["compare", "all_reduce", *STAR, "--bytes", "1M", "--max-transfers", "13"], few)

    def test_too_many_sprayed_paths(self):
        torus = ["--cluster", "tpu-v7-cube", "--set", "nodes=1000", "--set", "fabric.dimensions={x: 10, y: 10, z: 10}"]
        # To (5, 5, 5): 15! / 5!^3 orders of 15 links, and two ways around each dimension.
        across = str(self.file("across.txt", "node0.gpu0\nnode555.gpu0\n"))
        message = ("--set fabric.routing=spray: error: fabric.routing: spray splits a route over at most 524288 paths, "
                   "and here are 6054048\n"
                   "hint: static takes one of the shortest paths, ecmp another one for each connection")
        job = ["send_recv", *torus, "--bytes", "1M", "--placement", across]
        for command in (["run"], ["compare"]):
            self.refused([*command, *job, "--set", "fabric.routing=spray"], message)
        # Few enough paths, but too many unlike shares on one link. To a place 7 and 6 away there are 2 · 13!/(7!·6!) = 3432
        # paths, as 7 is halfway around, and one of them goes along all of one edge and then the other.
        self.refused(["run", "send_recv", "--cluster", "tpu-v7-cube", "--set", "nodes=196", "--set",
                      "fabric.dimensions={x: 14, y: 14}", "--set", "fabric.routing=spray", "--bytes", "1M", "--placement",
                      "random:1"],
                     "--set fabric.routing=spray: error: fabric.routing: spray leaves the range of exact arithmetic: a fair "
                     "share's fraction exceeds 64 bits; 196 transfers at once, in parts as small as 1/3432\n" + message.rpartition("\n")[2])
        for routing in ("static", "ecmp"):
            self.output("run", *job, "--set", f"fabric.routing={routing}")
        self.output("hierarchy", *torus)

    def test_too_much_memory(self):
        hint = ("hint: fewer --channels, a subset of the GPUs with --ranks, another --algorithm, or a higher limit")
        # 2,000 ranks with a lane for each rank.
        large = ["run", "all_reduce", *STAR, "--set", "gpus=2000", "--bytes", "1G", "--max-memory", "4GiB"]
        self.refused([*large, "--algorithm", "direct"],
                     "error: --max-memory: the simulation needs about 5341 MiB of memory, more than 4 GiB\n" + hint)
        self.refused([*RUN, "--max-memory", "much"],
                     'error: --max-memory: expected a size such as "64M", got "much"')
        document = self.json(*["compare", *large[1:-1], "1GiB", "--algorithms", "direct,direct-one-shot,naive"])
        # The one-shot is folded by a shift of the ranks.
        self.assertEqual([row["algorithm"] for row in document["rows"]], ["direct-one-shot", "naive"])
        self.assertIn({"algorithm": "direct",
                       "reason": "needs about 5341 MiB of memory, more than --max-memory allows"},
                      document["not_simulated"])

    def test_memory_of_sprayed_routes(self):
        # The 261,632 lanes alone would be 350 MiB; their routes have 90 links on average.
        torus = ["--cluster", "tpu-v7-cube", "--set", "nodes=512", "--set", "fabric.dimensions={x: 8, y: 8, z: 8}"]
        done = self.run_program("run", "all_to_all", "--bytes", "1M", "--algorithm", "direct", *torus, "--set",
                                "fabric.routing=spray", "--max-memory", "1GiB")
        self.assertRegex(done.stderr, r"^error: --max-memory: the simulation needs about \d{4} MiB of memory, "
                                      r"more than 1 GiB\n")
        self.assertEqual(done.returncode, 2)

    def test_groups(self):
        self.refused([*RUN, "--groups", "tp=3"],
                     "error: --groups: groups of 3 do not divide 8 ranks\n"
                     "hint: choose a divisor, or other --ranks")
        self.refused([*RUN, "--groups", "pp=2"],
                     "error: --groups: expected tp=SIZE (ranks that follow each other) or dp=SIZE (ranks across "
                     'these groups), got "pp=2"')

    def test_what_csv_cannot_show(self):
        for option in (["--per-rank"], ["--critical-path"], ["--links", "all"]):
            self.refused([*RUN, "--format", "csv", *option],
                         f"error: {option[0]}: csv has one line for the run: it cannot show this\n"
                         "hint: --format table or json")

    def test_no_algorithm_applies(self):
        self.refused(["compare", "all_reduce", *STAR, "--bytes", "1M", "--algorithms", "hierarchical"],
                     "error: --algorithms: no algorithm can be simulated (hierarchical: needs ranks on more than "
                     "one node, and all are on one)")

    def test_another_case(self):
        self.refused([*RUN, "--algorithm", "Ring"],
                     'error: --algorithm: unknown algorithm "Ring"; expected auto, best, naive, ring, tree, '
                     "double-tree, recursive-doubling, halving-doubling, bruck, direct, direct-one-shot, pairwise, "
                     "hierarchical, nccl, nccl-ring, nccl-tree, nvls, nvls-tree, collnet-direct, collnet-chain, pat, "
                     "nccl-symmetric, nccl-ce or "
                     "nccl-p2p\n"
                     "hint: did you mean \"ring\"?")

    def test_nodes_without_a_fabric(self):
        self.refused([*RUN, "--set", "nodes=2"],
                     "--set nodes=2: error: nodes: expected a fabric that joins the 2 nodes, got none\n"
                     "hint: add one, such as fabric: { kind: single-switch, ... }, or set nodes to 1")

    def test_launch_mode(self):
        self.refused([*PERF, "-g", "3"],
                     "error: -g: 8 ranks do not fill processes of 1 x 3 GPUs\n"
                     "hint: choose -t and -g so that their product divides the number of ranks")
        self.refused([*PERF, "-t", "4", "-g", "4"],
                     "error: -g: 8 ranks do not fill processes of 4 x 4 GPUs\n"
                     "hint: choose -t and -g so that their product divides the number of ranks")
        self.refused(["perf", "all_reduce", *TWO_NODES, "-g", "8"],
                     "error: -g: the GPUs of the process of rank 0 are on different nodes")

    def test_what_is_not_modelled_is_refused_by_name(self):
        self.refused([*PERF, "-G", "1"],
                     "error: -G: changes what launches cost, which NCCL's programs have with parameters only\n"
                     "hint: --parameters NAME, or leave the option out")
        self.refused([*PERF, "-C", "1"], "error: -C: CPU time is not modelled\nhint: leave the option out, or -C 0")
        for option, neutral, why in [("-m", "1", "aggregated operations are not modelled"),
                                     ("-z", "0", "waiting on the CPU is not modelled"),
                                     ("-T", "0", "virtual time has no timeout")]:
            self.refused([*PERF, option, "7"],
                         f"error: {option}: {why}\nhint: leave the option out, or {option} {neutral}")
            self.output(*PERF, option, neutral)
        self.refused([*PERF, "-R", "1"],
                     "error: -R: registered buffers that are no symmetric windows are not modelled\n"
                     "hint: -R 0, or -R 2 for symmetric windows")
        self.refused([*PERF, "-R", "x"], 'error: -R: expected 0 or 2, got "x"\nhint: -R 0, or -R 2 for symmetric windows')
        windows = ["perf", "all_reduce", "--cluster", "dgx-h100", "-R", "2"]
        self.refused([*windows, "--protocol", "LL"],
                     "error: -R: has no effect where --protocol is given: kernels for symmetric windows are an algorithm of their own\n"
                     "hint: leave one of them out, or --algorithm nccl-symmetric")
        self.refused([*windows, "--algorithm", "nccl-ring"],
                     "error: -R: has no effect where nccl-ring is named: kernels for symmetric windows are an algorithm of their own\n"
                     "hint: leave one of them out, or --algorithm nccl-symmetric")
        h100 = ["run", "all_to_all", "--cluster", "dgx-h100", "--bytes", "1M"]
        self.refused([*h100, "--protocol", "LL"],
                     "error: --protocol: NCCL takes the protocol of sends and receives from the bytes of a channel\n"
                     "hint: --env NCCL_P2P_LL_THRESHOLD=…, the bytes up to which it is LL")
        self.refused([*h100, "--channels", "65"], "error: --channels: NCCL has at most 64 channels, got 65")
        self.refused(["run", "all_gather", "--cluster", "dgx-1v", "--bytes", "1M", "--algorithm", "nccl-symmetric"],
                     "error: --algorithm: symmetric kernels run where NVLink joins every two GPUs directly; "
                     "here some pairs have another GPU between them")
        self.refused(["run", "all_gather", "--cluster", "dgx-h100", "--bytes", "1M", "--algorithm", "pat", "--nccl", "2.21"],
                     "error: --algorithm: NCCL 2.21-2.22 has no PAT\nhint: it came with 2.23")
        self.refused([*PERF, "--output_file", "x.json"],
                     "error: -J: the result as JSON is --format json --output FILE\nhint: leave the option out")
        self.refused([*RUN, "--protocol", "LL"],
                     "error: --protocol: has no effect on best, which is not one of NCCL's programs\n"
                     "hint: --algorithm nccl")
        self.refused([*RUN, "--network-model", "packet"],
                     "error: --network-model: the packet model does not exist yet; expected flow or ideal")

    def test_outputs_that_cannot_be_written(self):
        self.refused([*RUN, "--output", "no/such/folder"],
                     'error: --output: cannot write "no/such/folder": No such file or directory')
        self.refused([*RUN, "--output", "."], 'error: --output: cannot write ".": Is a directory')
        self.refused([*RUN, "--trace", "-"], "error: --trace: stdout is for the result: a trace needs a file")
        self.refused([*RUN, "--trace", "no/trace.json"],
                     'error: --trace: cannot write "no/trace.json": No such file or directory')


program.main()
