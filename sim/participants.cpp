#include "sim/participants.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "topology/error.hpp"

namespace collsim::detail {

namespace {

std::string operation_path(std::size_t operation) {
  return "operations[" + std::to_string(operation) + "]";
}

void check_communicator(const Graph& graph, const Communicator* communicator, std::size_t number) {
  if (communicator == nullptr || communicator->empty()) {
    throw InputError("an operation needs a communicator of at least one GPU",
                     operation_path(number));
  }
  for (const DeviceId device : *communicator) {
    if (device.index() >= graph.devices().size() || graph.device(device).kind != DeviceKind::Gpu) {
      throw InputError("the communicator holds device " + std::to_string(device.value()) +
                           ", which is not a GPU",
                       operation_path(number));
    }
  }
  std::vector<DeviceId> sorted = *communicator;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw InputError("the communicator holds " + graph.name(*twice) + " twice",
                     operation_path(number));
  }
}

void check_program(const Collective& collective, std::size_t number) {
  if (collective.program == nullptr) {
    throw InputError("a collective needs a program", operation_path(number));
  }
  const std::size_t ranks = collective.program->call().ranks;
  if (ranks == collective.communicator->size()) {
    return;
  }
  throw InputError("the program is for " + std::to_string(ranks) + " ranks, the communicator has " +
                       std::to_string(collective.communicator->size()),
                   operation_path(number));
}

}  // namespace

const Communicator* communicator_of(const Workload::Operation& operation) {
  return std::visit([](const auto& any) { return any.communicator.get(); }, operation);
}

Participants::Participants(const Graph& graph, const Workload& workload) {
  collect(graph, workload);
  number_gpus();
  check_waits(graph, workload);
}

void Participants::collect(const Graph& graph, const Workload& workload) {
  std::unordered_map<const Communicator*, std::uint32_t> known;
  for (std::size_t number = 0; number < workload.operations.size(); ++number) {
    const Workload::Operation& operation = workload.operations[number];
    const Communicator* const communicator = communicator_of(operation);
    const auto [place, is_new] =
        known.try_emplace(communicator, static_cast<std::uint32_t>(communicators_.size()));
    if (is_new) {
      check_communicator(graph, communicator, number);
      communicators_.push_back(Table{communicator, {}, {}});
      gpus_.insert(gpus_.end(), communicator->begin(), communicator->end());
    }
    communicator_of_.push_back(place->second);
    if (const auto* collective = std::get_if<Collective>(&operation)) {
      check_program(*collective, number);
    }
    if (const auto* compute = std::get_if<Compute>(&operation)) {
      if (compute->time < Duration{}) {
        throw InputError("a computation cannot take less than no time", operation_path(number));
      }
    }
  }
}

void Participants::number_gpus() {
  std::sort(gpus_.begin(), gpus_.end());
  gpus_.erase(std::unique(gpus_.begin(), gpus_.end()), gpus_.end());
  for (Table& table : communicators_) {
    for (std::size_t rank = 0; rank < table.communicator->size(); ++rank) {
      const auto place = std::lower_bound(gpus_.begin(), gpus_.end(), (*table.communicator)[rank]);
      const auto gpu = static_cast<GpuIndex>(place - gpus_.begin());
      table.gpu_of_rank.push_back(gpu);
      table.by_gpu.push_back({gpu, Rank(rank)});
    }
    std::sort(table.by_gpu.begin(), table.by_gpu.end(),
              [](const Entry& a, const Entry& b) { return a.gpu < b.gpu; });
  }
}

void Participants::check_waits(const Graph& graph, const Workload& workload) const {
  for (std::size_t number = 0; number < workload.operations.size(); ++number) {
    const auto* wait = std::get_if<Wait>(&workload.operations[number]);
    if (wait == nullptr) {
      continue;
    }
    if (wait->operation.index() >= number) {
      throw InputError("waits for operation " + std::to_string(wait->operation.value()) +
                           ", which does not stand before it",
                       operation_path(number));
    }
    for (const GpuIndex gpu : ranks(OperationId(number))) {
      if (rank_of(wait->operation, gpu)) {
        continue;
      }
      throw InputError(graph.name(gpus_[gpu]) + " waits for operation " +
                           std::to_string(wait->operation.value()) + ", in which it takes no part",
                       operation_path(number));
    }
  }
}

std::optional<Rank> Participants::rank_of(OperationId operation, GpuIndex gpu) const {
  const Table& table = communicators_[communicator_of_[operation.index()]];
  const auto place =
      std::lower_bound(table.by_gpu.begin(), table.by_gpu.end(), gpu,
                       [](const Entry& entry, GpuIndex wanted) { return entry.gpu < wanted; });
  if (place == table.by_gpu.end() || place->gpu != gpu) {
    return std::nullopt;
  }
  return place->rank;
}

}  // namespace collsim::detail
