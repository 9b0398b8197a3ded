"""`collsim compare`: order, what is left out, and the verdict in words."""

import re

import program
from program import LATENCY_PS, MESH, PS_PER_BYTE, STAR, TWO_NODES

GIB = 2**30


def of_nccl(name):
    """Whether it is one of NCCL's programs, which need no comparison to be chosen."""
    return name.split("-")[0] in ("nccl", "nvls", "pat", "collnet")


class Compare(program.Case):
    def test_the_quickest_comes_first(self):
        document = self.json("compare", "all_reduce", *STAR, "--bytes", "1GiB")
        times = [row["time_ps"] for row in document["rows"]]
        self.assertEqual(times, sorted(times))
        self.assertEqual(document["not_simulated"],
                         [{"algorithm": "hierarchical",
                           "reason": "needs ranks on more than one node, and all are on one"}])
        compared = {row["algorithm"] for row in document["rows"]} | {"hierarchical"}
        listed = {entry["name"]: entry["algorithms"] for entry in self.json("list", "collectives")["entries"]}
        self.assertEqual(compared, {name for name in listed["all_reduce"] if not of_nccl(name)})

    def test_equal_times_stay_in_the_order_of_the_list(self):
        names = [row["algorithm"] for row in self.rows("compare", "all_reduce", *STAR, "--bytes", "0")]
        self.assertEqual(names, [entry["name"] for entry in self.json("list", "algorithms")["entries"]
                                 if "all_reduce" in entry["collectives"] and entry["name"] != "hierarchical"
                                 and not of_nccl(entry["name"])])

    def test_chosen_algorithms(self):
        rows = self.rows("compare", "all_gather", *STAR, "--bytes", "128MiB", "--algorithms", "naive,ring")
        self.assertEqual([(row["algorithm"], row["time_ps"]) for row in rows],
                         [("ring", 2355810240), ("naive", 21141292160)])
        self.assertNotIn("not_simulated",
                         self.json("compare", "all_gather", *STAR, "--bytes", "128MiB", "--algorithms", "ring"))

    def test_rows_are_those_of_run(self):
        for row in self.rows("compare", "broadcast", *TWO_NODES, "--bytes", "1M", "--root", "5"):
            with self.subTest(row["algorithm"]):
                self.assertEqual(row, self.row("run", "broadcast", *TWO_NODES, "--bytes", "1M", "--root", "5",
                                               "--algorithm", row["algorithm"]))

    def test_limit_leaves_out_only_what_is_too_long(self):
        document = self.json("compare", "all_reduce", *STAR, "--bytes", "1M", "--max-transfers", "50")
        self.assertEqual({row["algorithm"] for row in document["rows"]},
                         {"naive", "tree", "double-tree", "recursive-doubling", "halving-doubling"})
        self.assertIn({"algorithm": "ring", "reason": "needs 112 transfers, more than --max-transfers allows"},
                      document["not_simulated"])

    def test_what_does_not_fit_is_left_out(self):
        document = self.json("compare", "all_reduce", *STAR, "--bytes", "100000TB", "--algorithms", "naive,ring",
                             "--verify")
        # 14 eighths of 10^17 bytes, and 14 messages.
        self.assertEqual([(row["algorithm"], row["time_ps"]) for row in document["rows"]],
                         [("ring", 14 * (10**17 // 8 * PS_PER_BYTE + LATENCY_PS))])
        self.assertEqual(document["not_simulated"],
                         [{"algorithm": "naive",
                           "reason": "the run leaves the range of exact arithmetic: a transfer takes longer than "
                                     "106 days of simulated time"}])

    def test_verify(self):
        for row in self.rows("compare", "all_to_all", *TWO_NODES, "--bytes", "1M", "--verify"):
            self.assertTrue(row["check"]["ok"])
        self.assertIn("\nVerified: all of them give the right data.\n",
                      self.output("compare", "all_to_all", *TWO_NODES, "--bytes", "1M", "--verify"))
        self.assertNotIn("Verified", self.output("compare", "all_to_all", *TWO_NODES, "--bytes", "1M"))

    def test_timing(self):
        words = ["compare", "all_reduce", *STAR, "--bytes", "1M"]
        self.assertTrue(all("run_info" in row for row in self.rows(*words, "--timing")))
        self.assertFalse(any("run_info" in row for row in self.rows(*words)))
        self.assertRegex(self.output(*words, "--timing"), r"\nSimulated in [\d.]+ s: ")

    def test_csv_says_on_stderr_what_is_left_out(self):
        words = ["compare", "all_reduce", *STAR, "--bytes", "1M", "--format", "csv"]
        self.assertEqual(self.run_program(*words).stderr,
                         "not simulated: hierarchical: needs ranks on more than one node, and all are "
                         "on one\n")
        self.assertEqual(self.run_program(*words, "--quiet").stderr, "")


class Verdict(program.Case):
    def verdict(self, *words):
        text = self.output("compare", *words)
        return re.split(r"\n\n", text)[2].split("\n")

    def test_who_wins_by_how_much_and_why(self):
        # Naive all-gather is 8.97 times as slow as the ring: 21.14 to 2.356 ms.
        self.assertEqual(self.verdict("all_gather", *STAR, "--bytes", "128MiB", "--algorithms", "naive,ring"),
                         ["ring is best: 2.356 ms, 8.97 times as fast as naive.",
                          "Its time: 99.7 % wire on link, 0.3 % latency on link.",
                          # What a GPU must receive: 7 blocks of 16 MiB at 20 ps a byte.
                          "No algorithm can take less than 2.349 ms here (gpu cut at gpu0).", ""])

    def test_against_the_next_and_naive(self):
        # Two rounds of latency less, of 37.6 ms: 12 us.
        direct = 2 * (7 * GIB // 8 * PS_PER_BYTE + LATENCY_PS)
        halving = 14 * GIB // 8 * PS_PER_BYTE + 6 * LATENCY_PS
        percent = 100 * (halving - direct) / halving
        line = self.verdict("all_reduce", *STAR, "--bytes", "1GiB")[0]
        self.assertEqual(line, f"direct is best: 37.58 ms, {percent:.2g} % quicker than halving-doubling "
                               "and 8.00 times as fast as naive.")

    def test_ignored_contention(self):
        words = ["compare", "all_to_all", *STAR, "--bytes", "1M", "--network-model", "ideal", "--algorithms"]
        text = self.output(*words, "direct")
        self.assertIn('\n  note: transfers overlapped on links, which the network model "ideal" ignores: the time is too '
                      'short; "flow" shares the links\n', text)
        # Seven blocks of 2^17 bytes leave each GPU at 20 ps a byte: 18.35 us.
        self.assertIn("\nWith links shared as they are, no algorithm can take less than 18.35 us here (gpu cut at gpu0); "
                      "this run ignores it.\n", text)
        self.assertIn("\n  note: direct: transfers overlapped on links", self.output(*words, "direct,pairwise"))

    def test_programs_of_nccl_beside_ours(self):
        words = ["compare", "all_reduce", "--cluster", "dgx-h100", "--bytes", "1GiB", "--algorithms"]
        document = self.json(*words, "ring,nvls,nccl-ring,nvls-tree")
        rows = {row["algorithm"]: row for row in document["rows"]}
        self.assertEqual(set(rows), {"ring", "nvls", "nccl-ring"})
        times = [row["time_ps"] for row in document["rows"]]
        self.assertEqual(times, sorted(times))
        # What each is alone, with the cluster's parameters; ours have none.
        for name, row in rows.items():
            alone = self.row("run", *words[1:6], "--algorithm", name)
            self.assertEqual(row["time_ps"], alone["time_ps"])
            self.assertEqual(row["parameters"]["name"], alone["parameters"]["name"])
        self.assertEqual(document["not_simulated"],
                         [{"algorithm": "nvls-tree",
                           "reason": "NCCL would not run this here: NVLSTree Simple: NVLSTree needs several nodes"}])
        text = self.output(*words, "ring,nvls", "--verify")
        self.assertIn("\n  note: NCCL's programs pay what their kernels cost, where there are parameters; the others "
                      "have the wire alone\n", text)
        self.assertIn("\nVerified: all of them give the right data.\n", text)

    def test_options_that_only_nccl_has_a_use_for(self):
        self.refused(["compare", "all_reduce", *STAR, "--bytes", "1M", "--algorithms", "ring", "--env", "NCCL_ALGO=Ring"],
                     "error: --env: has no effect: none of the algorithms is one of NCCL's\nhint: --algorithms nccl,…")

    def test_one_alone(self):
        self.assertEqual(self.verdict("send_recv", *MESH, "--bytes", "1K", "--ranks", "2")[0],
                         "direct takes 1.02 us; nothing else was simulated.")

    def test_nothing_to_send(self):
        self.assertEqual(self.verdict("all_reduce", *STAR, "--bytes", "0")[0], "Nothing has to be sent: it takes no time.")


program.main()
