#include "validate/cuda/lane_wire.hpp"

#include "topology/error.hpp"

namespace collsim {

namespace {

/// Lanes of all ranks, by what they say.
struct LaneCounts {
  std::uint64_t all = 0;
  std::uint64_t lines = 0;
  std::uint64_t wide = 0;
};

LaneCounts count_lanes(const Program& program) {
  LaneCounts counts;
  for (std::uint32_t rank = 0; rank < program.call().ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < program.lane_count(Rank(rank)); ++lane) {
      const WireProtocol protocol = program.lane(Rank(rank), lane).protocol;
      ++counts.all;
      counts.lines += protocol == WireProtocol::LL ? 1 : 0;
      counts.wide += protocol == WireProtocol::LL128 ? 1 : 0;
    }
  }
  return counts;
}

}  // namespace

LaneWireChoice choose_wire(const Program& program, LaneWire wire, WideLines wide) {
  switch (wire) {
    case LaneWire::Simple:
      return {kernels::WireKind::Simple, 0};
    case LaneWire::Lines:
      return {kernels::WireKind::Lines, 0};
    case LaneWire::WideLines:
      if (wide == WideLines::Torn) {
        throw InputError("LL128 needs GPUs that NVLink joins, or one GPU", "--wire", "--wire ll");
      }
      return {kernels::WireKind::WideLines, 0};
    case LaneWire::AsProgram:
      break;
  }
  const LaneCounts lanes = count_lanes(program);
  if (lanes.all == 0 || lanes.lines + lanes.wide < lanes.all) {
    return {kernels::WireKind::Simple, 0};
  }
  if (lanes.lines == 0 && wide == WideLines::Carried) {
    return {kernels::WireKind::WideLines, 0};
  }
  return {kernels::WireKind::Lines, lanes.wide};
}

std::string_view name_of(kernels::WireKind kind) {
  switch (kind) {
    case kernels::WireKind::Simple:
      return "Simple";
    case kernels::WireKind::Lines:
      return "LL";
    case kernels::WireKind::WideLines:
      return "LL128";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

}  // namespace collsim
