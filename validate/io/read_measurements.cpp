#include "validate/io/read_measurements.hpp"

#include "topology/io/source.hpp"
#include "validate/io/measurements_json.hpp"

namespace collsim {

Measurements load_measurements(const std::string& path) {
  const std::string text = read_file(path);
  return parse_measurements_json(text, path);
}

}  // namespace collsim
