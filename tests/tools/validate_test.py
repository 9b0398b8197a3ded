"""`collsim validate`: predicted against measured."""

import json
import pathlib
import re
import xml.etree.ElementTree

import program

SVG = "{http://www.w3.org/2000/svg}"
CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
# Machines of one NVSwitch whose tables ship, and the descriptions that stand for them (docs/machines.md).
NVSWITCH = {"a100-sxm-aic": "dgx-a100", "h100-sxm-aic": "dgx-h100", "b200-sxm-aic": "dgx-b200", "gb200-aic": "gb200-nvl72"}
H100 = ["validate", "--cluster", "dgx-h100", "--measurements"]
KiB, MiB = 1 << 10, 1 << 20


def run(rows, launch="one process per GPU", **fields):
    """A made-up table: rows are (bytes, microseconds), or whole."""
    shown = [row if isinstance(row, dict) else {"bytes": row[0], "time_us": row[1], "in_place": False} for row in rows]
    return {"collective": "all_reduce", "ranks": 2, "nodes": 1, "datatype": "float", "redop": "sum",
            "software": {"nccl": "2.28.9", "launch": launch}, "rows": shown} | fields


class Validate(program.Case):
    def measured(self, *runs, name="m"):
        document = {"schema": "measurements/1", "machine": name, "hardware": {}, "runs": runs}
        return str(self.file(f"{name}.json", json.dumps(document)))

    def predicted(self, *sizes, launch="one process per GPU"):
        """What the program predicts for these sizes, in microseconds."""
        file = self.measured(run([(size, 1) for size in sizes], launch), name="any")
        return [row["predicted_us"] for row in self.json(*H100, file)["runs"][0]["rows"]]


class Scores(Validate):
    def test_errors_are_relative_to_what_was_measured(self):
        small, large = self.predicted(4 * KiB, 32 * MiB)
        result = self.json(*H100, self.measured(run([(4 * KiB, small / 1.25), (32 * MiB, large * 2)])))
        self.assertEqual(result["schema"], "collsim/validation/1")
        rows = result["runs"][0]["rows"]
        for row, error in zip(rows, [0.25, -0.5]):
            self.assertAlmostEqual(row["error"], error, delta=1e-5)
        # Sizes of the errors 0.25 and 0.5: the median between them, the 90th percentile at nine tenths of the way.
        summary = result["summary"]
        self.assertEqual(summary["points"], 2)
        self.assertAlmostEqual(summary["median_abs_error"], 0.375, delta=1e-5)
        self.assertAlmostEqual(summary["p90_abs_error"], 0.475, delta=1e-5)
        self.assertAlmostEqual(summary["bias"], -0.125, delta=1e-5)
        self.assertEqual(summary["worst"]["bytes"], 32 * MiB)
        self.assertAlmostEqual(summary["by_band"]["<= 64 KiB"]["median_abs_error"], 0.25, delta=1e-5)
        self.assertAlmostEqual(summary["by_band"][">= 16 MiB"]["bias"], -0.5, delta=1e-5)
        self.assertEqual(summary["by_band"]["1 - 16 MiB"],
                         {"points": 0, "median_abs_error": None, "p90_abs_error": None, "bias": None, "worst": None})
        self.assertEqual(summary["by_collective"], {"all_reduce": {k: summary[k] for k in
                                                                  ("points", "median_abs_error", "p90_abs_error", "bias", "worst")}})

    def test_the_rivals(self):
        # 10 us and 1 us for each 64 KiB.
        sizes = [64 * KiB * 2**i for i in range(7)]
        result = self.json(*H100, self.measured(run([(size, 10 + size / (64 * KiB)) for size in sizes])))
        rivals = result["rivals"]
        self.assertLess(rivals["best_line"]["p90_abs_error"], 1e-4)
        # The largest three sizes take 26, 42 and 74 us: 16 / 26, 32 / 42 and 64 / 74 of the slope's bandwidth.
        # At 64 KiB, which took 11 us, the median of them leaves 42 / 32 us.
        constant = result["runs"][0]["rows"][0]["rivals"]["constant_busbw_us"]
        self.assertAlmostEqual(constant, 42 / 32, delta=1e-5)
        # NCCL's formula is what `tuning` says of the choice.
        for row in result["runs"][0]["rows"]:
            tuning = self.json("tuning", "all_reduce", "--cluster", "dgx-h100", "--gpus-per-node", "2", "--bytes",
                               str(row["bytes"]))["call"]
            least = min(c["time_us"] for c in tuning["candidates"] if c.get("time_us"))
            self.assertAlmostEqual(row["rivals"]["nccl_formula_us"], least, delta=1e-3 * least)

    def test_sends_and_receives_have_no_formula(self):
        rows = [(MiB, 20), (4 * MiB, 40)]
        result = self.json(*H100, self.measured(run(rows, collective="all_to_all", redop=None)))
        self.assertEqual(result["rivals"]["nccl_formula"]["points"], 0)
        self.assertEqual(result["rivals"]["constant_busbw"]["points"], 2)
        self.assertNotIn("nccl_formula_us", result["runs"][0]["rows"][0]["rivals"])
        self.assertIn("NCCL's formula says nothing of sends and receives.",
                      self.output(*H100, str(self.folder / "m.json")))

    def test_suspect_rows_stand_apart(self):
        small, = self.predicted(4 * KiB)
        rows = [(4 * KiB, small), {"bytes": 8 * KiB, "time_us": 900, "in_place": False, "suspect": True}]
        file = self.measured(run(rows))
        result = self.json(*H100, file)
        self.assertEqual((result["summary"]["points"], result["apart"]["points"]), (1, 1))
        self.assertLess(result["summary"]["median_abs_error"], 1e-4)
        self.assertGreater(result["apart"]["median_abs_error"], 0.9)
        self.assertEqual([(row["suspect"], row["apart"]) for row in result["runs"][0]["rows"]],
                         [(False, False), (True, True)])
        self.assertIn("\n  1 by the tables' own mark: suspect.\n", self.output(*H100, file))

    def test_small_rows_of_unknown_launch_stand_apart(self):
        file = self.measured(run([(4 * KiB, 10), (MiB, 20), (2 * MiB, 30)], launch=""))
        result = self.json(*H100, file)
        self.assertEqual(result["runs"][0]["launch"], "unknown")
        self.assertEqual([row["apart"] for row in result["runs"][0]["rows"]], [True, True, False])
        self.assertIn("2 of up to 1 MiB in tables that do not say how they were launched", self.output(*H100, file))
        # Said, or fitted, they count.
        said = self.json(*H100, file, "--launch", "process-per-gpu")
        self.assertEqual((said["summary"]["points"], said["runs"][0]["launch"]), (3, "process-per-gpu"))
        self.assertEqual(self.json(*H100, file, "--fit-launch")["summary"]["points"], 3)

    def test_a_table_that_is_silent_was_launched_as_the_others_of_its_file(self):
        rows = [(KiB, 20), (4 * KiB, 20)]
        said, graph = "single process -g 2", "CUDA graph"
        def launches(*runs):
            return [r["launch"] for r in self.json(*H100, self.measured(*runs))["runs"]]
        self.assertEqual(launches(run(rows, ""), run(rows, said), run(rows, graph)), ["single-process"] * 2 + ["cuda-graph"])
        # Not by others that do not agree, by a graph, or on other ranks.
        self.assertEqual(launches(run(rows, ""), run(rows, said), run(rows))[0], "unknown")
        self.assertEqual(launches(run(rows, ""), run(rows, graph))[0], "unknown")
        self.assertEqual(launches(run(rows, ""), run(rows, said, ranks=4))[0], "unknown")

    def test_a_launch_offset_is_named_everywhere(self):
        small, large = self.predicted(4 * KiB, 32 * MiB, launch="")
        file = self.measured(run([(4 * KiB, small + 2.5), (32 * MiB, large + 2.5)], launch=""))
        result = self.json(*H100, file, "--fit-launch", "--plot", "p.svg")
        self.assertEqual(result["launch_offsets"], [{"machine": "m", "launch": "unknown", "offset_us": 2.5, "points": 1}])
        self.assertLess(result["summary"]["p90_abs_error"], 1e-4)
        self.assertIn("launch offset fitted to 1 row of m: +2.50 us", self.output(*H100, file, "--fit-launch"))
        self.assertIn("launch +2.50 us", (self.folder / "p.svg").read_text(encoding="utf-8"))
        self.assertEqual(self.json(*H100, file)["launch_offsets"], [])

    def test_one_process_for_all_launches_late(self):
        # Host time is in the prediction itself: 8 GPUs take longer from one process than from eight.
        rows = [(size, 20) for size in (KiB, 4 * KiB)]
        times = [self.json(*H100, self.measured(run(rows, launch, ranks=8)))["runs"][0]["rows"][0]["predicted_us"]
                 for launch in ("one process per GPU", "single process -g 8")]
        self.assertLess(times[0], times[1])

    def test_rows_that_are_chosen(self):
        file = self.measured(run([(KiB, 10), (64 * KiB, 10), (MiB, 20)]),
                             run([(KiB, 10)], collective="all_gather", redop=None))
        chosen = self.json(*H100, file, "--min-bytes", "64K", "--max-bytes", "64K")
        self.assertEqual([row["bytes"] for each in chosen["runs"] for row in each["rows"]], [64 * KiB])
        chosen = self.json(*H100, file, "--collectives", "AllGather,broadcast")
        self.assertEqual([each["collective"] for each in chosen["runs"]], ["all_gather"])

    def test_what_cannot_be_predicted_is_left_out_and_said(self):
        done = self.run_program(*H100, self.measured(run([(4 * KiB, 10), (2, 10)]), run([(KiB, 10)], ranks=16)),
                                "--format", "json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("left out: m: all_reduce on 2 ranks, 1 row: less than an element a rank\n", done.stderr)
        left_out = json.loads(done.stdout)["left_out"]
        self.assertEqual(len(left_out), 2)
        self.assertRegex(left_out[0], "^m: all_reduce on 16 ranks: .*only 8 GPUs a node")

    def test_several_machines(self):
        words = ["validate", "--measurements", "dgx-h100=" + self.measured(run([(KiB, 10)]), name="one"),
                 "dgx-a100=" + self.measured(run([(KiB, 10)]), name="two")]
        result = self.json(*words)
        self.assertEqual([(p["machine"], p["cluster"], p["name"]) for p in result["parameters"]],
                         [("one", "dgx-h100", "nccl-hopper"), ("two", "dgx-a100", "nccl-ampere")])
        self.assertEqual([each["cluster"] for each in result["runs"]], ["dgx-h100", "dgx-a100"])
        self.assertRegex(self.output(*words), r"\n  two +all_reduce +2 ")


class Check(Validate):
    def test_fail_above(self):
        small, = self.predicted(4 * KiB)
        file = self.measured(run([(4 * KiB, small / 1.2)]))
        self.assertEqual(self.run_program(*H100, file, "--fail-above", "0.25").returncode, 0)
        done = self.run_program(*H100, file, "--fail-above", "0.15", "--output", "r.txt", "--quiet")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "check failed: the median error of 1 row is 20.0 %, above 15 % (--fail-above)\n")
        # The result is there all the same.
        self.assertIn("m on dgx-h100: 1 row of 1 table", (self.folder / "r.txt").read_text(encoding="utf-8"))

    def test_what_is_refused(self):
        file = self.measured(run([(4 * KiB, 10)]))
        for word in ("0", "-1", "15%", "inf", "nan", "much"):
            self.refused([*H100, file, "--fail-above", word],
                         f'error: --fail-above: expected a part of one above 0, such as 0.15 for 15 %, got "{word}"')
        self.refused([*H100, file, "--collectives", "all_reduc"],
                     'error: --collectives: unknown collective "all_reduc"; expected broadcast, scatter, gather, '
                     'reduce, all_gather, reduce_scatter, all_reduce, all_to_all or send_recv\nhint: did you mean "all_reduce"?')
        self.refused([*H100, file, "--min-bytes", "2K", "--max-bytes", "1K"], "error: --max-bytes: is less than --min-bytes")
        self.refused([*H100, file, "--plot", "-"], "error: --plot: stdout is for the result: a plot needs a file")
        self.refused([*H100, file, "--plot", "a", "--output", "a"],
                     "error: --plot: is the file of --output: the one would overwrite the other")
        self.refused([*H100, file, "--min-bytes", "1M"],
                     "error: --measurements: no row is left\n"
                     "hint: --collectives, --min-bytes and --max-bytes choose among them")
        self.refused(["validate", "--measurements", file],
                     f'error: --cluster: which cluster is "{file}" of?\nhint: --cluster NAME, or --measurements NAME=FILE')

    def test_a_cluster_without_parameters_is_refused(self):
        file = self.measured(run([(4 * KiB, 10)]))
        self.refused([*H100, file, "--parameters", "none"],
                     "error: --parameters: there is nothing to validate without: dgx-h100 names no parameters, and the wire alone "
                     "is no prediction of NCCL\nhint: `collsim list parameters` shows which there are")
        done = self.run_program(*H100, file, "--parameters", "nccl-hoper")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, '^error: --parameters: unknown parameter "nccl-hoper", did you mean "nccl-hopper"')

    def test_nothing_to_check(self):
        file = self.measured(run([(4 * KiB, 10)], launch=""))
        self.refused([*H100, file, "--fail-above", "0.1"],
                     "error: --fail-above: there is nothing to check: all rows stand apart\n"
                     "hint: --launch says how tables were launched, --fit-launch fits an offset")

    def test_measurements_by_name(self):
        done = self.run_program(*H100, "h100-sxm")
        names = ", ".join(sorted(file.stem for file in (CONFIGS / "measurements").glob("*.json")))
        self.assertEqual((done.returncode, done.stderr),
                         (2, f'error: --measurements: unknown measurement "h100-sxm"\nhint: known: {names}\n'))
        # A file of the folder needs neither ending nor slash.
        self.file("mine", pathlib.Path(self.measured(run([(4 * KiB, 10)]))).read_text(encoding="utf-8"))
        self.assertEqual(self.json(*H100, "mine")["summary"]["points"], 1)


class Outputs(Validate):
    def test_csv_has_a_line_a_row(self):
        small, = self.predicted(4 * KiB)
        file = self.measured(run([(4 * KiB, small), (8 * KiB, 12)]))
        lines = self.csv(*H100, file)
        self.assertEqual(len(lines), 2)
        first = lines[0]
        self.assertEqual({key: first[key] for key in ("machine", "cluster", "collective", "ranks", "nodes", "datatype", "nccl",
                                                      "launch", "bytes", "in_place", "suspect", "apart", "algorithm", "protocol")},
                         {"machine": "m", "cluster": "dgx-h100", "collective": "all_reduce", "ranks": "2", "nodes": "1",
                          "datatype": "float", "nccl": "2.28.9", "launch": "process-per-gpu", "bytes": "4096",
                          "in_place": "false", "suspect": "false", "apart": "false", "algorithm": "nccl-ring",
                          "protocol": "LL"})
        self.assertEqual(float(first["predicted_us"]), small)
        self.assertAlmostEqual(float(first["error"]), 0, delta=1e-5)
        self.assertEqual(float(lines[1]["measured_us"]), 12)
        self.assertGreater(float(lines[1]["constant_busbw_us"]), 0)

    def test_each_row_in_the_table(self):
        small, = self.predicted(4 * KiB)
        file = self.measured(run([(4 * KiB, small / 1.1),
                                  {"bytes": 8 * KiB, "time_us": 1000, "in_place": True, "suspect": True}]))
        text = self.output(*H100, file, "--rows")
        # A square for each 2 %.
        self.assertRegex(text, r"\n +4,096 +no +[\d.]+ +[\d.]+ +\+10\.0 % +│■■■■■ +nccl-ring +LL\n")
        self.assertRegex(text, r"\n +8,192 +yes +1000\.00 +[\d.]+ +-9\d\.\d % +■{12}│ +nccl-ring +LL +apart: suspect\n")
        self.assertNotIn("4,096", self.output(*H100, file))

    def test_variables_are_shown_where_there_are_any(self):
        software = {"nccl": "2.28.9", "launch": "one process per GPU", "env": {"NCCL_PROTO": "Simple"}}
        file = self.measured(run([(4 * KiB, 10)], software=software))
        # What is the same in all tables stands above them.
        self.assertIn("\nTables (nodes 1, NCCL 2.28.9, launch process-per-gpu, variables NCCL_PROTO=Simple), with the medians",
                      self.output(*H100, file))
        both = self.measured(run([(4 * KiB, 10)], software=software), run([(4 * KiB, 10)]), name="both")
        text = self.output(*H100, both)
        self.assertIn("\nTables (nodes 1, NCCL 2.28.9, launch process-per-gpu), with the medians", text)
        self.assertRegex(text, r"\n  all_reduce +2 +float +NCCL_PROTO=Simple +1 ")
        result = self.json(*H100, file)["runs"][0]
        self.assertEqual(result["environment"], {"NCCL_PROTO": "Simple"})
        self.assertEqual(result["choices"], [{"from_bytes": 4 * KiB, "algorithm": "nccl-ring", "protocol": "Simple"}])

    def test_the_same_twice(self):
        words = [*H100, "h100-sxm-aic", "--collectives", "all_reduce", "--format", "json"]
        self.assertEqual(self.output(*words), self.output(*words))


class Plot(Validate):
    def plot(self, *words):
        self.output("validate", *words, "--plot", "p.svg")
        return xml.etree.ElementTree.fromstring((self.folder / "p.svg").read_text(encoding="utf-8"))

    def test_a_panel_for_each_collective_and_number_of_ranks(self):
        picture = self.plot("--cluster", "dgx-h100", "--measurements", "h100-sxm-aic")
        words = [text.text for text in picture.iter(f"{SVG}text")]
        for collective in ("all_gather", "reduce_scatter", "all_reduce", "all_to_all"):
            for ranks in (2, 4, 8):
                self.assertEqual(words.count(f"{collective} on {ranks} ranks"), 1)
        for word in ("half", "int8", "measured", "predicted", "64 KiB", "100 us"):
            self.assertIn(word, words)
        # A dot above and one below for each of 504 rows, and a curve for each of 24 tables.
        titles = [path.find(f"{SVG}title").text or "" for path in picture.iter(f"{SVG}path")]
        self.assertEqual(sum(": measured " in title for title in titles), 2 * 504)
        self.assertEqual(titles.count("predicted"), 24)

    def test_dots_rise_with_times_and_errors(self):
        small, large = self.predicted(4 * KiB, 32 * MiB)
        picture = self.plot("--cluster", "dgx-h100", "--measurements",
                            self.measured(run([(4 * KiB, small / 1.05), (32 * MiB, large / 0.95)])))
        places = {}
        for path in picture.iter(f"{SVG}path"):
            title = path.find(f"{SVG}title").text or ""
            if ": measured " in title:
                x, y = re.match(r"M([\d.]+) ([\d.]+)", path.get("d")).groups()
                places.setdefault(title.split(":")[0], []).append((float(x), float(y)))
        (small_time, small_error), (large_time, large_error) = places["4 KiB"], places["32 MiB"]
        self.assertLess(small_time[0], large_time[0])
        self.assertEqual(small_time[0], small_error[0])
        self.assertGreater(small_time[1], large_time[1])  # the longer time stands higher
        self.assertLess(small_error[1], large_error[1])  # what is predicted too long stands higher

    def test_words_stay_inside_and_apart(self):
        picture = self.plot("--measurements", "dgx-h100=h100-sxm-aic", "dgx-a100=a100-sxm-aic")
        width, height = float(picture.get("width")), float(picture.get("height"))
        boxes = []
        for text in picture.iter(f"{SVG}text"):
            classes = text.get("class").split()
            letters = 6.7 * (0.9 if "small" in classes else 1) * (1.1 if "bold" in classes else 1) * len(text.text)
            shift = {"start": 0, "middle": letters / 2, "end": letters}[text.get("text-anchor")]
            left, base = float(text.get("x")) - shift, float(text.get("y"))
            boxes.append((text.text, left, base - 10, left + letters, base + 3))
        for i, (text, left, top, right, bottom) in enumerate(boxes):
            self.assertTrue(0 <= left and right <= width and 0 <= top and bottom <= height, text)
            for other, left2, top2, right2, bottom2 in boxes[:i]:
                self.assertTrue(left >= right2 or left2 >= right or top >= bottom2 or top2 >= bottom, (text, other))

    def test_names_that_xml_reserves(self):
        picture = self.plot("--cluster", "dgx-h100", "--measurements", self.measured(run([(4 * KiB, 10)]), name="a<b>&c"))
        self.assertIn("a<b>&c on dgx-h100", " ".join(text.text for text in picture.iter(f"{SVG}text")))


class Shipped(Validate):
    def test_the_tables_that_ship_are_listed(self):
        names = [entry["name"] for entry in self.json("list", "measurements")["entries"]]
        self.assertEqual(names, sorted(file.stem for file in (CONFIGS / "measurements").glob("*.json")))
        self.assertRegex(self.output("list", "measurements"), r"\nh100-sxm-aic +24 tables of H100-SXM5-80GB ")

    def test_each_table_says_its_source_and_its_licence(self):
        for file in (CONFIGS / "measurements").glob("*.json"):
            for each in json.loads(file.read_text(encoding="utf-8"))["runs"]:
                self.assertRegex(each["source"], r"^ai-dynamo/aiconfigurator, commit [0-9a-f]{9}, .* \(Apache-2\.0\)")

    def test_one_nvswitch_within_ten_percent(self):
        for machine, cluster in NVSWITCH.items():
            with self.subTest(machine):
                result = self.json("validate", "--cluster", cluster, "--measurements", machine)
                self.assertEqual(result["left_out"], [])
                self.assertEqual(result["summary"]["points"], 21 * len(result["runs"]))
                for each in result["runs"]:
                    self.assertLess(each["median_abs_error"], 0.10, (each["collective"], each["ranks"], each["datatype"]))
                self.assertLess(result["summary"]["median_abs_error"], result["rivals"]["best_line"]["median_abs_error"])


class OurPrograms(Validate):
    """Files of `collsim measure`, which name the program that ran."""

    SIZES = ["-b", "4K", "-e", "64K", "-f", "4", "-w", "5", "-n", "20", "-c", "0"]

    def test_they_are_predicted_as_what_ran(self):
        for words in (["--algorithm", "ring"], ["--algorithm", "naive"], ["--algorithm", "tree"],
                      ["--algorithm", "ring", "--channels", "2", "--chunks", "4"]):
            with self.subTest(words=words):
                star = ["--cluster", "textbook-star"]
                text = self.output("measure", "all_reduce", *star, *words, *self.SIZES, "--output", "m.json")
                # What `measure` itself says: size, place, algorithm, measured, predicted, error.
                shown = re.findall(r"^# +(\d+) +(out|in) +(\S+) +\S+ +(\S+) +\S+ %$", text, re.M)
                self.assertEqual(len(shown), 6)
                result = self.json("validate", *star, "--measurements", "./m.json")
                rows = result["runs"][0]["rows"]
                self.assertEqual([(str(row["bytes"]), "in" if row["in_place"] else "out", row["algorithm"])
                                  for row in rows], [row[:3] for row in shown])
                for row, (_, _, _, predicted) in zip(rows, shown):
                    self.assertAlmostEqual(row["predicted_us"], float(predicted), delta=0.0051)
                self.assertEqual(result["parameters"][0]["name"], "none")
                self.assertEqual(result["summary"]["points"], 6)

    def test_processes_of_one_machine_may_play_many_nodes(self):
        rows = [(64 * KiB, 100)]
        file = self.measured(run(rows, ranks=8, software={"backend": "tcp", "algorithm": "ring"}))
        cluster = ["validate", "--cluster", "textbook-2x4", "--measurements"]
        two_nodes = self.measured(run(rows, ranks=8, nodes=2, software={"backend": "tcp", "algorithm": "ring"}), name="n")
        self.assertEqual(self.json(*cluster, file)["runs"][0]["rows"], self.json(*cluster, two_nodes)["runs"][0]["rows"])

    def test_a_program_of_nccl_that_ran_here_is_predicted_as_such(self):
        # On one node NCCL would run rings.
        rows = [(64 * KiB, 100)]
        file = self.measured(run(rows, software={"backend": "host", "algorithm": "nccl-tree"}))
        self.assertEqual(self.json(*H100, file)["runs"][0]["rows"][0]["algorithm"], "nccl-tree")

    def test_an_unknown_program_is_told(self):
        file = self.measured(run([(64 * KiB, 100)], software={"backend": "host", "algorithm": "rings"}))
        for command in ("validate", "calibrate"):
            self.refused([command, *H100[1:], file],
                         'left out: m: all_reduce on 2 ranks: it is of the program "rings", which is none of '
                         '`collsim list algorithms`: did you mean "ring"?\nerror: --measurements: no table is left')

    def test_they_say_nothing_of_parameters(self):
        file = self.measured(run([(4 * MiB, 100)], software={"backend": "tcp", "algorithm": "ring"}))
        self.refused(["calibrate", *H100[1:], file],
                     "left out: m: all_reduce ran as a program of ours (ring), on which no parameter has any effect\n"
                     "error: --measurements: no row is left to fit to: stalls, and sizes up to 1 MiB of tables that do not "
                     "say how kernels were launched, are left out\nhint: --launch MODE, if you know it")


program.main()
