// Any bytes as a file of measurements, with and without hints. Nothing but InputError may come out; what is read is
// written as measurements/1 and read back as it was written.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "topology/error.hpp"
#include "validate/io/measurements_json.hpp"
#include "validate/io/read_measurements.hpp"

namespace {

void read(std::string_view text, const collsim::MeasurementHints& hints) {
  try {
    const collsim::Measurements found = collsim::parse_measurements(text, "fuzz.log", hints);
    const std::string written = collsim::write_measurements_json(found);
    const std::string again =
        collsim::write_measurements_json(collsim::parse_measurements_json(written, "again.json"));
    if (again != written) {
      std::abort();
    }
  } catch (const collsim::InputError& error) {
    static_cast<void>(error.render());
  }
}

}  // namespace

// The name and the types are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as characters
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(text, {});
  collsim::MeasurementHints hints;
  hints.ranks = 8;
  hints.nodes = 2;
  hints.launch = "process-per-gpu";
  hints.collective = collsim::CollectiveKind::AllGather;
  read(text, hints);
  return 0;
}
