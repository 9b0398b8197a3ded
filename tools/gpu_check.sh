#!/usr/bin/env bash
# Checks and measures the GPU backends on a machine that has GPUs, CUDA 12.8 or later and g++ 12 or later, and needs nothing else:
#   bash tools/gpu_check.sh [--output-dir DIR] [--ranks N] [--seconds N] [--driver PROGRAM]
# Builds the core and the kernels, checks the data of every algorithm on N ranks (8), measures what the simulator's parameters are
# made of, runs NCCL where it is installed, and a memory checker on the smallest programs. Takes 8 minutes at most on 16 cores.
# Writes cuda.json and nccl.json (measurements/1), gpu_figures.json, and gpu_check.log. --driver: one that is built already.
# Ends with 0 where all is right, 1 where something is not, 2 where something is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

output=build/gpu_check/results
ranks=8
seconds=270
driver=
while (($# > 0)); do
  case "$1" in
    --output-dir) output="${2:?$1 needs a folder}" ;;
    --ranks) ranks="${2:?$1 needs a number}" ;;
    --seconds) seconds="${2:?$1 needs a number}" ;;
    --driver) driver="${2:?$1 needs a program}" ;;
    *)
      echo "gpu_check.sh: no such option: $1" >&2
      exit 2
      ;;
  esac
  shift 2
done

build_driver() {
  local objects=build/gpu_check nvcc arch=90
  nvcc="$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)"
  if [[ ! -x "$nvcc" ]]; then
    echo "gpu_check.sh: nvcc is missing: neither on PATH nor in /usr/local/cuda/bin" >&2
    exit 2
  fi
  if command -v nvidia-smi >/dev/null; then
    arch="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -dc 0-9 || true)"
  fi
  arch="${arch:-90}"
  mkdir -p "$objects"
  echo "== building for sm_$arch with $("$nvcc" --version | grep -o 'release [0-9.]*')"
  local sources=(topology/error.cpp topology/units.cpp kernels/*.cu kernels/*.cpp validate/execution/*.cpp tools/gpu_check/*.cpp)
  local source
  for source in algorithms/*.cpp validate/cuda/*.cpp; do
    case "$source" in
      */bounds*.cpp | */closed_forms*.cpp | */without_cuda.cpp) ;;
      *) sources+=("$source") ;;
    esac
  done
  # The slowest first.
  printf '%s\n' "${sources[@]}" | NVCC="$nvcc" ARCH="$arch" OBJECTS="$objects" xargs -P "$(nproc)" -I{} bash -c '
    set -euo pipefail
    object="$OBJECTS/$(tr / _ <<<"{}").o"
    if [[ "$object" -nt "{}" ]]; then
      exit 0
    fi
    if [[ "{}" == *.cu ]]; then
      "$NVCC" -std=c++20 -O3 -gencode "arch=compute_$ARCH,code=sm_$ARCH" -fmad=false -Xcompiler=-ffp-contract=off \
        --split-compile=0 -I. -c -o "$object.part" {}
    else
      g++ -std=c++20 -O2 -ffp-contract=off -I. -isystem "$(dirname "$NVCC")/../include" -c -o "$object.part" {}
    fi
    mv "$object.part" "$object"'
  driver="$objects/gpu_check"
  local object objects_of=()
  for source in "${sources[@]}"; do
    objects_of+=("$objects/$(tr / _ <<<"$source").o")
  done
  "$nvcc" -o "$driver" "${objects_of[@]}" -lpthread -ldl
}

begun=$SECONDS
if [[ -z "$driver" ]]; then
  build_driver
  echo "== built in $((SECONDS - begun)) s"
fi

mkdir -p "$output"
# Stages end by themselves; the limit is for a kernel that does not.
status=0
timeout $((seconds + 60)) "$driver" --output-dir "$output" --ranks "$ranks" --seconds "$seconds" 2>&1 | tee "$output/gpu_check.log" || status=$?
if ((status != 0 && status != 1)); then
  echo "gpu_check.sh: the check ended with $status" | tee -a "$output/gpu_check.log"
  exit $((status == 2 ? 2 : 1))
fi

sanitizer="$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)"
if [[ -x "$sanitizer" ]]; then
  for tool in memcheck racecheck; do
    echo "== compute-sanitizer, $tool, on the smallest programs"
    timeout 60 "$sanitizer" --tool "$tool" --error-exitcode 3 "$driver" --only smallest --output-dir "$output" \
      >"$output/$tool.log" 2>&1 || echo "$tool ended with $?: see $output/$tool.log"
    tail -n 5 "$output/$tool.log"
  done
else
  echo "compute-sanitizer is missing: not run"
fi
exit "$status"
