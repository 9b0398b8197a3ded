#pragma once

// What is known of how a set of cost parameters came about: the tier, the calls it was fitted to and how well, and
// hence which predictions stand outside of what was ever compared with a machine.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/collective.hpp"

namespace collsim {

/// How many parameters the data decided.
enum class ParameterTier : std::uint8_t {
  Fitted,      ///< each that they can
  Generation,  ///< a few of a generation of GPUs, the rest in fixed ratios to them: for machines that nobody measured
  Nominal,     ///< none: rates of links and what literature says
};
[[nodiscard]] std::string_view name_of(ParameterTier tier);

/// The calls that parameters were fitted to. Empty lists and equal ends of a range mean what they say.
struct CalibrationRecord {
  std::string set;  ///< the name of the file that says so
  std::vector<std::string> machines;
  std::vector<std::string> nccl;  ///< versions
  std::vector<CollectiveKind> collectives;
  Bytes least_bytes;
  Bytes most_bytes;
  std::uint32_t least_ranks = 0;
  std::uint32_t most_ranks = 0;
  std::uint32_t most_nodes = 0;
  std::size_t points = 0;
  double median_error = 0;  ///< of |predicted / measured - 1|, on the same calls
  double p90_error = 0;
};

/// A property of a call that no fitted call has.
struct OutsideFit {
  std::string what;    ///< "size", "nodes", "ranks", "collective"
  std::string found;   ///< "4 GiB"
  std::string fitted;  ///< "512 B to 512 MiB"
};

/// In what a call is outside of what was fitted. Empty: it is inside.
[[nodiscard]] std::vector<OutsideFit> outside(const CalibrationRecord& record,
                                              const CollectiveCall& call, std::uint32_t nodes);
/// The same of all the records of a set.
[[nodiscard]] std::vector<OutsideFit> outside(const std::vector<CalibrationRecord>& records,
                                              const CollectiveCall& call, std::uint32_t nodes);

}  // namespace collsim
