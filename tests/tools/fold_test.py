#!/usr/bin/env python3
"""--fold: what is folded gives the digest of the run of every lane; what cannot be folded says why."""

import itertools

import program


class Fold(program.Case):
    def folded(self, *words):
        """Both runs of a call in which something is folded must have the same digest. Returns the folded one's row;
        None where nothing is."""
        done = self.run_program("run", *words, "--fold", "require", "--format", "json")
        if done.returncode == 2:
            # Nothing can be folded, or there is no such program here: then the run of every lane is refused, too.
            if "--fold: nothing can be folded: " not in done.stderr:
                self.refused(["run", *words, "--fold", "off"], done.stderr.rstrip("\n"))
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        row = program.json.loads(done.stdout)["rows"][0]
        whole = self.row("run", *words, "--fold", "off")
        self.assertEqual(row["result_digest"], whole["result_digest"])
        self.assertEqual(row["transfers"], whole["transfers"])
        self.assertEqual(row["links"], whole["links"])
        self.assertEqual(row["folding"]["mode"], "space")
        self.assertEqual(whole["folding"], {"mode": "none", "evaluated": False, "skipped": None, "reason": "not asked for", "remedy": None})
        self.assertLess(row["folding"]["lanes"]["simulated"], row["folding"]["lanes"]["all"])
        return row

    def test_nccls_programs(self):
        clusters = (["dgx-h100-x4"], ["dgx-h100-superpod", "--set", "nodes=6"], ["dgx-a100-x4"],
                    ["azure-nd-mi300x-v5", "--set", "nodes=2"], ["dgx-h100-x4", "--gpus-per-node", "1"],
                    ["dgx-h100-x4", "--set", "fabric.routing=ecmp"], ["dgx-1v"], ["l40s"],
                    ["dgx-h100-x4", "--set", "fabric.reduction=sharp", "--env", "NCCL_COLLNET_ENABLE=1"])
        calls = (("all_reduce", "nccl-ring"), ("all_reduce", "nccl-tree"), ("all_gather", "nccl-ring"),
                 ("reduce_scatter", "nccl-ring"), ("all_reduce", "nvls"), ("all_reduce", "nvls-tree"), ("all_gather", "pat"),
                 ("all_gather", "nvls"), ("reduce_scatter", "nvls"), ("all_to_all", "nccl-p2p"), ("send_recv", "nccl-p2p"),
                 ("broadcast", "nccl-ring"))
        cases = list(itertools.product(clusters, calls))
        chosen = program.sample(cases, 5)  # which meets every cluster and every call
        folded = 0
        for cluster, (collective, algorithm) in chosen:
            words = [collective, "--cluster", *cluster, "--algorithm", algorithm, "--bytes", "3MiB"]
            with self.subTest(words):
                folded += self.folded(*words) is not None
        self.assertGreater(folded, 20 * len(chosen) // len(cases))

    def test_trees_in_ll(self):
        # A rank's launch depends on the threads of its first lane, which the lanes of a tree have different numbers of: so
        # the two trees are not each other's mirror image. Whatever else is alike must have the digest of all lanes.
        for words in (["--cluster", "dgx-b200", "--gpus-per-node", "2", "--bytes", "512K"],
                      ["--cluster", "azure-nd-h100-v5", "--nodes", "8", "--bytes", "1000000"],
                      ["--cluster", "dgx-a100-superpod", "--set", "nodes=16", "--bytes", "64K"]):
            words = ["all_reduce", "--algorithm", "nccl-tree", "--protocol", "LL", *words]
            with self.subTest(words):
                self.folded(*words)

    def test_steady_states(self):
        # Loops of NVLS repeat each other after a while; not all are whole.
        skipped = 0
        clusters = (["dgx-h100"], ["dgx-h100-x4"], ["dgx-h100-superpod", "--set", "nodes=6"],
                    ["dgx-h100-x4", "--set", "fabric.routing=ecmp"], ["dgx-h100-x4", "--gpus-per-node", "4"],
                    ["dgx-h100-x4", "--set", "fabric.link.bandwidth=100 Gb/s"])
        for cluster in program.sample(clusters, 4):
            for algorithm in "nvls", "nvls-tree":
                words = ["run", "all_reduce", "--cluster", *cluster, "--algorithm", algorithm, "--bytes", "1500MB"]
                with self.subTest(words):
                    done = self.run_program(*words, "--format", "json")
                    if done.returncode == 2:
                        continue
                    row = program.json.loads(done.stdout)["rows"][0]
                    whole = self.row(*words, "--fold", "off")
                    self.assertIsNone(whole["folding"]["skipped"])
                    for key in "result_digest", "transfers", "links", "attribution", "time_ps":
                        self.assertEqual(row[key], whole[key], key)
                    if row["folding"]["skipped"] is not None:
                        self.assertGreater(row["folding"]["skipped"]["periods"], 0)
                        self.assertLess(row["events"], whole["events"])
                        skipped += 1
        self.assertGreater(skipped, 0 if program.sanitized else 4)

    def test_groups_side_by_side_and_calls_back_to_back(self):
        words = ["all_reduce", *program.TWO_NODES, "--set", "nodes=8", "--bytes", "1MiB", "--algorithm", "ring",
                 "--groups", "dp=8"]
        row = self.folded(*words)
        # Four groups of one GPU a node, which share the nodes' NICs: one lane each.
        self.assertEqual(row["folding"]["lanes"], {"all": 32, "simulated": 4})
        perf = ["perf", "all_reduce", *program.TWO_NODES, "--set", "nodes=8", "--algorithm", "ring", "-b", "1M", "-e", "1M"]
        require, off = (self.rows(*perf, "--fold", fold) for fold in ("require", "off"))
        self.assertEqual([row["result_digest"] for row in require], [row["result_digest"] for row in off])

    def test_a_hundred_thousand_gpus(self):
        words = ["run", "all_reduce", *program.STAR, "--set", "gpus=131072", "--bytes", "1GiB", "--algorithm", "ring"]
        row = self.row(*words)
        self.assertEqual(row["folding"]["lanes"], {"all": 131072, "simulated": 1})
        # 2 (n - 1) steps of 8 KiB.
        step = 8192 * program.PS_PER_BYTE + program.LATENCY_PS
        self.assertEqual(row["time_ps"], 2 * 131071 * step)
        self.assertEqual(row["transfers"], 131072 * 2 * 131071)
        self.refused([*words, "--fold", "off"],
                     "error: --max-transfers: the simulation needs 34,359,476,224 transfers, more than 1,000,000,000\n"
                     "hint: fewer --channels, --chunks or iterations, a subset of the GPUs with --ranks, another "
                     "--algorithm, or a higher limit")

    def test_what_is_shown(self):
        words = ["run", "all_reduce", *program.STAR, "--bytes", "1MiB", "--algorithm", "ring", "--fold", "require"]
        self.assertIn("\n  folded     1 of 8 lanes simulated, the others do the same\n", self.output(*words))
        self.assertEqual(self.csv(*words)[0]["folded_lanes"], "1")
        self.assertEqual(self.csv(*words[:-2])[0]["folded_lanes"], "")
        self.assertEqual(self.row(*words[:-2])["folding"],
                         {"mode": "none", "evaluated": False, "skipped": None, "reason": "a run of so few transfers is over before it could be folded",
                          "remedy": None})

    def test_what_cannot_be_folded(self):
        star = ["run", "all_reduce", *program.STAR, "--algorithm", "ring", "--fold", "require"]
        self.refused([*star, "--bytes", "1000"],
                     "error: --fold: nothing can be folded: no two lanes do the same over paths that are alike")
        self.refused([*star, "--bytes", "1MiB", "--critical-path"],
                     "error: --fold: nothing can be folded: the critical path names every rank on it")
        self.refused([*star, "--bytes", "1MiB", "--trace", "t.json"],
                     "error: --fold: nothing can be folded: a trace shows every lane")
        self.refused(["run", "all_reduce", "--cluster", "dgx-h100-superpod", "--set", "fabric.routing=ecmp", "--bytes",
                      "1GiB", "--algorithm", "ring", "--nodes", "40", "--fold", "require"],
                     "error: --fold: nothing can be folded: no two lanes do the same over paths that are alike, "
                     "as hashed ones rarely are\n"
                     "hint: --set fabric.routing=static, and a size that leaves equal chunks")
        # Of several runs, which one.
        self.refused(["compare", "all_reduce", *program.STAR, "--bytes", "1000", "--algorithms", "ring", "--fold", "require"],
                     "error: --fold: ring: nothing can be folded: no two lanes do the same over paths that are alike")
        self.refused(["compare", "all_reduce", "--cluster", "l40s", "--bytes", "1MiB", "--algorithms", "nccl-tree", "--fold",
                      "require"],
                     "error: --fold: nccl-tree: nothing can be folded: messages go through the memory of hosts, which "
                     "connections share one by one")
        self.refused(["perf", "all_reduce", *program.STAR, "--algorithm", "ring", "-b", "1000", "-e", "1000", "--fold",
                      "require"],
                     "error: --fold: 1000 B by ring: nothing can be folded: no two lanes do the same over paths that are "
                     "alike")
        self.refused([*star[:-1], "some", "--bytes", "1MiB"],
                     'error: --fold: unknown word "some"; expected auto, off or require')



program.main()
