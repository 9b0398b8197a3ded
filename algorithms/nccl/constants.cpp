#include "algorithms/nccl/constants.hpp"

namespace collsim::nccl {

Generation generation_of(int sm) {
  if (sm >= 100) {
    return Generation::Blackwell;
  }
  if (sm >= 90) {
    return Generation::Hopper;
  }
  return sm >= 80 ? Generation::Ampere : Generation::Volta;
}

Scale scale_of(int nodes) {
  if (nodes <= 1) {
    return Scale::OneNode;
  }
  return nodes == 2 ? Scale::TwoNodes : Scale::MoreNodes;
}

}  // namespace collsim::nccl
