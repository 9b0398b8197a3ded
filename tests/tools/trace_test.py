"""`run --trace`: what ui.perfetto.dev and chrome://tracing need of a file to open it."""

import json
import re

import program
from program import STAR, TWO_NODES


class Trace(program.Case):
    def trace(self, *words):
        done = self.run_program("run", *words, "--trace", "t.json", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "t.json").read_text(encoding="utf-8"), json.loads(done.stdout)["rows"][0]

    def check_events(self, events):
        slices = {}
        for event in events:
            self.assertIn(event["ph"], {"X", "M", "s", "f", "C", "i"})
            for name in ("pid", "tid"):
                if name in event:
                    self.assertIsInstance(event[name], int)
                    self.assertTrue(1 <= event[name] < 2**32, event)
            if event["ph"] == "M":
                self.assertIn(event["name"], {"process_name", "thread_name", "process_sort_index", "thread_sort_index"})
                continue
            self.assertGreaterEqual(event["ts"], 0)
            self.assertIsInstance(event.get("args", {}), dict)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
                slices.setdefault((event["pid"], event["tid"]), []).append(
                    (round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)))
        return slices

    def check_nesting(self, slices):
        """Slices of a thread lie apart or inside each other."""
        for thread, spans in slices.items():
            spans.sort(key=lambda span: (span[0], -span[1]))
            open_ends = []
            for begin, end in spans:
                while open_ends and open_ends[-1] <= begin:
                    open_ends.pop()
                if open_ends:
                    self.assertLessEqual(end, open_ends[-1], thread)
                open_ends.append(end)

    def check_arrows(self, events, slices):
        arrows = {}
        for event in events:
            if event["ph"] in "sf":
                at = round(event["ts"] * 1000)
                self.assertTrue(any(begin <= at <= end for begin, end in slices[event["pid"], event["tid"]]), event)
                arrows.setdefault((event["cat"], event["name"], event["id"]), []).append(event["ph"])
                if event["ph"] == "f":
                    self.assertEqual(event["bp"], "e")
        for ends in arrows.values():
            self.assertEqual(sorted(ends), ["f", "s"])
        return len(arrows)

    def test_rules(self):
        for words in (["all_reduce", *TWO_NODES, "--bytes", "1M", "--algorithm", "direct"],
                      ["all_reduce", *STAR, "--bytes", "1M", "--algorithm", "ring", "--channels", "2"],
                      ["broadcast", *TWO_NODES, "--bytes", "4", "--algorithm", "tree"],
                      ["all_reduce", *STAR, "--bytes", "0"]):
            with self.subTest(words):
                text, row = self.trace(*words)
                document = json.loads(text)
                self.assertEqual(document["displayTimeUnit"], "ns")
                events = document["traceEvents"]
                # Numbers as both viewers read them: three decimals, no exponents.
                for value in re.findall(r'"(?:ts|dur)":\s*([^,}\s]+)', text):
                    self.assertRegex(value, r"^\d+\.\d{3}$")
                times = [event["ts"] for event in events if "ts" in event]
                self.assertEqual(times, sorted(times))
                slices = self.check_events(events)
                self.check_nesting(slices)
                self.check_arrows(events, slices)
                last = max((end for spans in slices.values() for _, end in spans), default=0)
                self.assertAlmostEqual(last, row["time_ps"] / 1000, delta=1)

    def test_tracks(self):
        text, row = self.trace("all_reduce", *STAR, "--bytes", "1M", "--algorithm", "ring", "--channels", "2")
        events = json.loads(text)["traceEvents"]
        names = {(event["pid"], event.get("tid")): event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] in ("process_name", "thread_name")}
        processes = [name for (_, thread), name in names.items() if thread is None or "gpu" in name]
        for rank in range(8):
            self.assertTrue(any(f"gpu{rank}" in name for name in names.values()), processes)
        # A track per rank and lane: 8 ranks of 2 channels.
        lanes = {(event["pid"], event["tid"]) for event in events if event["ph"] == "X" and event["pid"] <= 8}
        self.assertEqual(len(lanes), 16)
        # Every transfer on both links that it crosses.
        links = [event for event in events if event["ph"] == "X" and event["pid"] > 8]
        self.assertEqual(len(links), 2 * row["transfers"])
        # And an arrow for each.
        self.assertEqual(sum(event["ph"] == "s" for event in events), row["transfers"])

    def test_the_same_twice(self):
        words = ["all_to_all", *TWO_NODES, "--bytes", "1M", "--algorithm", "direct"]
        self.assertEqual(self.trace(*words)[0], self.trace(*words)[0])

    def test_result_is_that_without_a_trace(self):
        words = ["all_to_all", *TWO_NODES, "--bytes", "1M"]
        traced, plain = self.trace(*words)[1], self.row("run", *words)
        # Why every lane is simulated is another thing with a trace.
        self.assertEqual((traced.pop("folding")["mode"], plain.pop("folding")["mode"]), ("none", "none"))
        self.assertEqual(traced, plain)


program.main()
