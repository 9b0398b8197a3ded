#!/usr/bin/env bash
# Installs packages, builds everything, runs all tests:
#   bash tools/test.sh [--preset release|dev|asan|tsan] [options of ctest, such as -R ring]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=release
if [[ "${1:-}" == --preset ]]; then
  preset="${2:?--preset needs a name}"
  shift 2
fi

bash tools/setup.sh test
echo "== building (preset $preset)"
configured="$(cmake --preset "$preset" -DCOLLSIM_TESTS=ON)"
grep "CUDA backends" <<<"$configured"
cmake --build --preset "$preset"
echo "== testing (preset $preset)"
ctest --preset "$preset" --parallel "$(nproc)" "$@"
