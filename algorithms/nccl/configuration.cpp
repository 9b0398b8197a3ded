#include "algorithms/nccl/configuration.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "algorithms/nccl/symmetric_kernels.hpp"
#include "algorithms/nccl/variable_names.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// A variable, how its text is read, and the range and step of a whole number.
struct Variable {
  std::string_view name;
  void (*read)(Configuration&, const Variable&, std::string_view value) = nullptr;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t multiple = 1;
};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != end) {
    return std::nullopt;
  }
  return value;
}

std::int64_t number(const Variable& variable, std::string_view text) {
  const std::optional<std::int64_t> value = whole_number(text);
  if (!value || *value < variable.least || *value > variable.most ||
      *value % variable.multiple != 0) {
    const std::string kind = variable.multiple == 1
                                 ? std::string("a whole number")
                                 : "a multiple of " + std::to_string(variable.multiple);
    throw InputError("expected " + kind + " from " + std::to_string(variable.least) + " to " +
                         std::to_string(variable.most) + ", got " + in_quotes(text),
                     std::string(variable.name));
  }
  return *value;
}

template <auto Member>
void integer(Configuration& configuration, const Variable& variable, std::string_view text) {
  configuration.*Member = static_cast<int>(number(variable, text));
}

template <auto Member>
void bytes(Configuration& configuration, const Variable& variable, std::string_view text) {
  configuration.*Member = number(variable, text);
}

template <auto Member>
void flag(Configuration& configuration, const Variable& variable, std::string_view text) {
  configuration.*Member = number(variable, text) == 1;
}

template <auto Member>
void three_way(Configuration& configuration, const Variable& variable, std::string_view text) {
  configuration.*Member = static_cast<Switch>(number(variable, text));
}

template <auto Member>
void file(Configuration& configuration, const Variable& variable, std::string_view text) {
  if (text.empty()) {
    throw InputError("expected a file, got \"\"", std::string(variable.name));
  }
  configuration.*Member = std::string(text);
}

/// A path type by its name, or one of NCCL's old numbers.
template <auto Member>
void level(Configuration& configuration, const Variable& variable, std::string_view text) {
  configuration.*Member = path_level(text);
  if (configuration.*Member) {
    return;
  }
  std::vector<std::string> names;
  for (auto type = PathType::Loc; type <= PathType::Sys;
       type = static_cast<PathType>(static_cast<int>(type) + 1)) {
    names.emplace_back(nccl::name(type));
  }
  throw InputError("expected " + one_of(names) + ", or a number from 0 on, got " + in_quotes(text),
                   std::string(variable.name), did_you_mean(std::string(text), names));
}

void algorithm_list(Configuration& configuration, const Variable& variable, std::string_view text) {
  std::array<std::string_view, nccl::algorithms.size()> words;
  std::transform(algorithms.begin(), algorithms.end(), words.begin(),
                 [](Algorithm algorithm) { return name(algorithm); });
  configuration.algorithms = parse_restriction(variable.name, text, words);
}

void protocol_list(Configuration& configuration, const Variable& variable, std::string_view text) {
  std::array<std::string_view, nccl::protocols.size()> words;
  std::transform(protocols.begin(), protocols.end(), words.begin(),
                 [](Protocol protocol) { return name(protocol); });
  configuration.protocols = parse_restriction(variable.name, text, words);
}

void thresholds(Configuration& configuration, const Variable& variable, std::string_view text) {
  std::array<std::int64_t, 6> values{};
  std::size_t count = 0;
  for (std::size_t begin = text.find_first_not_of(' '); begin < text.size();
       begin = text.find_first_not_of(' ', begin)) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::optional<std::int64_t> value = whole_number(text.substr(begin, end - begin));
    if (!value || *value > variable.most || count == values.size()) {
      count = 0;
      break;
    }
    values[count++] = *value;
    begin = end;
  }
  if (count != values.size()) {
    throw InputError("expected six whole numbers up to " + std::to_string(variable.most) +
                         " with blanks between them, got " + in_quotes(text),
                     std::string(variable.name),
                     "bytes a thread for Tree LL, LL128, Simple, Ring LL, LL128, Simple; "
                     "negative: NCCL's own");
  }
  configuration.thread_thresholds = values;
}

void symmetric_kernel(Configuration& configuration, const Variable& variable,
                      std::string_view text) {
  std::vector<std::string> names;
  for (const SymmetricKernelSort& sort : symmetric_kernels()) {
    names.emplace_back(sort.name);
  }
  if (std::ranges::find(names, text) == names.end()) {
    throw InputError("expected " + one_of(names) + ", got " + in_quotes(text),
                     std::string(variable.name), did_you_mean(std::string(text), names));
  }
  configuration.symmetric_kernel = std::string(text);
}

constexpr std::int64_t most_channels = 64;
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
// A buffer is eight slots; each must hold one grain of its protocol (512 B; 16 B of data, sent as
// 32; 1920 B of data, sent as 2048).
constexpr std::int64_t least_buffer = std::int64_t{8} * 512;
constexpr std::int64_t least_ll_buffer = std::int64_t{8} * 32;
constexpr std::int64_t least_ll128_buffer = std::int64_t{8} * 2048;

using C = Configuration;

constexpr std::array variables{
    Variable{"NCCL_ALGO", algorithm_list},
    Variable{"NCCL_PROTO", protocol_list},
    Variable{"NCCL_MIN_NCHANNELS", integer<&C::min_channels>, 1, most_channels},
    Variable{"NCCL_MAX_NCHANNELS", integer<&C::max_channels>, 1, most_channels},
    Variable{"NCCL_MIN_CTAS", integer<&C::min_ctas>, 1, most_channels},
    Variable{"NCCL_MAX_CTAS", integer<&C::max_ctas>, 1, most_channels},
    Variable{"NCCL_NVLS_NCHANNELS", integer<&C::nvls_channels>, 1, most_channels},
    Variable{"NCCL_MIN_P2P_NCHANNELS", integer<&C::min_p2p_channels>, 1, most_channels},
    Variable{"NCCL_MAX_P2P_NCHANNELS", integer<&C::max_p2p_channels>, 1, most_channels},
    Variable{"NCCL_NCHANNELS_PER_NET_PEER", integer<&C::channels_per_net_peer>, 1, most_channels},
    Variable{"NCCL_NTHREADS", integer<&C::threads>, 64, 512, 32},
    Variable{"NCCL_LL128_NTHREADS", integer<&C::ll128_threads>, 160, 640, 32},
    Variable{"NCCL_THREAD_THRESHOLDS", thresholds, 0, most_bytes},
    Variable{"NCCL_BUFFSIZE", bytes<&C::buffer>, least_buffer, most_bytes},
    Variable{"NCCL_LL_BUFFSIZE", bytes<&C::ll_buffer>, least_ll_buffer, most_bytes},
    Variable{"NCCL_LL128_BUFFSIZE", bytes<&C::ll128_buffer>, least_ll128_buffer, most_bytes},
    Variable{"NCCL_P2P_NET_CHUNKSIZE", bytes<&C::net_chunk>, 512, most_bytes},
    Variable{"NCCL_P2P_PCI_CHUNKSIZE", bytes<&C::pci_chunk>, 512, most_bytes},
    Variable{"NCCL_P2P_NVL_CHUNKSIZE", bytes<&C::nvlink_chunk>, 512, most_bytes},
    Variable{"NCCL_CHUNK_SIZE", bytes<&C::send_recv_chunk>, 512, most_bytes},
    Variable{"NCCL_NVLS_CHUNKSIZE", bytes<&C::nvls_chunk>, 512, most_bytes},
    Variable{"NCCL_NVLSTREE_MAX_CHUNKSIZE", bytes<&C::nvls_tree_chunk>, 512, most_bytes},
    Variable{"NCCL_P2P_LL_THRESHOLD", bytes<&C::p2p_ll_threshold>, 0, most_bytes},
    Variable{"NCCL_ALLOC_P2P_NET_LL_BUFFERS", flag<&C::ll_buffers_for_network>, 0, 1},
    Variable{"NCCL_P2P_SCHEDULE_GROUP_SIZE", integer<&C::schedule_group>, 1, 1024},
    Variable{"NCCL_SYM_CTAS", integer<&C::symmetric_ctas>, 0, most_channels},
    Variable{"NCCL_SYM_KERNEL", symmetric_kernel},
    Variable{"NCCL_NVLS_ENABLE", three_way<&C::nvls>, 0, 2},
    Variable{"NCCL_PAT_ENABLE", three_way<&C::pat>, 0, 2},
    Variable{"NCCL_COLLNET_ENABLE", flag<&C::collnet>, 0, 1},
    Variable{"NCCL_COLLNET_NODE_THRESHOLD", integer<&C::collnet_nodes>, 1,
             std::numeric_limits<int>::max()},
    Variable{"NCCL_LL128_C2C", flag<&C::ll128_over_c2c>, 0, 1},
    Variable{"NCCL_NET_OVERHEAD", integer<&C::net_overhead_ns>, 0, 1'000'000'000},
    Variable{"NCCL_CROSS_NIC", integer<&C::cross_nic>, 0, 2},
    Variable{"NCCL_PXN_DISABLE", flag<&C::pxn_disabled>, 0, 1},
    Variable{"NCCL_P2P_DISABLE", flag<&C::p2p_disabled>, 0, 1},
    Variable{"NCCL_P2P_LEVEL", level<&C::p2p_level>},
    Variable{"NCCL_SHM_DISABLE", flag<&C::shm_disabled>, 0, 1},
    Variable{"NCCL_NET_GDR_LEVEL", level<&C::net_gdr_level>},
    Variable{"NCCL_TOPO_FILE", file<&C::topo_file>},
    Variable{"NCCL_GRAPH_FILE", file<&C::graph_file>},
};

constexpr std::string_view prefix = "NCCL_";

[[noreturn]] void refuse_name(std::string_view text) {
  const std::vector<std::string> names = variable_names();
  if (!text.starts_with(prefix)) {
    std::vector<std::string> bare;
    bare.reserve(names.size());
    for (const std::string& full : names) {
      bare.push_back(full.substr(prefix.size()));
    }
    const std::string near = nearest(std::string(text), bare);
    throw InputError("expected the full name of an NCCL variable, got " + in_quotes(text), {},
                     near.empty() ? "" : "write " + std::string(prefix) + near);
  }
  if (is_unmodelled_variable(text)) {
    throw InputError("NCCL has this variable, but it is not modelled", std::string(text),
                     "modelled: " + one_of(names));
  }
  const std::string close = did_you_mean(std::string(text), names);
  throw InputError("unknown variable " + in_quotes(text) + (close.empty() ? "" : ", " + close), {},
                   "modelled: " + one_of(names));
}

}  // namespace

void parse_variable(Configuration& configuration, std::string_view name, std::string_view value) {
  for (const Variable& variable : variables) {
    if (variable.name == name) {
      variable.read(configuration, variable, value);
      return;
    }
  }
  refuse_name(name);
}

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  names.reserve(variables.size());
  for (const Variable& variable : variables) {
    names.emplace_back(variable.name);
  }
  return names;
}

}  // namespace collsim::nccl
