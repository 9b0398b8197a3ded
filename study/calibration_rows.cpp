#include "study/calibration_rows.hpp"

#include <bit>
#include <map>
#include <utility>

namespace collsim {

bool is_launch_known(const MeasuredTable& table, const MeasuredRow& row) {
  // What ran our program launches nothing that the prediction could lack.
  return table.is_of_our_program || table.launch.mode != LaunchMode::Unknown ||
         row.bytes > launch_decides_up_to;
}

bool is_comparable(const MeasuredTable& table, const MeasuredRow& row) {
  return !row.suspect && is_launch_known(table, row);
}

std::vector<MeasuredCall> rows_to_fit(const MeasuredTable& table) {
  if (table.is_of_our_program) {
    return {};
  }
  std::map<std::pair<int, InPlace>, const MeasuredRow*> smallest;
  for (const MeasuredRow& row : table.run->rows) {
    if (!is_comparable(table, row)) {
      continue;
    }
    const auto octave =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(row.bytes.count())));
    const MeasuredRow*& kept = smallest[{octave, row.in_place.value_or(InPlace::No)}];
    if (kept == nullptr || row.bytes < kept->bytes) {
      kept = &row;
    }
  }
  std::vector<MeasuredCall> calls;
  for (const auto& [key, row] : smallest) {
    if (std::optional<MeasuredCall> call = measured_call(table, *row)) {
      calls.push_back(*std::move(call));
    }
  }
  return calls;
}

}  // namespace collsim
