#include "tools/cluster_title.hpp"

#include <algorithm>

namespace collsim {

namespace {

bool may_be_out_of_date(const ClusterSpec& spec) {
  return spec.changed && std::ranges::none_of(spec.values, [](const Provenance& value) {
           return value.path == "description" && value.origin == "--set";
         });
}

}  // namespace

std::string description_text(const ClusterSpec& spec) {
  const bool doubtful = !spec.description.empty() && may_be_out_of_date(spec);
  return (doubtful ? "changed by --set; its file says: " : "") + spec.description;
}

std::string cluster_title(const ClusterSpec& spec) {
  if (spec.description.empty()) {
    return spec.name;
  }
  return spec.name + (may_be_out_of_date(spec) ? ", " : ": ") + description_text(spec);
}

}  // namespace collsim
