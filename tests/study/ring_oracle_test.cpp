// NCCL's rings on the engine against closed forms of the same costs: a second derivation, of the steps
// of one rank, where all ranks and channels do the same at the same time.
//
// Where blocks are even, channels have equal parts and one loop does, engine and form agree to the
// rounding of single times. Elsewhere they need not, and the cases say why.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithms/nccl/slices.hpp"
#include "tests/catch.hpp"
#include "tests/study/oracle.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// What a form is of: n ranks that do a ring, with what NCCL makes of the call.
struct RingCase {
  FormTerms terms;
  const nccl::Execution& execution;
  std::uint32_t ranks = 0;

  [[nodiscard]] double time(CostItem item) const { return terms.time(item); }
  [[nodiscard]] double rate(CostItem item) const { return terms.rate(item); }
  [[nodiscard]] double link() const { return terms.link(CostItem::ShareNvlink); }
  [[nodiscard]] double channels() const { return static_cast<double>(execution.work.size()); }
  /// Elements of a chunk, where one loop does.
  [[nodiscard]] std::int64_t chunk() const {
    const std::int64_t part = execution.work.front().count;
    return execution.call.blocked() ? part : part / ranks;
  }
  [[nodiscard]] double chunk_bytes() const { return static_cast<double>(chunk()) * 4; }
};

enum class Does { Copy, Reduce };

/// The primitives that send, in order. All-reduce sends own data, reduces it on its way round, and
/// copies the result on its second way; reduce-scatter stops there, all-gather begins there.
std::vector<Does> sends_of(CollectiveKind kind, std::uint32_t ranks) {
  std::vector<Does> sends{Does::Copy};
  if (kind != CollectiveKind::AllGather) {
    const std::uint32_t reducing = kind == CollectiveKind::AllReduce ? ranks - 1 : ranks - 2;
    sends.insert(sends.end(), reducing, Does::Reduce);
  }
  if (kind != CollectiveKind::ReduceScatter) {
    sends.insert(sends.end(), ranks - 2, Does::Copy);
  }
  return sends;
}
Does last_of(CollectiveKind kind) {
  return kind == CollectiveKind::ReduceScatter ? Does::Reduce : Does::Copy;
}

/// What blocks like these pay of synchronisation and hand-off: the rest is saved in proportion to the threads
/// and to 1 + log2(channels), rounded down, that 512 and 16 are above them.
double wide_part(const RingCase& of) {
  const double threads = std::clamp((of.execution.threads - 128) / 384.0, 0.0, 1.0);
  const double doublings = std::min(1 + std::floor(std::log2(of.channels())), 5.0);
  return 1 - of.terms.share(CostItem::SimpleNarrowSaving) * (1 - threads * doublings / 5);
}

/// Simple: a chunk is two slices. Slice 1 is sent in s1 and seen L later, when the neighbour can start
/// on it, unless that still sends its own slice 2; so with equal slices a primitive lasts s + max(s, L).
/// `behind` is how long after slice 1 slice 2 is there.
double simple_ring(const RingCase& of) {
  const double sends_at = std::min(
      of.rate(CostItem::SimpleChannelRate) * of.execution.threads / 512, of.link() / of.channels());
  const double takes_at = of.rate(CostItem::SimpleLocalRate) * of.execution.threads / 512;
  const double wide = wide_part(of);
  const double hand_off = wide * of.time(CostItem::SimpleHandoffNvlink) + of.terms.latency();
  const auto slice = [&](int index, Does what, double rate) {
    const std::int64_t count = nccl::slice_of(of.execution, of.chunk(), index).count;
    return wide * of.time(what == Does::Copy ? CostItem::SimpleSliceCopy
                                             : CostItem::SimpleSliceReduce) +
           static_cast<double>(count) * 4 / rate;
  };
  double time = of.time(CostItem::LaunchCollective);
  double behind = 0;
  for (const Does what : sends_of(of.execution.call.kind, of.ranks)) {
    const double first = slice(0, what, sends_at);
    const double both = std::max(first, behind) + slice(1, what, sends_at);
    const double lasts = std::max(both, first + hand_off);
    behind = both + hand_off - lasts;
    time += lasts;
  }
  const Does last = last_of(of.execution.call.kind);
  return time + std::max(slice(0, last, takes_at), behind) + slice(1, last, takes_at);
}

/// LL: 8 bytes a thread and pass, the first pass free; hops of wide blocks cost more. The hop and the
/// wire, with twice the bytes, overlap.
double ll_ring(const RingCase& of) {
  const double q = std::clamp((of.execution.threads - 128) / 384.0, 0.0, 1.0);
  const double more = of.channels() > 1 ? 1 : 0;
  const double passes = std::ceil(of.chunk_bytes() / (8.0 * of.execution.threads)) - 1;
  const double wire = 2 * of.chunk_bytes() / (of.link() / of.channels());
  double time =
      of.time(CostItem::LaunchCollective) + (0.4 * q + 0.6 * more) * of.time(CostItem::LLStart);
  for (const Does what : sends_of(of.execution.call.kind, of.ranks)) {
    const bool copy = what == Does::Copy;
    const double wide = of.time(copy ? CostItem::LLWideCopy : CostItem::LLWideReduce);
    const double pass = of.time(copy ? CostItem::LLPassCopy : CostItem::LLPassReduce);
    time += (0.75 * std::pow(q, 1.5) + 0.25 * more) * wide + of.terms.latency() +
            std::max(passes * pass + of.time(CostItem::LLHopNvlink), wire);
  }
  const bool copy = last_of(of.execution.call.kind) == Does::Copy;
  return time + passes * of.time(copy ? CostItem::LLPassCopy : CostItem::LLPassReduce);
}

/// LL128: every primitive moves its chunk at one rate; hops in addition.
double ll128_ring(const RingCase& of) {
  const double gpu = of.rate(CostItem::LL128GpuRate);
  const double sends_at = std::min(gpu, of.link() * 15 / 16) / of.channels();
  const auto hops = static_cast<double>(sends_of(of.execution.call.kind, of.ranks).size());
  return of.time(CostItem::LaunchCollective) + of.time(CostItem::LL128Start) +
         hops * (of.chunk_bytes() / sends_at + of.terms.latency() +
                 of.time(CostItem::LL128HopNvlink)) +
         of.chunk_bytes() / (gpu / of.channels());
}

double form_of(const RingCase& of) {
  switch (of.execution.protocol) {
    case nccl::Protocol::LL:
      return ll_ring(of);
    case nccl::Protocol::LL128:
      return ll128_ring(of);
    case nccl::Protocol::Simple:
      break;
  }
  return simple_ring(of);
}

/// So many GPUs of a DGX H100, whose rings have so many channels at most.
NcclMachine machine_of(std::uint32_t ranks, int channels) {
  nccl::Configuration configuration;
  configuration.max_channels = channels;
  NcclMachine machine("dgx-h100", 1, ranks, closed_form_costs, configuration);
  machine.costs().set(CostItem::SimpleUnevenness, {0, CostSource::Estimate});
  return machine;
}

struct Compared {
  double engine;
  double form;
};

Compared compared(const NcclMachine& machine, CollectiveKind kind, nccl::Protocol protocol,
                  Bytes size) {
  const CollectiveCall call = machine.call(kind, size);
  NcclWish wish;
  wish.algorithm = nccl::Algorithm::Ring;
  wish.protocol = protocol;
  const nccl::Execution execution =
      execution_by_name(machine, call, nccl::Algorithm::Ring, protocol);
  const RingCase of{FormTerms(machine), execution, machine.ranks()};
  CAPTURE(name_of(kind), nccl::name(protocol), size.count(), execution.work.size());
  // What the forms ask for: equal parts, one loop.
  REQUIRE(execution.work.front().count == execution.work.back().count);
  REQUIRE(of.chunk() <= execution.work.front().chunk);
  return {microseconds(machine.run(machine.program(call, wish).program).time), form_of(of)};
}

constexpr std::array kinds{CollectiveKind::AllReduce, CollectiveKind::AllGather,
                           CollectiveKind::ReduceScatter};

}  // namespace

TEST_CASE("rings of one loop take what the closed forms say, to rounding") {
  const auto ranks = GENERATE(as<std::uint32_t>{}, 2, 4, 8);
  // 1 and 8 channels cannot fill a link, 16 can.
  const auto channels = GENERATE(1, 8, 16);
  const auto protocol = GENERATE(nccl::Protocol::LL, nccl::Protocol::LL128, nccl::Protocol::Simple);
  const NcclMachine machine = machine_of(ranks, channels);
  for (const CollectiveKind kind : kinds) {
    // Up to a chunk of 32 KiB of LL, 512 KiB of the others, on every channel.
    const Bytes chunk = protocol == nccl::Protocol::LL ? 32_KiB : 512_KiB;
    for (Bytes size = 4_KiB; size <= chunk * (ranks * static_cast<std::uint32_t>(channels));
         size = size * 4) {
      const Compared times = compared(machine, kind, protocol, size);
      CAPTURE(ranks, channels, nccl::name(protocol), name_of(kind), size.count());
      // A picosecond for each of up to 30 steps and their transfers.
      CHECK(times.engine == Approx(times.form).margin(1e-4).epsilon(0));
    }
  }
}
