#pragma once

// A collective as NCCL runs it: what is chosen for it by size, or by name, and the program of that.
//
// All GPUs of whole nodes, alike, in the order of nodes: NCCL's decisions are modelled for these.
// Channels that do the same on the same ranks run once, with a weight, where routes do not depend on
// the channel; then the result is that of all of them to the picosecond.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/collective.hpp"
#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/tuner.hpp"
#include "algorithms/program.hpp"
#include "topology/cluster.hpp"

namespace collsim {

/// What the user has done with the buffers of a call.
enum class NcclBuffers : std::uint8_t {
  Plain,
  Symmetric,       ///< registered as symmetric windows
  ForCopyEngines,  ///< the same, and the CTA policy is that no thread of a GPU copies
};

/// What the user wants of NCCL, besides what its variables say.
struct NcclWish {
  std::optional<nccl::Algorithm> algorithm;  ///< absent: NCCL's choice
  std::optional<nccl::Protocol> protocol;    ///< absent: NCCL's choice
  NcclBuffers buffers = NcclBuffers::Plain;  ///< if not plain, the other two are absent
};

/// A program, and how it came about.
struct NcclProgram {
  std::shared_ptr<const Program> program;
  std::string algorithm;  ///< "nccl-ring", as --algorithm takes it
  std::string protocol;   ///< "LL128"; of sends and receives that to the own node
  std::uint32_t channels = 1;
  std::string reason;  ///< "NCCL's choice", "by name", …
};

enum class ChannelsRun : std::uint8_t {
  Each,    ///< every channel: for the data checker
  Joined,  ///< equal ones once, with a weight
};

/// What `--algorithm` can name of NCCL's.
struct NcclAlgorithm {
  std::string_view name;
  std::string_view summary;                  ///< one line
  std::optional<nccl::Algorithm> algorithm;  ///< absent: NCCL's choice, or sends and receives
  std::vector<CollectiveKind> collectives;
  NcclBuffers buffers = NcclBuffers::Plain;  ///< that it is for
};
[[nodiscard]] std::span<const NcclAlgorithm> nccl_algorithms();
[[nodiscard]] bool implements(const NcclAlgorithm& algorithm, CollectiveKind kind);

/// Whether a name is one of NCCL's programs ("nccl", "nccl-ring", "nvls", …).
[[nodiscard]] bool is_nccl_algorithm(std::string_view name);
/// Requires: is_nccl_algorithm().
[[nodiscard]] const NcclAlgorithm& find_nccl_algorithm(std::string_view name);

/// The program for a call. Throws: InputError where the collective has no such algorithm, or a rule
/// of NCCL's excludes it (the rule is named).
[[nodiscard]] NcclProgram nccl_program(const nccl::Decisions& decisions,
                                       const std::vector<nccl::TunerRule>& tuner,
                                       const CollectiveCall& call, const NcclWish& wish,
                                       ChannelsRun channels);

/// Whether NCCL takes its kernels for symmetric windows for a call.
[[nodiscard]] bool takes_symmetric(const nccl::Decisions& decisions, const CollectiveCall& call);

/// Whether the cluster's routes are the same on every channel.
[[nodiscard]] bool routes_ignore_channels(const Cluster& cluster);

}  // namespace collsim
