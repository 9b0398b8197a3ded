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

What this shows: with large messages the naive algorithms lose because all data crosses the root's one link, while ring
and direct keep every link busy and come close to the lower bound. Between nodes the NICs are what counts, so the best
algorithm is the one that sends the fewest bytes through each of them, not the one with the fewest steps.

What to try next:
  $collsim compare all_reduce --cluster textbook-star --bytes 8KiB    # small messages: steps count, not bytes
  $collsim explain all_reduce --cluster dgx-h100-x4 --bytes 1GiB      # where the time goes
  $collsim list clusters                                              # what else there is
  $collsim --help
  bash tools/test.sh                                                  # all tests
TEXT
