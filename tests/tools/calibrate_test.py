#!/usr/bin/env python3
"""`calibrate`: from a measured table to a file of parameters, and what is refused."""

import json

import program

# A made-up machine whose kernels cost a launch of 9 us and nothing else but what the nominal set says.
NOMINAL = ["--start", "nccl-hopper-nominal"]


def table(rows, **run):
    run = {"collective": "all_gather", "ranks": 8, "nodes": 1, "datatype": "float", "redop": None,
           "software": {"nccl": "2.28.9", "env": {}, "launch": "one process per GPU"}} | run
    run["rows"] = [{"bytes": size, "time_us": time, "in_place": None} for size, time in rows]
    return json.dumps({"schema": "measurements/1", "machine": "made up", "hardware": {}, "runs": [run]})


class Calibrate(program.Case):
    def measured(self, launch_us):
        """What the nominal set predicts, were its launch another one."""
        self.file("launch.yaml", "description: another launch\nbase: nccl-hopper-nominal\n"
                  f"launch: {{ collective: {{ value: {launch_us} us, source: measured }} }}\n")
        rows = self.rows("perf", "all_gather", "--cluster", "dgx-h100", "--parameters", "./launch.yaml",
                         "-b", "1K", "-e", "4M", "-f", "2", "-c", "0")
        return [(row["bytes"], row["time_us"]) for row in rows if not row["in_place"]]

    def calibrate(self, *words):
        return self.json("calibrate", "--cluster", "dgx-h100", "--measurements", "table.json", *NOMINAL,
                         "--only", "launch.collective", *words)

    def test_a_launch_is_found_and_the_file_predicts_it(self):
        times = self.measured(9)
        self.file("table.json", table(times))
        report = self.calibrate("--output", "fitted.yaml", "--leave-out", "none")
        self.assertEqual(report["schema"], "collsim/calibration/1")
        (launch,) = report["parameters"]
        self.assertEqual((launch["name"], launch["unit"], launch["start"]), ("launch.collective", "ps", 6e6))
        self.assertAlmostEqual(launch["value"] / 9e6, 1, delta=0.01)
        self.assertLess(report["summary"]["p90_abs_error"], 0.01)
        self.assertEqual(report["left_out"], [])
        rows = self.rows("perf", "all_gather", "--cluster", "dgx-h100", "--parameters", "./fitted.yaml",
                         "-b", "1K", "-e", "4M", "-f", "2", "-c", "0")
        for (size, measured), row in zip(times, [row for row in rows if not row["in_place"]]):
            self.assertEqual(row["bytes"], size)
            self.assertAlmostEqual(row["time_us"] / measured, 1, delta=0.01)
            self.assertEqual((row["parameters"]["tier"], row["parameters"]["outside"]), ("fitted", []))
        row = self.row("run", "all_gather", "--cluster", "dgx-h100", "--parameters", "./fitted.yaml", "--bytes", "1GiB")
        self.assertEqual(row["parameters"]["outside"],
                         [{"what": "size", "found": "1 GiB", "fitted": "1 KiB to 4 MiB"}])

    def test_the_same_input_gives_the_same_file(self):
        self.file("table.json", table(self.measured(9)))
        for name in ("one.yaml", "two.yaml"):
            self.calibrate("--output", name)
        self.assertEqual((self.folder / "one.yaml").read_bytes(), (self.folder / "two.yaml").read_bytes())

    def test_stalls_and_small_sizes_of_unknown_launch_do_not_count(self):
        self.file("table.json", table(self.measured(9), software={"nccl": "2.28.9"}))
        self.assertEqual(self.calibrate()["summary"]["points"], 2)  # 2 and 4 MiB
        self.assertEqual(self.calibrate("--launch", "process-per-gpu")["summary"]["points"], 13)  # powers of two from 1 KiB

    def test_what_the_data_do_not_decide_is_told(self):
        self.file("table.json", table(self.measured(9)))
        report = self.json("calibrate", "--cluster", "dgx-h100", "--measurements", "table.json", *NOMINAL,
                           "--only", "launch.collective,ll.start", "--leave-out", "none")
        # Both are paid once a call: only their sum shows.
        self.assertEqual(len(report["parameters"]) + len(report["undecided"]), 2)

    def test_table_and_csv(self):
        self.file("table.json", table(self.measured(9)))
        words = ["calibrate", "--cluster", "dgx-h100", "--measurements", "table.json", *NOMINAL,
                 "--only", "launch.collective"]
        text = self.output(*words)
        self.assertIn("Predicted without having seen it", text)
        self.assertIn("launch.collective", text)
        (line,) = self.csv(*words)
        self.assertEqual((line["parameter"], line["unit"]), ("launch.collective", "ps"))


class Refused(program.Case):
    WORDS = ["calibrate", "--cluster", "dgx-h100", "--measurements", "table.json"]

    def test_files(self):
        self.refused(self.WORDS, 'error: cannot read "table.json": no such file')
        self.file("table.json", table([(1024, -1)]))
        self.refused(self.WORDS, "table.json: error: runs[0].rows[0].time_us: expected microseconds above 0, got -1")

    def test_names(self):
        self.file("table.json", table([(1024, 10), (2048, 10)]))
        done = self.run_program(*self.WORDS, "--only", "launch.colective")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith(
            'error: --only: unknown parameter "launch.colective"; expected launch.collective, '), done.stderr)
        self.assertIn('hint: did you mean "launch.collective"?', done.stderr)
        done = self.run_program(*self.WORDS, "--leave-out", "sizes,node")
        self.assertIn('error: --leave-out: unknown group "node"', done.stderr)
        done = self.run_program(*self.WORDS, "--tier", "best")
        self.assertIn("--tier", done.stderr)
        self.refused([*self.WORDS, "--leave-out", "none,sizes"], "error: --leave-out: none is not one of several")

    def test_nothing_left(self):
        self.file("table.json", table([(1024, 10)], software={}))
        done = self.run_program(*self.WORDS, "--quiet")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no row is left to fit to", done.stderr)
        self.file("table.json", table([(1024, 10)], nodes=2, ranks=16))
        done = self.run_program(*self.WORDS, "--quiet")
        self.assertEqual(done.returncode, 2)

    def test_nothing_is_written_where_it_cannot_be(self):
        self.file("table.json", table([(1024, 10), (4096, 10), (1 << 20, 20)]))
        done = self.run_program(*self.WORDS, "--only", "launch.collective", "--output", "nowhere/x.yaml")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("error: --output: cannot write", done.stderr)


if __name__ == "__main__":
    program.main()
