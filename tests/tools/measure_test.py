"""`collsim measure`: programs run for real, checked, timed, written down. No test looks at a duration."""

import json
import os
import re
import resource

import program
from program import STAR

ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+(\w+)\s+(\w+)\s+(-?\d+)((?:\s+\S+){8})\s*$")


class Measure(program.Case):
    def rows(self, text):
        """Of nccl-tests' table: (size, count, type, redop, root, [time, algbw, busbw, #wrong, time, …])."""
        rows = []
        for line in text.splitlines():
            if line and not line.startswith("#"):
                match = ROW.match(line)
                self.assertTrue(match, line)
                rows.append((*match.groups()[:5], match[6].split()))
        return rows

    def test_the_table_is_that_of_nccl_tests(self):
        text = self.output("measure", "all_reduce", "--ranks", "3", "-b", "1K", "-e", "4K", "-f", "2", "-n", "2")
        version = self.output("--version").split()[1]
        self.assertEqual(
            text.splitlines()[0],
            f"# nccl-tests version 2.19.6 nccl-headers=0 nccl-library=0 measured by collsim {version}")
        self.assertIn("# backend host, algorithm ring\n", text)
        self.assertEqual(len(re.findall(r"^#  Rank +\d+ Group +0 Pid +\d+ on .* \(thread\)$", text, re.M)), 3)
        rows = self.rows(text)
        self.assertEqual([row[0] for row in rows], ["1024", "2048", "4096"])
        for row in rows:
            self.assertEqual(row[1:5], (str(int(row[0]) // 4), "float", "sum", "-1"))
            self.assertEqual((row[5][3], row[5][7]), ("0", "0"))
            self.assertGreater(float(row[5][0]), 0)
        self.assertIn("# Out of bounds values : 0 OK\n", text)

    def test_every_collective_runs_without_more_words(self):
        for collective in ("broadcast", "scatter", "gather", "reduce", "all_gather", "reduce_scatter", "all_reduce",
                           "all_to_all", "send_recv"):
            with self.subTest(collective=collective):
                rows = self.rows(self.output("measure", collective, "-b", "4K", "-e", "4K", "-n", "1", "-w", "0"))
                in_place = "N/A" if collective in ("all_to_all", "send_recv") else "0"
                self.assertEqual((rows[0][5][3], rows[0][5][7]), ("0", in_place))

    def test_types_and_reductions_are_those_asked_for(self):
        rows = self.rows(self.output("measure", "all_reduce", "-b", "96", "-e", "96", "-d", "all", "-o", "all", "-n",
                                     "1", "-w", "0"))
        self.assertEqual(len(rows), 12 * 5)
        self.assertEqual({row[3] for row in rows}, {"sum", "prod", "min", "max", "avg"})
        self.assertTrue(all(row[5][3] == row[5][7] == "0" for row in rows))

    def test_data_are_not_checked_where_nobody_wants_it(self):
        rows = self.rows(self.output("measure", "all_reduce", "-b", "64", "-e", "64", "-n", "1", "-c", "0"))
        self.assertEqual((rows[0][5][3], rows[0][5][7]), ("N/A", "N/A"))

    def test_more_ranks_than_cores_are_said_to_be(self):
        text = self.output("measure", "all_reduce", "--ranks", "64", "-b", "64K", "-e", "64K", "-n", "1", "-w", "0")
        cores = len(os.sched_getaffinity(0))
        if cores < 64:
            self.assertIn(f"# 64 ranks share {cores} core{'s' if cores > 1 else ''}: times are those of taking turns\n",
                          text)
        self.assertEqual(self.rows(text)[0][5][3], "0")

    def test_a_file_of_measurements_says_what_ran_where(self):
        text = self.output("measure", "all_reduce", "--algorithm", "tree", "-b", "1K", "-e", "2K", "-f", "2", "-n", "1",
                           "-o", "all", "--output", "m.json")
        file = json.loads((self.folder / "m.json").read_text(encoding="utf-8"))
        self.assertEqual(file["schema"], "measurements/1")
        self.assertRegex(file["hardware"]["cpu"], r".+, \d+ cores?$")
        self.assertEqual([run["redop"] for run in file["runs"]], ["sum", "prod", "max", "min", "avg"])
        run = file["runs"][0]
        self.assertEqual((run["collective"], run["ranks"], run["nodes"], run["datatype"]), ("all_reduce", 4, 1, "float"))
        software = run["software"]
        self.assertEqual((software["backend"], software["algorithm"], software["launch"]),
                         ("host", "tree", "thread per rank"))
        self.assertRegex(software["kernel"], r"^Linux \d")
        self.assertRegex(software["compiler"], r"^(g\+\+|clang) \d")
        self.assertRegex(run["date"], r"^\d{4}-\d\d-\d\d$")
        self.assertEqual([(row["bytes"], row["in_place"]) for row in run["rows"]],
                         [(1024, False), (1024, True), (2048, False), (2048, True)])
        # The table shows two decimals of the same microseconds.
        shown = self.rows(text)[0][5]
        self.assertAlmostEqual(float(shown[0]), run["rows"][0]["time_us"], delta=0.051 + run["rows"][0]["time_us"] / 100)
        self.assertIn("all_reduce on 4 ranks", self.output("measurements", "show", "m.json"))

    def test_predictions_stand_beside_what_was_measured(self):
        words = ["all_reduce", *STAR, "--algorithm", "ring", "-b", "4K", "-e", "8K", "-f", "2", "-n", "2"]
        text = self.output("measure", *words)
        self.assertIn("# Measured here, and predicted for textbook-star:\n", text)
        predicted = [f"{row['time_ps'] / 1e6:.2f}" for row in self.json("perf", *words, "-c", "0")["rows"]]
        shown = re.findall(r"^#\s+\d+  (?:out|in)\s+ring\s+\S+\s+(\S+)\s+[+-][\d.]+ %$", text, re.M)
        self.assertEqual(shown, predicted)

    def test_nccls_programs_run_too_and_emulation_is_labelled(self):
        words = ["measure", "all_reduce", "--cluster", "dgx-h100", "--gpus-per-node", "4", "-b", "64K", "-e", "64K",
                 "-n", "1", "-w", "0"]
        text = self.output(*words, "--algorithm", "nvls")
        self.assertRegex(text, r"# emulated: \d[\d,]* steps of a call that NVLink's switch would take are loops over "
                               r"what all ranks have sent\n")
        self.assertEqual(self.rows(text)[0][5][3], "0")
        text = self.output(*words, "--algorithm", "nccl-ring")
        self.assertNotIn("emulated", text)
        self.assertEqual(self.rows(text)[0][5][3], "0")

    def test_data_of_the_users_go_in_and_come_out(self):
        def run(collective, inputs, *words):
            (self.folder / "in.json").write_text(json.dumps({"inputs": inputs}), encoding="utf-8")
            return json.loads(self.output("measure", collective, "--inputs", "in.json", *words))

        document = run("all_reduce", [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]], "-d", "int32")
        self.assertEqual(document, {"schema": "collsim/data/1", "collective": "all_reduce", "algorithm": "ring",
                                    "datatype": "int32", "outputs": [[6, 10, 14, 18]] * 4})
        self.assertEqual(run("scatter", [[], [7, 8]], "-r", "1", "-d", "int8")["outputs"], [[7], [8]])
        self.assertEqual(run("all_gather", [[0.5], [-2]], "-d", "half")["outputs"], [[0.5, -2.0]] * 2)
        self.assertEqual(run("reduce", [[1], [2]], "-o", "avg", "--algorithm", "tree")["outputs"], [[1.5], []])
        self.assertEqual(run("all_reduce", [[2**63], [2**62]], "-d", "uint64")["outputs"], [[2**63 + 2**62]] * 2)

    def test_data_that_do_not_fit_are_told(self):
        for text, message in [
            ("[1, 2]", 'expected {"inputs": [[…], …]}, a list of numbers a rank, in "in.json"'),
            ('{"inputs": [[1], "x"]}', "rank 1 has no list of numbers"),
            ('{"inputs": [[1, 2], [3]]}', "all_reduce takes 2 numbers of rank 1, found 1"),
            ('{"input": [[1], [2]]}', 'unknown key "input"; expected inputs\nhint: did you mean "inputs"?'),
            (json.dumps({"inputs": [[1]] * 4097}), "at most 4,096 ranks run as threads of this machine, found 4,097"),
        ]:
            (self.folder / "in.json").write_text(text, encoding="utf-8")
            done = self.run_program("measure", "all_reduce", "--inputs", "in.json")
            self.assertEqual((done.returncode, done.stderr), (2, f"error: --inputs: {message}\n"))
        done = self.run_program("measure", "all_reduce", "--inputs", "nowhere.json")
        self.assertEqual((done.returncode, done.stderr),
                         (2, 'error: --inputs: cannot read "nowhere.json": no such file\n'))

    def test_files_without_end_are_not_read(self):
        os.mkfifo(self.folder / "pipe")
        for file in ("/dev/zero", "pipe"):
            self.refused(["measure", "all_reduce", "--inputs", file],
                         f'error: --inputs: cannot read "{file}": it is not a regular file')
        with open(self.folder / "large.json", "wb") as file:
            file.truncate((256 << 20) + 1)  # a hole, which takes no room
        self.refused(["measure", "all_reduce", "--inputs", "large.json"],
                     'error: --inputs: "large.json" is larger than 256 MiB')

    def test_numbers_that_the_type_does_not_hold_are_told(self):
        # 32-bit float: (2 - 2^-23) * 2^127; half: (2 - 2^-10) * 2^15; E4M3: 1.75 * 2^8.
        largest = repr((2 - 2**-23) * 2.0**127)
        for datatype, number, what in [
            ("int32", "1.5", "whole numbers from -2147483648 to 2147483647"),
            ("int32", "2147483648", "whole numbers from -2147483648 to 2147483647"),
            ("uint8", "-1", "whole numbers from 0 to 255"),
            ("uint8", "256", "whole numbers from 0 to 255"),
            ("int64", "9223372036854775808", f"whole numbers from {-2**63} to {2**63 - 1}"),
            ("float", "1e+39", f"numbers from -{largest} to {largest}"),
            ("half", "65505", "numbers from -65504 to 65504"),
            ("f8e4m3", "449", "numbers from -448 to 448"),
        ]:
            with self.subTest(datatype=datatype, number=number):
                self.file("in.json", f'{{"inputs": [[0, 0], [0, {number}]]}}')
                self.refused(["measure", "all_reduce", "--inputs", "in.json", "-d", datatype],
                             f"error: --inputs: rank 1, element 1: {number} is no {datatype}, which holds {what}")
        # The ends themselves, and a whole number that is written as a fraction.
        for datatype, numbers in [("int8", [-128, 127]), ("uint64", [0, 2**64 - 1]), ("half", [-65504, 65504]),
                                  ("f8e5m2", [-57344, 57344])]:
            self.file("in.json", json.dumps({"inputs": [numbers]}))
            outputs = json.loads(self.output("measure", "all_reduce", "--inputs", "in.json", "-d", datatype))["outputs"]
            self.assertEqual(outputs, [numbers])
        self.file("in.json", '{"inputs": [[2.0]]}')
        self.assertIn("2", self.output("measure", "all_reduce", "--inputs", "in.json", "-d", "int32"))

    def test_threads_that_cannot_start_end_the_run(self):
        def limit():
            # 1 GiB in all has no room for 64 stacks of 64 MiB.
            resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, 64 << 20))
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        if self.run_program("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("sanitizers take more addresses than that")
        for words in (["all_reduce", "-b", "1K", "-e", "1K"], ["--calibrate-host"]):
            with self.subTest(words=words):
                done = self.run_program("measure", *words, "--ranks", "64", preexec_fn=limit, timeout=120)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"^error: --ranks: could start \d+ of \d+ threads: .+\n"
                                              r"hint: fewer ranks, or a higher limit of processes \(ulimit -u\) or "
                                              r"memory\n$")

    def test_output_without_a_place_is_refused_before_anything_is_measured(self):
        self.file("file", "")
        (self.folder / "folder").mkdir()
        # So many calls take hours.
        words = ["measure", "all_reduce", "-b", "1K", "-e", "1K", "-n", "1000000", "-w", "1000000"]
        for file, why in (("nowhere/m.json", "No such file or directory"), ("file/m.json", "Not a directory"),
                          ("folder", "Is a directory")):
            for more in ([], ["--backend", "tcp", "--spawn", "2"]):
                self.refused([*words, *more, "--output", file], f'error: --output: cannot write "{file}": {why}')

    def test_options_beside_calibration_are_refused(self):
        for words in (["-b", "1K"], ["--maxbytes", "32M"], ["-d", "half"], ["-n", "20"], ["--algorithm", "ring"],
                      ["--inputs", "in.json"], ["--spawn", "2"], ["--backend", "tcp"], ["--cluster", "textbook-star"]):
            option = {"--maxbytes": "-e"}.get(words[0], words[0])
            self.refused(["measure", "--calibrate-host", *words],
                         f"error: {option}: has no effect with --calibrate-host")
        self.refused(["measure", "all_reduce", "--calibrate-host"],
                     "error: COLLECTIVE: has no effect with --calibrate-host")

    def test_this_machine_becomes_a_cluster_to_compare_with(self):
        self.output("measure", "--calibrate-host", "--ranks", "3", "--output", "here.yaml")
        self.output("topology", "show", "--cluster", "./here.yaml")
        for algorithm in ("naive", "ring", "tree"):
            text = self.output("measure", "all_reduce", "--cluster", "./here.yaml", "--algorithm", algorithm, "-b", "64K",
                               "-e", "64K", "-n", "2")
            self.assertIn("# Measured here, and predicted for this-host:\n", text)

    def test_backends_of_gpus_run_or_say_what_is_missing(self):
        for backend, without_cuda in [
            ("cuda", "this program was built without CUDA: it has no kernels to run on a GPU"),
            ("nccl", "this program was built without CUDA: it has no kernels to run on a GPU|"
                     "this program was built without CUDA, which NCCL needs for its buffers and streams|"
                     "NCCL cannot be used: .*"),
        ]:
            with self.subTest(backend=backend):
                # One process, or two: what is missing is told once.
                for processes in ([], ["--spawn", "2"]):
                    done = self.run_program("measure", "all_reduce", "--backend", backend, *processes, "-b", "1K", "-e",
                                            "1K")
                    if done.returncode == 0:
                        self.assertEqual(self.rows(done.stdout)[0][5][3], "0")
                        continue
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertRegex(done.stderr, rf"^error: --backend: ({without_cuda}|no GPU: "
                                                  r"(CUDA says: .+|CUDA sees 0 devices|NVIDIA's driver is not installed))"
                                                  r"\nhint: .+\n$")

    def test_mistakes_are_told(self):
        for words, message in [
            (["all_reduce", "--wire", "ll"], "error: --wire: has no effect on the backend host\nhint: --backend cuda\n"),
            (["all_reduce", "--backend", "nccl", "--cuda-graph"],
             "error: --cuda-graph: has no effect on the backend nccl\nhint: --backend cuda\n"),
            (["all_reduce", "--backend", "nccl", "--algorithm", "ring"],
             "error: --algorithm: NCCL chooses for itself\n"
             "hint: the variables NCCL_ALGO and NCCL_PROTO are NCCL's own way to force it\n"),
            *[(["all_reduce", "--backend", backend, "--bind", "10.0.0.1"],
               "error: --bind: has no effect where all ranks are in one process\n"
               "hint: --spawn N, or --rank, --world-size and --master\n") for backend in ("cuda", "nccl")],
            (["all_reduce", "--backend", "nccl", "--spawn", "2", "--ranks", "3"],
             "error: --ranks: differs from the number of processes, 2\nhint: leave the option out\n"),
            (["all_reduce", "--nodes", "2"], "error: --nodes: has no effect without a cluster\nhint: --cluster NAME\n"),
            *[(["all_reduce", *words], f"error: {words[0]}: has no effect without a cluster\nhint: --cluster NAME\n")
              for words in (["--fold", "auto"], ["--network-model", "flow"], ["--max-transfers", "10"],
                            ["--config-dir", "."], ["--set", "nodes=2"], ["--nccl", "2.28"])],
            (["all_reduce", "--algorithm", "nccl-ring"],
             "error: --algorithm: what NCCL would run depends on the machine: it needs a cluster\n"
             "hint: --cluster NAME\n"),
            ([], "error: missing COLLECTIVE\nhint: see collsim measure --help\n"),
            *[(words + ["--ranks", "4097"],
               "error: --ranks: at most 4,096 ranks run as threads of this machine, found 4,097\n")
              for words in (["all_reduce"], ["--calibrate-host"])],
            (["--calibrate-host", "--ranks", "1"], "error: --ranks: an exchange needs 2 ranks at least\n"),
            (["all_reduce", "--max-memory", "1M"],
             # 4 ranks, input and output of 32 MiB each, and what is under way.
             None),
        ]:
            with self.subTest(words=words):
                done = self.run_program("measure", *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                if message is None:
                    self.assertRegex(done.stderr, r"^error: --max-memory: buffers and connections of 4 ranks take "
                                                  r"[\d.]+ \w+, more than 1 MiB\n"
                                                  r"hint: a smaller -e, fewer --ranks, or a higher limit\n$")
                else:
                    self.assertEqual(done.stderr, message)

    def test_an_algorithm_that_lacks_the_collective_is_refused(self):
        done = self.run_program("measure", "gather", "--algorithm", "ring")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--algorithm", done.stderr)


program.main()
