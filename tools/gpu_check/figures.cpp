// The micro-benchmarks: each figure with the settings that it was measured with.

#include <array>

#include "kernels/benchmarks.hpp"
#include "kernels/cuda_check.hpp"
#include "tools/gpu_check/stages.hpp"

namespace collsim {

namespace {

using namespace kernels;

constexpr std::array<std::uint32_t, 8> block_counts{1, 2, 4, 8, 16, 32, 64, 128};
/// Larger than the second-level caches of today's GPUs (50 MB), several times.
constexpr std::size_t array_bytes = std::size_t{512} << 20U;

class FigureList {
 public:
  FigureList(const StageLimit& deadline, StageOutcome& stage, std::vector<GpuFigure>& figures)
      : deadline_(deadline), stage_(stage), figures_(figures) {}

  template <class Measure>
  void add(GpuFigure figure, const Measure& measure) {
    if (deadline_.passed()) {
      ++stage_.left_out;
      return;
    }
    try {
      figure.value = measure();
      figures_.push_back(std::move(figure));
      ++stage_.done;
    } catch (const CudaError& error) {
      stage_.failures.push_back(figure.name + ": " + error.what());
    }
  }

 private:
  const StageLimit& deadline_;
  StageOutcome& stage_;
  std::vector<GpuFigure>& figures_;
};

void add_peer_figures(FigureList& list) {
  constexpr int peer = 1;
  for (const std::uint32_t blocks : block_counts) {
    const auto settings = GpuFigure{{}, {{"blocks", blocks}}, 0, "B/s"}.settings;
    list.add({"peer_pull", settings, 0, "B/s"},
             [=] { return peer_rate(PeerWork::Pull, peer, blocks, array_bytes / 4); });
    list.add({"peer_push", settings, 0, "B/s"},
             [=] { return peer_rate(PeerWork::Push, peer, blocks, array_bytes / 4); });
  }
  list.add({"peer_engine_copy", {}, 0, "B/s"}, [] { return peer_engine_rate(peer, array_bytes); });
  list.add({"peer_flag_round_trip_fenced", {}, 0, "ns"},
           [] { return peer_flag_round_trip(FlagKind::Fenced, peer); });
  list.add({"peer_flag_round_trip_line", {}, 0, "ns"},
           [] { return peer_flag_round_trip(FlagKind::Line, peer); });
}

}  // namespace

StageOutcome measure_figures(std::size_t gpus, const StageLimit& deadline,
                             std::vector<GpuFigure>& figures) {
  StageOutcome stage;
  FigureList list(deadline, stage, figures);
  const bool has_peer = gpus > 1 && gpu_of_ranks(2, GpuUse::Peers).back() == 1;
  if (has_peer) {
    enable_peers(2);
  }
  // Programs before this have left another one current.
  COLLSIM_CUDA_CHECK(cudaSetDevice(0));
  list.add({"launch_stream", {}, 0, "ns"}, [] { return launch_time(LaunchBy::Stream); });
  list.add({"launch_graph", {}, 0, "ns"}, [] { return launch_time(LaunchBy::Graph); });
  list.add({"launch_latency_stream", {}, 0, "ns"}, [] { return launch_latency(LaunchBy::Stream); });
  list.add({"launch_latency_graph", {}, 0, "ns"}, [] { return launch_latency(LaunchBy::Graph); });
  list.add({"flag_round_trip_fenced", {}, 0, "ns"},
           [] { return flag_round_trip(FlagKind::Fenced); });
  list.add({"flag_round_trip_line", {}, 0, "ns"}, [] { return flag_round_trip(FlagKind::Line); });
  for (const std::uint32_t blocks : block_counts) {
    // One block alone would take long over the whole array.
    const std::size_t bytes = blocks < 16 ? array_bytes / 8 : array_bytes;
    list.add({"hbm_copy", {{"blocks", blocks}}, 0, "B/s"},
             [=] { return memory_rate(MemoryWork::Copy, blocks, bytes); });
    list.add({"hbm_reduce", {{"blocks", blocks}}, 0, "B/s"},
             [=] { return memory_rate(MemoryWork::Reduce, blocks, bytes); });
  }
  list.add({"engine_copy", {}, 0, "B/s"},
           [] { return engine_rate(EngineCopy::DeviceToDevice, array_bytes); });
  list.add({"host_to_device", {}, 0, "B/s"},
           [] { return engine_rate(EngineCopy::HostToDevice, array_bytes); });
  list.add({"device_to_host", {}, 0, "B/s"},
           [] { return engine_rate(EngineCopy::DeviceToHost, array_bytes); });
  if (has_peer) {
    add_peer_figures(list);
  } else {
    stage.notes.emplace_back("no second GPU whose memory the first can use: no figures of peers");
  }
  return stage;
}

}  // namespace collsim
