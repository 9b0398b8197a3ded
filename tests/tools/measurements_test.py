"""`measurements`: what is read of nccl-tests' output, what is dropped, and measurements/1 from it. What the readers take is
tested in tests/validate; these are the command and its outputs. The tables are written here from sizes and times."""

import json

import program

HEADER = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""
FOOTER = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1\n#\n"
MIB = 1 << 20


def half(size, time_us, ranks):
    algbw = size / time_us / 1e3
    return f"  {time_us:7.2f}  {algbw:6.2f}  {algbw * 2 * (ranks - 1) / ranks:6.2f}       0"


def row(size, out_us, in_us, ranks=8):
    return (f"{size:12d}  {size // 4:12d}     float     sum      -1" + half(size, out_us, ranks)
            + half(size, in_us, ranks) + "\n")


def devices(ranks=8, gpu="NVIDIA H100 80GB HBM3"):
    lines = "".join(f"#  Rank {rank:2d} Group  0 Pid   4242 on secret-host device {rank:2d} [0000:1b:00] {gpu}\n"
                    for rank in range(ranks))
    return (f"# nThread 1 nGpus {ranks} minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 "
            f"validation: 1 graph: 0\n#\n# Using devices\n{lines}#\n")


START = "# nccl-tests version 2.18.3 nccl-headers=22902 nccl-library=22902\n# Collective test starting: all_reduce_perf\n"
WHOLE = START + devices() + HEADER + row(MIB, 40, 39.5) + row(2 * MIB, 60, 61) + FOOTER
TABLE = HEADER.replace("#", " ") + row(1 << 30, 4000, 4010)


class Case(program.Case):
    def setUp(self):
        super().setUp()
        self.file("run.log", WHOLE)


class Show(Case):
    def test_the_table(self):
        # 1 MiB in 40 us: 26.21 GB/s, times 1.75 is 45.88; in 39.5 us 46.46. 2 MiB in 60 and 61 us: 61.17, 60.16.
        self.assertEqual(self.output("measurements", "show", "run.log"), """\
run.log: run, NVIDIA H100 80GB HBM3, 8 GPUs a node

all_reduce on 8 ranks, 1 node, float sum, NCCL 2.29.2, single process -g 8
  source     nccl-tests 2.18.3

    bytes  out of place us  busbw GB/s  in place us  busbw GB/s
  -------  ---------------  ----------  -----------  ----------
  1048576            40.00       45.88        39.50       46.46
  2097152            60.00       61.17        61.00       60.16
""")

    def test_what_was_noted_and_dropped_is_shown(self):
        self.file("odd.log", devices() + HEADER + row(MIB, 40, 60) + row(2 * MIB, 60, 61)[:60] + "\n" + FOOTER)
        text = self.output("measurements", "show", "odd.log")
        self.assertTrue(text.endswith("""
  line  note
  ----  ------------------------------------------------------------
    14  all_reduce: told by its columns and bandwidths
    14  in place and out of place differ by more than 20 % at 1 size
    14  not told: version of NCCL (--nccl)

  line  dropped, and why
  ----  -------------------------------
    17  6 of 13 columns: the row is cut
"""), text)

    def test_json(self):
        document = self.json("measurements", "show", "run.log")
        self.assertEqual(document["schema"], "collsim/measured/1")
        file, = document["files"]
        self.assertEqual({key: file[key] for key in file if key not in ("runs",)},
                         {"file": "run.log", "machine": "run", "gpu": "NVIDIA H100 80GB HBM3", "gpus_per_node": 8,
                          "truncated": False, "notes": [], "dropped": []})
        run, = file["runs"]
        rows = run.pop("rows")
        self.assertEqual(run, {
            "collective": "all_reduce", "ranks": 8, "nodes": 1, "datatype": "float", "redop": "sum", "nccl": "2.29.2",
            "cuda": None, "launch": "single process -g 8", "launch_mode": "single-process", "gpus_per_process": 8,
            "environment": {}, "source": "nccl-tests 2.18.3", "date": None, "quality": None, "notes": None})
        self.assertEqual([(row["bytes"], row["time_ps"], row["in_place"], row["suspect"]) for row in rows],
                         [(MIB, 40_000_000, False, False), (MIB, 39_500_000, True, False),
                          (2 * MIB, 60_000_000, False, False), (2 * MIB, 61_000_000, True, False)])
        self.assertAlmostEqual(rows[0]["busbw_GBps"], MIB / 40e3 * 1.75)

    def test_csv(self):
        rows = self.csv("measurements", "show", "run.log")
        self.assertEqual(len(rows), 4)
        self.assertEqual({key: rows[1][key] for key in ("file", "collective", "ranks", "bytes", "in_place", "time_ps")},
                         {"file": "run.log", "collective": "all_reduce", "ranks": "8", "bytes": str(MIB),
                          "in_place": "true", "time_ps": "39500000"})

    def test_notes_go_to_stderr_where_the_result_has_no_place_for_them(self):
        self.file("table.txt", TABLE)
        done = self.run_program("measurements", "show", "table.txt", "--format", "csv")
        self.assertEqual(done.stderr, (
            "table.txt:2:1: note: all_reduce: told by its columns and bandwidths\n"
            "table.txt:2:1: note: 8 ranks: told by busbw and algbw\n"
            "table.txt:2:1: note: not told: nodes (--nodes), launch (--launch), version of NCCL (--nccl)\n"))
        self.assertEqual(self.run_program("measurements", "show", "table.txt", "--format", "csv", "--quiet").stderr, "")

    def test_names_of_hosts_are_nowhere(self):
        for form in ("table", "json", "csv"):
            self.assertNotIn("secret", self.output("measurements", "show", "run.log", "--format", form))

    def test_our_own_table_is_read_and_known_for_what_it_is(self):
        table = self.output("perf", "all_reduce", *program.STAR, "-b", "1M", "-e", "4M", "-f", "2", "-g", "8", "--quiet")
        self.file("perf.log", table)
        file, = self.json("measurements", "show", "perf.log")["files"]
        self.assertEqual(len(file["runs"][0]["rows"]), 6)
        self.assertRegex(file["runs"][0]["notes"], r"^simulated by collsim [\d.]+, not measured$")


class Hints(Case):
    def test_what_a_table_does_not_tell_is_filled_in(self):
        self.file("table.txt", TABLE)
        file, = self.json("measurements", "show", "table.txt", "--nodes", "2", "--launch", "process-per-gpu", "--nccl",
                          "2.27.3")["files"]
        run, = file["runs"]
        self.assertEqual((run["ranks"], run["nodes"], run["launch_mode"], run["nccl"]), (8, 2, "process-per-gpu", "2.27.3"))

    def test_the_launch_is_the_users_word(self):
        file, = self.json("measurements", "show", "run.log", "--launch", "cuda-graph", "--nccl", "2.1")["files"]
        run, = file["runs"]
        self.assertEqual((run["launch_mode"], run["nccl"]), ("cuda-graph", "2.29.2"))

    def test_mistakes(self):
        show = ["measurements", "show", "run.log"]
        self.refused([*show, "--ranks", "0"], 'error: --ranks: expected a whole number from 1 to 1048576, got "0"')
        self.refused([*show, "--launch", "process-per-gpx"],
                     'error: --launch: expected process-per-gpu, single-process, "single-process -g N" or cuda-graph, got '
                     '"process-per-gpx"\nhint: did you mean "process-per-gpu"?')
        for launch in ("single-process -g", "single-process -g 0", "process-per-gpu -g 8", "single-process -g 8x"):
            self.assertIn("--launch: expected", self.run_program(*show, "--launch", launch).stderr)
        self.output(*show, "--launch", "single-process -g 4")
        self.refused([*show, "--nccl", "new"], 'error: --nccl: expected a version such as 2.28.3, got "new"')
        self.refused([*show, "--datatype", "flot"],
                     'error: --datatype: unknown data type "flot"; expected int8, uint8, int32, uint32, int64, uint64, half, '
                     'float, double, bfloat16, f8e4m3 or f8e5m2\nhint: did you mean "float"?')
        self.refused(["measurements", "show"], "error: missing FILE\nhint: see collsim measurements show --help")
        self.refused([*show, "run.log"], 'error: the file "run.log" is given twice\nhint: give it once')
        self.refused(["measurements", "show", "none.log"], 'error: cannot read "none.log": no such file')
        self.file("none.log", "start failed\n")
        self.refused(["measurements", "show", "none.log"],
                     "none.log: error: no measurement: there is no table of nccl-tests in it")
        self.file("rooted.txt", "8 2 float none 0 5.00 0.00 0.00 0\n")
        self.refused(["measurements", "show", "rooted.txt", "--collective", "broadcast"],
                     "rooted.txt:1:1: error: --ranks: the table does not tell on how many ranks it ran\n"
                     "hint: say it with --ranks N")


class Convert(Case):
    def test_what_is_converted_is_read_as_the_same(self):
        self.assertEqual(self.output("measurements", "convert", "run.log", "--output", "m.json"), "")
        first = self.json("measurements", "show", "run.log")["files"][0]
        again = self.json("measurements", "show", "m.json")["files"][0]
        self.assertEqual(again["runs"], first["runs"])
        self.assertEqual((again["machine"], again["gpu"], again["gpus_per_node"]), ("run", first["gpu"], 8))
        document = json.loads((self.folder / "m.json").read_text(encoding="utf-8"))
        self.assertEqual(document["schema"], "measurements/1")
        self.assertEqual(document["runs"][0]["rows"][0], {"bytes": MIB, "time_us": 40.0, "algbw_GBps": 26.2144,
                                                          "busbw_GBps": 45.8752, "in_place": False})

    def test_files_of_one_machine_become_one(self):
        self.file("b.log", WHOLE.replace("all_reduce_perf", "all_reduce_perf "))
        done = json.loads(self.output("measurements", "convert", "run.log", "b.log", "--machine", "mine"))
        self.assertEqual((done["machine"], len(done["runs"])), ("mine", 2))

    def test_files_of_different_machines_are_refused(self):
        self.file("b.log", START + devices(gpu="NVIDIA A100") + HEADER + row(MIB, 40, 41) + FOOTER)
        self.refused(["measurements", "convert", "run.log", "b.log"],
                     'b.log: error: another machine than that of "run.log": the GPUs differ\n'
                     "hint: convert files of one machine together, each machine by itself")

    def test_what_was_dropped_is_told(self):
        self.file("cut.log", START + devices() + HEADER + row(MIB, 40, 41) + row(2 * MIB, 60, 61)[:60])
        done = self.run_program("measurements", "convert", "cut.log")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "cut.log:19:1: note: cut: the test has no summary\n"
                                      "cut.log:19:1: dropped: 6 of 13 columns: the row is cut\n")


class Help(Case):
    def test_examples_run(self):
        self.file("all_reduce.log", WHOLE)
        for words in ([], ["show"], ["convert"]):
            text = self.output("measurements", *words, "--help")
            for line in text.split("\nExample")[1].splitlines():
                if line.startswith("  collsim "):
                    self.output(*line.split()[1:])


program.main()
