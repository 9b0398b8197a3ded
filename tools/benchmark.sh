#!/usr/bin/env bash
# Writes docs/performance.md: what whole commands and the engine take on this machine, in ten minutes at most. Run it when nothing else runs:
#   bash tools/benchmark.sh
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh build
cmake --preset release -DCOLLSIM_TESTS=AUTO >/dev/null
cmake --build --preset release --target collsim
python3 tools/benchmark.py --collsim build/release/tools/collsim
