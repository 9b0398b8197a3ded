// What the builders of nodes, fabrics and explicit graphs share.

#include <algorithm>
#include <chrono>

#include "topology/build.hpp"
#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim::detail {

void require_sizes(std::uint64_t devices, std::uint64_t links, const std::string& path) {
  const auto require = [&path](std::uint64_t found, std::uint64_t most, const char* what) {
    if (found <= most) {
      return;
    }
    throw InputError("expected a cluster of at most " + std::to_string(most) + " " + what +
                         ", got " + std::to_string(found),
                     path);
  };
  require(devices, most_devices, "devices");
  require(links, most_links, "links");
}

void require_link(Bandwidth bandwidth, Duration latency, const std::string& path) {
  if (bandwidth <= Bandwidth()) {
    throw InputError("expected a bandwidth above 0, got " + to_text(bandwidth),
                     path + ".bandwidth");
  }
  require_latency(latency, path + ".latency");
}

void require_latency(Duration latency, const std::string& path) {
  constexpr Duration longest = std::chrono::hours(1);
  if (latency >= Duration::zero() && latency <= longest) {
    return;
  }
  throw InputError("expected a latency from 0 to 3600 s, got " + to_text(latency), path);
}

void require_count(std::uint32_t count, const std::string& path) {
  if (count == 0) {
    throw InputError("expected a count of at least 1, got 0", path);
  }
}

std::string at(const std::string& list, std::size_t index) {
  return list + "[" + std::to_string(index) + "]";
}

std::string_view level_name(LinkKind kind) {
  return kind == LinkKind::Generic ? "link" : name_of(kind);
}

void add_levels(GraphBuilder& builder, const std::vector<LinkSpec>& links) {
  std::vector<LinkKind> kinds;
  kinds.reserve(links.size());
  for (const LinkSpec& link : links) {
    kinds.push_back(link.kind);
  }
  std::ranges::sort(kinds);
  for (const LinkKind kind : kinds) {
    builder.add_level(level_name(kind));
  }
}

void add_links(GraphBuilder& builder, const LinkSpec& spec, DeviceId source, DeviceId target) {
  const Link link{source,       target,    spec.bandwidth,
                  spec.latency, spec.kind, builder.add_level(level_name(spec.kind)),
                  spec.bonded};
  for (std::uint32_t i = 0; i < spec.count; ++i) {
    if (spec.duplex == Duplex::BothWays) {
      builder.add_cable(link);
    } else {
      builder.add_link(link);
    }
  }
}

}  // namespace collsim::detail
