#include "tools/render_host_cluster.hpp"

#include <fmt/format.h>

#include "tools/format_text.hpp"

namespace collsim {

namespace {

double gigabytes(Bandwidth bandwidth) {
  constexpr double giga = 1e9;
  return static_cast<double>(bandwidth.units()) / Bandwidth::units_per_byte_per_second / giga;
}

double nanoseconds(Duration time) { return static_cast<double>(time.count()) / 1e3; }

}  // namespace

std::string render_host_cluster(const HostFigures& figures, const MachineFacts& facts) {
  const char* const turns =
      figures.ranks > facts.cores ? "; ranks take turns, as they are more than cores" : "";
  std::string text = fmt::format(
      "# This machine as `collsim measure --calibrate-host --ranks {}` found it: {}, {}, {}.\n"
      "# A message is copied into a FIFO and out of it again; all ranks share memory and cores, "
      "which one link\n"
      "# that all messages cross stands for. For programs without a protocol (ring, tree, naive, "
      "…).\n"
      "# Measured besides: {:.2f} GB/s for one thread that copies, {} from a ring to a thread that "
      "slept,\n"
      "# {} for a message of 8 bytes between 2 ranks.\n",
      figures.ranks, facts.cpu, facts.kernel, facts.date, gigabytes(figures.copy),
      human_time(figures.wake_up), human_time(figures.fifo));
  text += fmt::format(
      "name: this-host\n"
      "description: {} of the host backend on {}\n"
      "gpus: {}\n"
      "node:\n"
      "  devices:\n"
      "    - {{ name: written, kind: switch }}\n"
      "    - {{ name: read, kind: switch }}\n"
      "  links:\n",
      counted(figures.ranks, "rank"), facts.host, figures.ranks);
  text += fmt::format(
      "    # measured: send_recv of 4 MiB between 2 ranks.\n"
      "    - {{ from: gpu, to: written, duplex: one-way, bandwidth: {0:.3f} GB/s, latency: 0 ns "
      "}}\n"
      "    # measured: send_recv of all ranks, of 4 MiB (their sum) and of 8 bytes{1}.\n"
      "    - {{ from: written, to: read, duplex: one-way, bandwidth: {2:.3f} GB/s, latency: "
      "{3:.0f} ns }}\n"
      "    - {{ from: read, to: gpu, duplex: one-way, bandwidth: {0:.3f} GB/s, latency: 0 ns }}\n",
      gigabytes(figures.pair), turns, gigabytes(figures.all), nanoseconds(figures.message));
  return text;
}

}  // namespace collsim
