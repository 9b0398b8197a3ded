#include "tools/nccl_tests_table.hpp"

#include <fmt/format.h>

namespace collsim {

namespace {

double microseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

std::string half_row(const PerfTime& half) {
  // nccl-tests prints a literal of seven columns where it does not check.
  const std::string wrong = half.wrong ? fmt::format("  {:>6}", *half.wrong) : "    N/A";
  return fmt::format("  {}  {}  {}{}", nccl_tests_number(microseconds(half.time), 7),
                     nccl_tests_number(half.algbw_GBps, 6), nccl_tests_number(half.busbw_GBps, 6),
                     wrong);
}

std::string host_name(const Graph& graph, DeviceId gpu) {
  return fmt::format("node{}", graph.device(gpu).node.value_or(NodeId(0)).value());
}

std::string device_lines(const PerfHeader& header, const Graph& graph,
                         const std::vector<DeviceId>& gpus, const std::string& cluster) {
  constexpr std::uint32_t first_process = 1000;  // simulated processes have no number: any will do
  std::string text;
  const std::size_t per_process = std::size_t{header.threads} * header.gpus;
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    PerfDevice line;
    line.rank = static_cast<std::uint32_t>(rank);
    line.group = header.group_of.empty() ? 0 : header.group_of[rank];
    line.process = static_cast<std::uint32_t>(first_process + rank / per_process);
    line.host = host_name(graph, gpus[rank]);
    line.device = graph.device(gpus[rank]).number;
    line.name = cluster + " (simulated)";
    text += nccl_tests_device(line);
  }
  return text;
}

/// " nccl-ring           Simple          24"
std::string extra_columns(const std::vector<std::string>& cells) {
  return fmt::format(" {:<18}  {:<8}  {:>8}", cells.at(0), cells.at(1), cells.at(2));
}

}  // namespace

std::string nccl_tests_device(const PerfDevice& line) {
  const std::uint32_t made = line.device + 1;
  const std::string bus =
      line.bus.empty() ? fmt::format("{:04x}:{:02x}:00", made >> 8U, made & 0xffU) : line.bus;
  return fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{}] {}\n", line.rank,
                     line.group, line.process, line.host, line.device, bus, line.name);
}

std::string perf_program_name(CollectiveKind kind) {
  if (kind == CollectiveKind::AllToAll) {
    return "alltoall_perf";
  }
  if (kind == CollectiveKind::SendRecv) {
    return "sendrecv_perf";
  }
  return fmt::format("{}_perf", name_of(kind));
}

bool shows_op(CollectiveKind kind) { return reduces(kind) || kind == CollectiveKind::SendRecv; }

std::string nccl_tests_number(double value, int width) {
  int digits = 0;
  for (std::uint64_t power = 1; digits < 19 && value >= static_cast<double>(power); power *= 10) {
    ++digits;
  }
  if (digits < width - 2) {
    return fmt::format("{:{}.2f}", value, width);
  }
  if (digits < width - 1) {
    return fmt::format("{:{}.1f}", value, width);
  }
  if (digits < width + 1) {
    return fmt::format("{:{}.0f}", value, width);
  }
  return width >= 7 ? fmt::format("{:{}.1e}", value, width) : fmt::format("{:{}.0e}", value, width);
}

std::string nccl_tests_header(const PerfHeader& header, const Graph& graph,
                              const std::vector<DeviceId>& gpus, const std::string& cluster) {
  return nccl_tests_header(header, "simulated", device_lines(header, graph, gpus, cluster));
}

std::string nccl_tests_header(const PerfHeader& header, const std::string& how,
                              const std::string& devices) {
  std::string text =
      fmt::format("# nccl-tests version 2.19.6 nccl-headers=0 nccl-library=0 {} by collsim {}\n",
                  how, COLLSIM_VERSION);
  text += fmt::format("# Collective test starting: {}\n", perf_program_name(header.kind));
  text += fmt::format(
      "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} "
      "agg iters: 1 validation: {} graph: {} unalign: 0\n",
      header.threads, header.gpus, header.min.count(), header.max.count(), header.step,
      header.step_is_factor ? "factor" : "bytes", header.warmup, header.iterations, header.check,
      header.graph);
  for (const std::string& note : header.notes) {
    text += "# " + note + "\n";
  }
  text += "#\n# Using devices\n";
  text += devices;
  text += "#\n";
  const std::string blank =
      fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", "", "", "", "", "");
  text += blank + "           out-of-place                       in-place          \n";
  const std::string names =
      fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "time", "algbw", "busbw", "#wrong");
  text +=
      fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{}{} {}\n", "size", "count", "type",
                  "redop", "root", names, names,
                  header.extra_columns ? extra_columns({"algorithm", "protocol", "channels"}) : "");
  const std::string units =
      fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "(us)", "(GB/s)", "(GB/s)", "");
  text += fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{}{} \n", "(B)", "(elements)", "", "",
                      "", units, units);
  return text;
}

std::string nccl_tests_row(const PerfHeader& header, const PerfRow& row) {
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}{}\n", row.size.count(), row.count,
                     name_of(row.type), row.redop, row.root, half_row(row.out_of_place),
                     half_row(row.in_place),
                     header.extra_columns ? " " + extra_columns(row.extra) : "");
}

std::string nccl_tests_footer(const PerfHeader& header, const std::vector<PerfRow>& rows) {
  std::uint64_t wrong = 0;
  double busbw = 0;
  for (const PerfRow& row : rows) {
    wrong += row.out_of_place.wrong.value_or(0) + row.in_place.wrong.value_or(0);
    busbw += row.out_of_place.busbw_GBps + row.in_place.busbw_GBps;
  }
  const double mean = rows.empty() ? 0 : busbw / (2.0 * static_cast<double>(rows.size()));
  return fmt::format(
      "# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g} \n#\n"
      "# Collective test concluded: {}\n#\n\n",
      wrong, wrong == 0 ? "OK" : "FAILED", mean, perf_program_name(header.kind));
}

}  // namespace collsim
