"""The picosecond values that the model must give, each derived by hand."""

import program
from program import LATENCY_PS, MESH, PS_PER_BYTE, STAR


class ExactValues(program.Case):
    def time(self, *words):
        return self.row("run", *words)["time_ps"]

    def test_ring_all_reduce(self):
        # 14 rounds, an eighth of the data each.
        expected = 14 * (2**27 * PS_PER_BYTE + LATENCY_PS)
        self.assertEqual(expected, 37594963840)
        self.assertEqual(self.time("all_reduce", "--bytes", "1GiB", "--cluster", "textbook-mesh-8",
                                   "--network-model", "ideal", "--algorithm", "ring"), expected)
        # Each link carries one message at a time, so sharing changes nothing.
        self.assertEqual(self.time("all_reduce", "--bytes", "1GiB", "--cluster", "textbook-star-8",
                                   "--algorithm", "ring"), expected)

    def test_naive_all_reduce(self):
        # The root's link carries 7 GiB in, then 7 GiB out.
        expected = 2 * (7 * 2**30 * PS_PER_BYTE + LATENCY_PS)
        self.assertEqual(expected, 300649710720)
        self.assertEqual(self.time("all_reduce", "--bytes", "1GiB", "--cluster", "textbook-star-8",
                                   "--algorithm", "naive"), expected)

    def test_naive_all_gather(self):
        # 7 blocks in, then the whole buffer to each of 7 peers.
        expected = (7 * 2**24 * PS_PER_BYTE + LATENCY_PS) + (7 * 2**27 * PS_PER_BYTE + LATENCY_PS)
        self.assertEqual(expected, 21141292160)
        self.assertEqual(self.time("all_gather", "--bytes", "128MiB", "--cluster", "textbook-star-8",
                                   "--algorithm", "naive"), expected)

    def test_ring_all_gather(self):
        expected = 7 * (2**24 * PS_PER_BYTE + LATENCY_PS)
        self.assertEqual(expected, 2355810240)
        self.assertEqual(self.time("all_gather", "--bytes", "128MiB", "--cluster", "textbook-star-8",
                                   "--algorithm", "ring"), expected)

    def test_tree_broadcast(self):
        # The root has three children and sends to them one after another; the last arrives last.
        expected = 3 * 2**20 * PS_PER_BYTE + LATENCY_PS
        self.assertEqual(expected, 63914560)
        self.assertEqual(self.time("broadcast", "--bytes", "1MiB", *MESH, "--ranks", "5",
                                   "--network-model", "ideal", "--algorithm", "tree"), expected)

    def test_bruck_all_gather(self):
        # Rounds of 1, 2 and 1 blocks.
        expected = 4 * 2**20 * PS_PER_BYTE + 3 * LATENCY_PS
        self.assertEqual(expected, 86886080)
        self.assertEqual(self.time("all_gather", "--bytes", "5MiB", *MESH, "--ranks", "5",
                                   "--network-model", "ideal", "--algorithm", "bruck"), expected)

    def test_halving_doubling_all_reduce(self):
        # A half, a quarter, an eighth; and back.
        expected = 2 * ((2**19 + 2**18 + 2**17) * PS_PER_BYTE + 3 * LATENCY_PS)
        self.assertEqual(expected, 42700160)
        self.assertEqual(self.time("all_reduce", "--bytes", "1MiB", "--cluster", "textbook-mesh-8",
                                   "--network-model", "ideal", "--algorithm", "halving-doubling"),
                         expected)

    def test_direct_all_reduce(self):
        # Two rounds of 7 messages at once through each GPU's link.
        expected = 2 * (7 * 2**17 * PS_PER_BYTE + LATENCY_PS)
        self.assertEqual(expected, 38700160)
        self.assertEqual(self.time("all_reduce", "--bytes", "1MiB", *STAR, "--algorithm", "direct"),
                         expected)


program.main()
