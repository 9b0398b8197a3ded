#!/usr/bin/env bash
# From a fresh clone to the first result: installs packages, builds, compares algorithms on two clusters.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bash tools/setup.sh build
echo "== building (preset release)"
cmake --preset release >/dev/null
cmake --build --preset release --target collsim

collsim=build/release/tools/collsim
show() {
  printf '\n$ %s %s\n' "$collsim" "$*"
  "$collsim" "$@"
}

echo
echo "== 1. A textbook star: 8 hosts on one switch, nothing but links"
show compare all_reduce --cluster textbook-star --bytes 1GiB
show compare all_gather --cluster textbook-star --bytes 128MiB
echo
echo "== 2. Four DGX H100 nodes: NVLink inside a node, eight 400 Gb/s NICs out of it"
show compare all_reduce --cluster dgx-h100-x4 --bytes 1GiB
show compare all_gather --cluster dgx-h100-x4 --bytes 128MiB

cat <<TEXT

What this shows: on the star, naive is eight times slower than ring and direct at all-reduce, because all data cross the
root's one link while the others idle; the good ones keep every link busy and reach the lower bound. Across nodes, what
counts is how many bytes leave each node and through how many NICs: hierarchical reduces over NVLink first and then uses all
eight NICs at once, so it beats the ring, which leaves a node through a single one, by a factor of five.

What to try next:
  $collsim compare all_reduce --cluster textbook-star --bytes 8KiB                   # small messages: steps count, not bytes
  $collsim run all_reduce --cluster dgx-h100-x4 --bytes 1GiB --algorithm ring        # where the time goes
  $collsim perf all_reduce --cluster dgx-h100 -b 1K -e 1G -f 4 -g 8                  # the table of nccl-tests
  $collsim list clusters                                                             # what else there is; docs/tutorial.md
TEXT
