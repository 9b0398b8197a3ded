#include "sim/network.hpp"

#include "sim/flow_network.hpp"
#include "sim/ideal_network.hpp"
#include "topology/error.hpp"

namespace collsim {

U128 whole_bytes(const LinkUse& use) { return use.fine_bytes / to_fine(Bytes(1)); }

U128 fine_bytes_on(Bytes bytes, const RouteHop& hop) {
  const U128 fine = to_fine(bytes);
  if (hop.share_numerator == hop.share_denominator) {
    return fine;
  }
  U128 scaled = 0;
  COLLSIM_ENSURE(!__builtin_mul_overflow(fine, static_cast<U128>(hop.share_numerator), &scaled),
                 "bytes times a share exceed 128 bits");
  return scaled / hop.share_denominator;
}

std::unique_ptr<Network> make_network(NetworkModel model, const Graph& graph, EventQueue& queue) {
  switch (model) {
    case NetworkModel::Ideal:
      return std::make_unique<IdealNetwork>(graph, queue);
    case NetworkModel::Flow:
      return std::make_unique<FlowNetwork>(graph, queue);
  }
  throw InternalError(__FILE__, __LINE__, "model", "unknown network model");
}

std::string_view name_of(NetworkModel model) {
  switch (model) {
    case NetworkModel::Ideal:
      return "ideal";
    case NetworkModel::Flow:
      return "flow";
  }
  throw InternalError(__FILE__, __LINE__, "model", "unknown network model");
}

}  // namespace collsim
