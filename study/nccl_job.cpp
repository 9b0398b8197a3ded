#include "study/nccl_job.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/nccl/connected_program.hpp"
#include "algorithms/nccl/copy_engine_program.hpp"
#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/send_recv_plan.hpp"
#include "algorithms/nccl/send_recv_program.hpp"
#include "algorithms/nccl/send_recv_works.hpp"
#include "algorithms/nccl/symmetric_kernels.hpp"
#include "algorithms/nccl/symmetric_program.hpp"
#include "algorithms/pattern.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::string_view any_algorithm = "nccl";
constexpr std::string_view send_recv = "nccl-p2p";
constexpr std::string_view symmetric = "nccl-symmetric";
constexpr std::string_view copy_engine = "nccl-ce";

std::string name_of(nccl::Algorithm algorithm) {
  const auto named =
      std::ranges::find(nccl_algorithms(), std::optional(algorithm), &NcclAlgorithm::algorithm);
  return std::string(named->name);
}

bool wanted(const NcclWish& wish, const nccl::Contender& contender) {
  return (!wish.algorithm || *wish.algorithm == contender.algorithm) &&
         (!wish.protocol || *wish.protocol == contender.protocol);
}

/// The best of those that are wanted.
nccl::Contender choose_wanted(const nccl::Decisions& decisions, const nccl::Call& call,
                              const NcclWish& wish) {
  std::vector<nccl::Contender> contenders =
      nccl::contenders(decisions.input(), decisions.tuning(), call);
  std::erase_if(contenders, [&](const nccl::Contender& c) { return !wanted(wish, c); });
  if (const std::optional<nccl::Contender> best = nccl::winner(contenders)) {
    return *best;
  }
  std::string reasons;
  for (const nccl::Contender& contender : contenders) {
    if (contender.excluded && *contender.excluded != nccl::Exclusion::SimpleOnly) {
      reasons += (reasons.empty() ? "" : "; ") +
                 nccl::name(contender.algorithm, contender.protocol) + ": " +
                 std::string(nccl::rule(*contender.excluded));
    }
  }
  if (reasons.empty() && !contenders.empty()) {
    reasons = nccl::name(contenders.front().algorithm, contenders.front().protocol) + ": " +
              std::string(nccl::rule(*contenders.front().excluded));
  }
  if (wish.algorithm == nccl::Algorithm::Pat && !decisions.constants().has_pat) {
    throw InputError("NCCL " + decisions.constants().name + " has no PAT", {}, "it came with 2.23");
  }
  const bool collnet = wish.algorithm == nccl::Algorithm::CollNetDirect ||
                       wish.algorithm == nccl::Algorithm::CollNetChain;
  if (collnet && decisions.layout().nodes == 1) {
    throw InputError(
        "NCCL would not run this here: switches of the fabric reduce between nodes, and this is "
        "one node");
  }
  if (collnet && decisions.configuration().collnet && !decisions.communicator().collnet) {
    throw InputError("NCCL would not run this here: no switch of the fabric reduces", {},
                     "where they do, the description says so: fabric.reduction=sharp");
  }
  throw InputError("NCCL would not run this here: " + reasons);
}

nccl::TunedChoice choice_of(const nccl::Decisions& decisions,
                            const std::vector<nccl::TunerRule>& tuner, const CollectiveCall& call,
                            const NcclWish& wish) {
  const nccl::Call asked = nccl::call_of(call);
  if (!wish.algorithm && !wish.protocol) {
    return nccl::choose_with_tuner(decisions.input(), decisions.tuning(), asked, tuner);
  }
  return {choose_wanted(decisions, asked, wish), nullptr};
}

NcclProgram collective_program(const nccl::Decisions& decisions,
                               const std::vector<nccl::TunerRule>& tuner,
                               const CollectiveCall& call, const NcclWish& wish,
                               ChannelsRun channels) {
  const nccl::TunedChoice choice = choice_of(decisions, tuner, call, wish);
  nccl::Execution execution = nccl::execution_of(decisions, call, choice);
  if (channels == ChannelsRun::Joined) {
    execution = nccl::joined_channels(decisions, std::move(execution));
  }
  NcclProgram result;
  result.program = nccl::build_program(decisions, execution);
  result.algorithm = name_of(choice.contender.algorithm);
  result.protocol = nccl::name(choice.contender.protocol);
  result.channels = result.program->channels();
  result.reason = choice.rule != nullptr ? "the tuner file's choice" : "NCCL's choice";
  if (wish.algorithm || wish.protocol) {
    result.reason.clear();
  }
  return result;
}

NcclProgram symmetric_program(const nccl::Decisions& decisions, const CollectiveCall& call,
                              ChannelsRun channels) {
  if (!decisions.constants().has_symmetric_kernels) {
    throw InputError("NCCL " + decisions.constants().name + " has no symmetric kernels", {},
                     "they came with 2.27");
  }
  const nccl::SymmetricChoice choice =
      nccl::choose_symmetric(decisions.communicator(), decisions.configuration(), call);
  const nccl::SymmetricKernelSort& sort = nccl::sort_of(choice.kernel);
  NcclProgram result;
  result.program = nccl::build_symmetric_program(
      call, choice,
      channels == ChannelsRun::Joined ? nccl::EqualBlocks::Joined : nccl::EqualBlocks::Apart);
  result.algorithm = symmetric;
  result.protocol = sort.ll ? "LL" : "Simple";
  result.channels = choice.blocks;
  result.reason = "the kernel " + std::string(sort.name) + ", NCCL's choice for symmetric windows";
  return result;
}

NcclProgram copy_engine_program(const nccl::Decisions& decisions, const CollectiveCall& call) {
  if (!decisions.constants().has_copy_engine_collectives) {
    throw InputError("NCCL " + decisions.constants().name + " has no collectives by copy engines",
                     {}, "they came with 2.28");
  }
  if (const std::string why = nccl::copy_engine_exclusion(decisions.communicator(), call);
      !why.empty()) {
    throw InputError(why);
  }
  NcclProgram result;
  result.program = nccl::build_copy_engine_program(call);
  result.algorithm = copy_engine;
  result.protocol = "Simple";
  result.reason = "copy engines, as NCCL_CTA_POLICY=2 has it for symmetric windows";
  return result;
}

NcclProgram sends_program(const nccl::Decisions& decisions, const CollectiveCall& call,
                          ChannelsRun channels) {
  nccl::SendRecvPlan plan = nccl::send_recv_plan(decisions.input(), call);
  nccl::ConnectionTables connections = nccl::send_recv_connections(decisions);
  plan.transports = nccl::connection_kinds(connections, plan.channels);
  NcclProgram result;
  result.program =
      nccl::with_waypoints(nccl::build_send_recv_program(plan, channels == ChannelsRun::Joined
                                                                   ? nccl::EqualChannels::Joined
                                                                   : nccl::EqualChannels::Apart),
                           std::move(connections));
  result.algorithm = send_recv;
  result.protocol = nccl::name(plan.local.protocol);
  result.channels = plan.channels;
  result.reason = "what NCCL makes of sends and receives";
  return result;
}

}  // namespace

std::span<const NcclAlgorithm> nccl_algorithms() {
  using enum CollectiveKind;
  static const std::vector<NcclAlgorithm> table{
      {any_algorithm,
       "what NCCL chooses by size",
       std::nullopt,
       {AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AllToAll, Gather, Scatter,
        SendRecv}},
      {"nccl-ring",
       "NCCL's rings, one a channel",
       nccl::Algorithm::Ring,
       {AllReduce, AllGather, ReduceScatter, Broadcast, Reduce}},
      {"nccl-tree",
       "NCCL's double binary trees over nodes, chains in them",
       nccl::Algorithm::Tree,
       {AllReduce}},
      {"nvls",
       "the NVLink switch reduces and copies",
       nccl::Algorithm::Nvls,
       {AllReduce, AllGather, ReduceScatter}},
      {"nvls-tree",
       "nvls in nodes, double binary trees over them",
       nccl::Algorithm::NvlsTree,
       {AllReduce}},
      {"collnet-direct",
       "the fabric's switches reduce for a head a NIC (SHARP)",
       nccl::Algorithm::CollNetDirect,
       {AllReduce, AllGather, ReduceScatter}},
      {"collnet-chain",
       "the fabric's switches reduce for the head of a chain (SHARP)",
       nccl::Algorithm::CollNetChain,
       {AllReduce}},
      {"pat",
       "parallel aggregated trees, a GPU a node",
       nccl::Algorithm::Pat,
       {AllGather, ReduceScatter}},
      {symmetric,
       "NCCL's kernels for buffers that are symmetric windows",
       std::nullopt,
       {AllReduce, AllGather, ReduceScatter},
       NcclBuffers::Symmetric},
      {copy_engine,
       "copy engines, for buffers that are symmetric windows",
       std::nullopt,
       {AllGather, AllToAll, Gather, Scatter},
       NcclBuffers::ForCopyEngines},
      {send_recv,
       "NCCL's grouped sends and receives",
       std::nullopt,
       {AllToAll, Gather, Scatter, SendRecv}},
  };
  return table;
}

bool implements(const NcclAlgorithm& algorithm, CollectiveKind kind) {
  return std::ranges::find(algorithm.collectives, kind) != algorithm.collectives.end();
}

bool is_nccl_algorithm(std::string_view name) {
  const auto table = nccl_algorithms();
  return std::ranges::find(table, name, &NcclAlgorithm::name) != table.end();
}

const NcclAlgorithm& find_nccl_algorithm(std::string_view name) {
  const auto table = nccl_algorithms();
  const auto found = std::ranges::find(table, name, &NcclAlgorithm::name);
  COLLSIM_ENSURE(found != table.end(), "an algorithm of NCCL's");
  return *found;
}

NcclProgram nccl_program(const nccl::Decisions& decisions,
                         const std::vector<nccl::TunerRule>& tuner, const CollectiveCall& call,
                         const NcclWish& wish, ChannelsRun channels) {
  if (call.ranks == 1 || call.count == 0) {
    NcclProgram nothing;
    nothing.program = partition(std::string(any_algorithm), call, nullptr, 1, 1);
    nothing.algorithm = any_algorithm;
    return nothing;
  }
  switch (wish.buffers) {
    case NcclBuffers::Symmetric:
      return symmetric_program(decisions, call, channels);
    case NcclBuffers::ForCopyEngines:
      return copy_engine_program(decisions, call);
    case NcclBuffers::Plain:
      break;
  }
  if (nccl::function_of(call.kind)) {
    return collective_program(decisions, tuner, call, wish, channels);
  }
  if (wish.algorithm) {
    throw InputError("NCCL makes " + std::string(name_of(call.kind)) +
                     " of sends and receives: it has no algorithm to choose");
  }
  if (wish.protocol) {
    throw InputError("NCCL takes the protocol of sends and receives from the bytes of a channel",
                     {}, "--env NCCL_P2P_LL_THRESHOLD=…, the bytes up to which it is LL");
  }
  return sends_program(decisions, call, channels);
}

bool takes_symmetric(const nccl::Decisions& decisions, const CollectiveCall& call) {
  return decisions.constants().has_symmetric_kernels &&
         nccl::symmetric_exclusion(decisions.communicator(), call).empty();
}

bool routes_ignore_channels(const Cluster& cluster) {
  return cluster.graph().nodes() == 1 || cluster.router().options().routing != RoutingKind::Ecmp;
}

}  // namespace collsim
