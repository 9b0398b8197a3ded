#!/usr/bin/env bash
# Fits the shipped sets of cost parameters to the measured tables in configs/measurements, from the nominal sets:
#   bash tools/fit_parameters.sh
set -euo pipefail
cd "$(dirname "$0")/.."

collsim="${COLLSIM:-build/release/tools/collsim}"
sets=configs/parameters

# fit NAME START DESCRIPTION CLUSTER=TABLES…
fit() {
  local name="$1" start="$2" description="$3"
  shift 3
  local tables=()
  for table in "$@"; do
    tables+=(--measurements "$table")
  done
  echo "== $name"
  "$collsim" calibrate "${tables[@]}" --start "$start" --leave-out none \
    --description "$description, fitted to measured tables" --output "$sets/$name.yaml"
  "$collsim" calibrate "${tables[@]}" --start "$start" --leave-out none --tier generation \
    --description "$description, a few values fitted, the rest by rule" --output "$sets/$name-generation.yaml"
}

fit nccl-ampere nccl-ampere-nominal "NCCL's kernels on A100" dgx-a100=a100-sxm-aic
fit nccl-hopper nccl-hopper-nominal "NCCL's kernels on Hopper" dgx-h100=h100-sxm-aic
fit nccl-blackwell nccl-blackwell-nominal "NCCL's kernels on Blackwell" dgx-b200=b200-sxm-aic gb200-nvl72=gb200-aic
