// Channels and threads of a collective, the parts of its channels, its chunks.

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/nccl/chunk_size.hpp"
#include "algorithms/nccl/launch_shape.hpp"
#include "algorithms/nccl/work_split.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

using test::h100;
using test::ReferenceMachine;

using A = Algorithm;
using F = Function;
using P = Protocol;

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = kib * 1024;
constexpr std::int64_t gib = mib * 1024;

std::string shape(const ReferenceMachine& machine, A algorithm, P protocol, std::int64_t bytes) {
  const LaunchShape result = launch_shape(machine.input(), execution_channels(machine.input()),
                                          algorithm, protocol, static_cast<std::uint64_t>(bytes));
  return std::to_string(result.channels) + " x " + std::to_string(result.threads);
}

/// "0:8192 1:8192", runs of equal parts as "0-22:11264".
std::string parts(const std::vector<ChannelPart>& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size();) {
    std::size_t end = i + 1;
    while (end < list.size() && list[end].count == list[i].count) {
      ++end;
    }
    text += (text.empty() ? "" : " ") + std::to_string(list[i].channel);
    if (end - i > 1) {
      text += "-" + std::to_string(list[end - 1].channel);
    }
    text += ":" + std::to_string(list[i].count);
    i = end;
  }
  return text;
}

std::string split(const SplitTask& task, int ranks, int limit) {
  const std::vector<SplitTask> tasks{task};
  return parts(split_work(tasks, ranks, limit).front());
}

Chunk chunk(const ReferenceMachine& machine, const ChunkRequest& request) {
  return chunk_size(machine.input(), tune(machine.input()), request);
}

std::int64_t chunk_bytes(const ReferenceMachine& machine, A algorithm, P protocol,
                         std::int64_t bytes, int channels = 1, F function = F::AllReduce) {
  return chunk(machine,
               {function, algorithm, protocol, static_cast<std::uint64_t>(bytes), channels})
      .bytes;
}

}  // namespace

// A table of what NCCL 2.28.9 takes, for 24 channels and 8 ranks.
TEST_CASE("launch shape: channels and threads by size") {
  const ReferenceMachine machine = h100(1);
  CHECK(shape(machine, A::Ring, P::LL, kib) == "1 x 96");
  CHECK(shape(machine, A::Ring, P::LL, 64 * kib) == "2 x 512");
  CHECK(shape(machine, A::Ring, P::LL, mib) == "24 x 512");
  CHECK(shape(machine, A::Ring, P::LL128, 4 * mib) == "24 x 640");
  CHECK(shape(machine, A::Ring, P::Simple, 64 * mib) == "24 x 544");
  CHECK(shape(machine, A::Nvls, P::Simple, kib) == "16 x 640");
  CHECK(shape(h100(2), A::Tree, P::LL, 64 * kib) == "16 x 640");
}

TEST_CASE("launch shape: edges of the thresholds") {
  const ReferenceMachine machine = h100(1);
  // 24 channels of 512 threads with 64 B each: 786432 B.
  CHECK(shape(machine, A::Ring, P::Simple, 786432) == "24 x 544");
  CHECK(shape(machine, A::Ring, P::Simple, 786431) == "23 x 544");
  // One channel: 32768 B, then half the threads, down to 64 of them, but never fewer than 96 run.
  CHECK(shape(machine, A::Ring, P::Simple, 32768) == "1 x 544");
  CHECK(shape(machine, A::Ring, P::Simple, 32767) == "1 x 288");
  CHECK(shape(machine, A::Ring, P::Simple, 1) == "1 x 96");
  // 640 threads can be halved once to 320, which 128 does not divide.
  CHECK(shape(machine, A::Ring, P::LL128, 1) == "1 x 320");
}

TEST_CASE("launch shape: slow rings have fewer threads") {
  ReferenceMachine machine = test::pcie4();
  machine.graphs.ring.bandwidth_intra = 12;
  CHECK(max_threads(machine.input(), A::Ring, P::Simple) == 256);
  machine.graphs.ring.bandwidth_intra = 12.5;
  CHECK(max_threads(machine.input(), A::Ring, P::Simple) == 512);
  CHECK(max_threads(machine.input(), A::Tree, P::Simple) == 512);
  CHECK(max_threads(machine.input(), A::Pat, P::Simple) == 0);
}

TEST_CASE("launch shape: variables") {
  ReferenceMachine machine = h100(1);
  machine.set("NCCL_NTHREADS", "256").set("NCCL_LL128_NTHREADS", "320");
  CHECK(shape(machine, A::Ring, P::Simple, gib) == "24 x 288");
  CHECK(shape(machine, A::Ring, P::LL, gib) == "24 x 256");
  CHECK(shape(machine, A::Ring, P::LL128, gib) == "24 x 320");
  CHECK(shape(machine, A::Nvls, P::Simple, gib) == "16 x 640");
  machine = h100(1);
  machine.set("NCCL_THREAD_THRESHOLDS", "-1 16 -1 1 -1 128");
  CHECK(thread_threshold(machine.input(), A::Tree, P::LL) == 8);
  CHECK(thread_threshold(machine.input(), A::Tree, P::LL128) == 16);
  CHECK(thread_threshold(machine.input(), A::Ring, P::LL) == 1);
  CHECK(thread_threshold(machine.input(), A::Ring, P::LL128) == 8);
  CHECK(thread_threshold(machine.input(), A::Ring, P::Simple) == 128);
  CHECK(thread_threshold(machine.input(), A::CollNetChain, P::Simple) == 512);
  CHECK(shape(machine, A::Ring, P::Simple, 1572864) == "24 x 544");
  CHECK(shape(machine, A::Ring, P::Simple, 1572863) == "23 x 544");
}

TEST_CASE("launch shape: NVLS over the network has no more than the collective channels") {
  ReferenceMachine machine = h100(2);
  machine.set("NCCL_MAX_NCHANNELS", "10");
  CHECK(shape(machine, A::Nvls, P::Simple, gib) == "10 x 640");
  CHECK(shape(machine, A::NvlsTree, P::Simple, gib) == "16 x 640");
}

TEST_CASE("launch shape: PAT keeps its channels, CollNetDirect gives up by its heads") {
  CHECK(shape(test::single_h100(4), A::Pat, P::Simple, kib) == "4 x 640");
  ReferenceMachine machine = h100(2);
  test::add_collnet(machine, 8, {});
  // 24 channels, 640 threads, 8 heads, 512 B: 60 MiB. Fewer: to 16, with half the threshold at 24.
  CHECK(shape(machine, A::CollNetDirect, P::Simple, 60 * mib) == "24 x 640");
  // 23 channels at 256 B a thread need 28.75 MiB.
  CHECK(shape(machine, A::CollNetDirect, P::Simple, 60 * mib - 1) == "23 x 640");
  CHECK(shape(machine, A::CollNetDirect, P::Simple, kib) == "1 x 640");
}

// Figures of NCCL 2.28.9 itself.
TEST_CASE("work split: one collective over its channels") {
  CHECK(split({F::AllReduce, P::LL, mib / 4, 4, 24}, 8, 24) == "0-22:11264 23:3072");
  CHECK(split({F::AllReduce, P::LL128, mib, 4, 24}, 8, 24) == "0-22:45056 23:12288");
  CHECK(split({F::AllReduce, P::Simple, 16 * mib, 4, 24}, 8, 24) == "0-22:700416 23:667648");
  CHECK(split({F::AllReduce, P::Simple, mib, 4, 16}, 8, 16) == "0-15:65536");
  CHECK(split({F::AllReduce, P::LL, 16 * kib, 4, 2}, 8, 24) == "0-1:8192");
  CHECK(split({F::AllGather, P::Simple, 8 * mib, 1, 24}, 8, 24) == "0-22:350208 23:333824");
}

TEST_CASE("work split: a small collective is one part") {
  CHECK(split({F::AllReduce, P::Simple, 1, 4, 1}, 8, 24) == "0:1");
  CHECK(split({F::Broadcast, P::Simple, 4096, 4, 1}, 8, 24) == "0:4096");
  // 16 KiB of traffic a cell: 8192 B of an AllReduce. Two cells on two channels.
  CHECK(split({F::AllReduce, P::Simple, 4096, 4, 2}, 8, 24) == "0-1:2048");
  CHECK(split({F::AllReduce, P::Simple, 2049, 4, 2}, 8, 24) == "0:2048 1:1");
}

TEST_CASE("work split: collectives of a group share channels in turn") {
  // Four of 8 KiB: 16 KiB of traffic each, as much as a channel takes.
  const std::vector<SplitTask> small(4, {F::AllReduce, P::Simple, 2048, 4, 1});
  const auto result = split_work(small, 8, 24);
  CHECK(parts(result[0]) == "0:2048");
  CHECK(parts(result[1]) == "1:2048");
  CHECK(parts(result[3]) == "3:2048");
  // On two channels each takes 32 KiB: two collectives a channel.
  const auto packed = split_work(small, 8, 2);
  CHECK(parts(packed[0]) == "0:2048");
  CHECK(parts(packed[1]) == "0:2048");
  CHECK(parts(packed[2]) == "1:2048");
  CHECK(parts(packed[3]) == "1:2048");
}

TEST_CASE("work split: nothing is lost, whatever the sizes") {
  for (int channels = 1; channels <= 9; ++channels) {
    for (std::int64_t count = 1; count < 400000; count = count * 3 + 1) {
      const std::vector<SplitTask> tasks{{F::AllReduce, P::LL, count, 4, channels},
                                         {F::AllGather, P::Simple, count + 5, 1, channels},
                                         {F::Reduce, P::LL128, count / 2 + 1, 2, channels}};
      const auto result = split_work(tasks, 8, channels);
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        INFO(channels << " channels, " << tasks[i].count << " elements");
        std::int64_t sum = 0;
        int last = -1;
        for (const ChannelPart& part : result[i]) {
          CHECK(part.channel > last);
          CHECK(part.channel < channels);
          CHECK(part.count > 0);
          last = part.channel;
          sum += part.count;
        }
        CHECK(sum == tasks[i].count);
      }
    }
  }
}

// 1 GiB on 24 channels and 8 ranks: 44.7 MB a channel, 16 MiB a pass.
TEST_CASE("chunk size: Ring takes four slots of Simple, one of the others") {
  const ReferenceMachine machine = h100(1);
  CHECK(chunk(machine, {F::AllReduce, A::Ring, P::Simple, 44739243, 1}) == Chunk{2 * mib, 4, 2, 3});
  CHECK(chunk(machine, {F::Broadcast, A::Ring, P::Simple, mib, 1}) == Chunk{512 * kib, 1, 1, 2});
  CHECK(chunk(machine, {F::AllReduce, A::Ring, P::LL, mib, 1}) == Chunk{32 * kib, 1, 1, 4});
  CHECK(chunk_bytes(machine, A::Ring, P::LL128, mib) == 576000);
  CHECK(chunk_bytes(machine, A::Tree, P::Simple, 1) == 512 * kib);
  CHECK(chunk_bytes(machine, A::Tree, P::LL, 1) == 32 * kib);
}

TEST_CASE("chunk size: buffers scale it") {
  ReferenceMachine machine = h100(1);
  machine.set("NCCL_BUFFSIZE", "8388608").set("NCCL_LL_BUFFSIZE", "1048576");
  machine.set("NCCL_LL128_BUFFSIZE", "9830400");
  CHECK(chunk_bytes(machine, A::Ring, P::Simple, gib) == 4 * mib);
  CHECK(chunk_bytes(machine, A::Ring, P::LL, gib) == 64 * kib);
  CHECK(chunk_bytes(machine, A::Ring, P::LL128, gib) == 1152000);
  machine.set("NCCL_BUFFSIZE", "8000");  // slots of 1000 B: down to whole 512 B
  CHECK(chunk_bytes(machine, A::Ring, P::Simple, gib) == 3584);
}

TEST_CASE("chunk size: Tree with LL128") {
  const ReferenceMachine machine = h100(4);
  // m = 1 + log2 4 + 0.8 = 3.8: halved while there are less than 64·3.8/8 = 30.4 chunks above
  // 128 KiB, then less than 7.6 above 32 KiB. 576000 → 72000, 14 chunks; in lines of 1920 B 71040.
  CHECK(chunk_bytes(machine, A::Tree, P::LL128, mib) == 71040);
  CHECK(chunk_bytes(machine, A::Tree, P::LL128, 31 * 576000) == 576000);
  CHECK(chunk_bytes(machine, A::Tree, P::LL128, 31 * 576000 - 1) == 288000);
  CHECK(chunk_bytes(machine, A::Tree, P::LL128, 8 * 72000) == 71040);
  CHECK(chunk_bytes(machine, A::Tree, P::LL128, 8 * 72000 - 1) == 34560);  // of 36000
  CHECK(chunk_bytes(machine, A::Tree, P::LL128, 1) == 17280);              // of 18000
}

TEST_CASE("chunk size: NVLS") {
  ReferenceMachine machine = h100(1);
  // 8 heads: below 64 · 8 chunks 64 KiB, below 8 · 8 of these 32 KiB, below 2 · 8 of these 16 KiB.
  CHECK(chunk_bytes(machine, A::Nvls, P::Simple, 64 * mib) == 128 * kib);
  CHECK(chunk_bytes(machine, A::Nvls, P::Simple, 64 * mib - 1) == 64 * kib);
  CHECK(chunk_bytes(machine, A::Nvls, P::Simple, 4 * mib) == 64 * kib);
  CHECK(chunk_bytes(machine, A::Nvls, P::Simple, 4 * mib - 1) == 32 * kib);
  CHECK(chunk_bytes(machine, A::Nvls, P::Simple, 512 * kib) == 32 * kib);
  CHECK(chunk_bytes(machine, A::Nvls, P::Simple, 512 * kib - 1) == 16 * kib);
  machine.set("NCCL_NVLS_CHUNKSIZE", "262144");
  CHECK(chunk_bytes(machine, A::Nvls, P::Simple, gib) == 256 * kib);

  ReferenceMachine network = h100(2);
  test::add_collnet(network, 8, {});
  CHECK(chunk_bytes(network, A::Nvls, P::Simple, gib, 16) == 128 * kib);
  network.graphs.nvls->bandwidth_inter = 24;  // 102 GB/s of all: below 150
  CHECK(chunk_bytes(network, A::Nvls, P::Simple, gib, 16) == 32 * kib);
}

TEST_CASE("chunk size: NVLSTree") {
  ReferenceMachine machine = h100(2);
  // 8 heads: below 16 · 8 chunks of 128 KiB nothing changes, below 4 · 8 64 KiB, below 8 32 KiB.
  CHECK(chunk_bytes(machine, A::NvlsTree, P::Simple, 4 * mib) == 128 * kib);
  CHECK(chunk_bytes(machine, A::NvlsTree, P::Simple, 4 * mib - 1) == 64 * kib);
  CHECK(chunk_bytes(machine, A::NvlsTree, P::Simple, 512 * kib) == 64 * kib);
  CHECK(chunk_bytes(machine, A::NvlsTree, P::Simple, 512 * kib - 1) == 32 * kib);
  CHECK(chunk_bytes(h100(3), A::NvlsTree, P::Simple, gib) == 128 * kib);
  CHECK(chunk_bytes(h100(4), A::NvlsTree, P::Simple, gib) == 64 * kib);
  machine.set("NCCL_NVLSTREE_MAX_CHUNKSIZE", "49152");
  CHECK(chunk_bytes(machine, A::NvlsTree, P::Simple, gib) == 48 * kib);
  machine.set("NCCL_NVLS_CHUNKSIZE", "524288").set("NCCL_NVLSTREE_MAX_CHUNKSIZE", "1048576");
  // Below 32 · 8 chunks of 512 KiB 256 KiB, then below 16 · 8 of these 128 KiB.
  CHECK(chunk_bytes(machine, A::NvlsTree, P::Simple, 128 * mib) == 512 * kib);
  CHECK(chunk_bytes(machine, A::NvlsTree, P::Simple, 128 * mib - 1) == 256 * kib);
  CHECK(chunk_bytes(machine, A::NvlsTree, P::Simple, 32 * mib - 1) == 128 * kib);
}

TEST_CASE("chunk size: CollNet") {
  ReferenceMachine machine = h100(2);
  test::add_collnet(machine, 8, {});
  // Direct, two levels, 8 heads: less than 128 chunks of a head and channel: down to 128 KiB; less
  // than 16: down to 32 KiB.
  CHECK(chunk_bytes(machine, A::CollNetDirect, P::Simple, 512 * mib) == 512 * kib);
  CHECK(chunk_bytes(machine, A::CollNetDirect, P::Simple, 512 * mib - 1) == 256 * kib);
  CHECK(chunk_bytes(machine, A::CollNetDirect, P::Simple, 16 * mib) == 128 * kib);
  CHECK(chunk_bytes(machine, A::CollNetDirect, P::Simple, 16 * mib - 1) == 64 * kib);
  CHECK(chunk_bytes(machine, A::CollNetDirect, P::Simple, 1) == 32 * kib);
  // Chain, depth 8, from 256 KiB: less than 512 chunks 128 KiB, less than 64 64 KiB, less than 8 32.
  CHECK(chunk_bytes(machine, A::CollNetChain, P::Simple, 128 * mib) == 256 * kib);
  CHECK(chunk_bytes(machine, A::CollNetChain, P::Simple, 128 * mib - 1) == 128 * kib);
  CHECK(chunk_bytes(machine, A::CollNetChain, P::Simple, 8 * mib - 1) == 64 * kib);
  CHECK(chunk_bytes(machine, A::CollNetChain, P::Simple, 512 * kib - 1) == 32 * kib);
  CHECK(chunk_bytes(machine, A::CollNetChain, P::Simple, 8 * mib, 2) == 64 * kib);
}

TEST_CASE("chunk size: PAT") {
  const ReferenceMachine machine = test::single_h100(4);
  const auto pat = [&machine](F function, std::int64_t bytes) {
    return chunk_bytes(machine, A::Pat, P::Simple, bytes, 1, function);
  };
  CHECK(pat(F::AllGather, 16 * mib) == 512 * kib);
  CHECK(pat(F::AllGather, 16 * mib - 1) == 256 * kib);
  CHECK(pat(F::AllGather, 1) == 64 * kib);
  CHECK(pat(F::ReduceScatter, 8 * mib) == 512 * kib);
  CHECK(pat(F::ReduceScatter, 8 * mib - 1) == 256 * kib);
}

}  // namespace collsim::nccl
