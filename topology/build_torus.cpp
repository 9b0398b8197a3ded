// Tori of 1 to 3 dimensions: each node has a switch, to which its NICs go; a switch is joined with its
// neighbours, one cable each, around the edges too (where a dimension is 2, both ways are one cable).
// Node n is at x = n mod X, y = n / X mod Y, z = n / (X · Y).

#include <algorithm>
#include <string>

#include "topology/build.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

class Torus : public Fabric {
 public:
  Torus(const FabricSpec& spec, const NodeList& nodes) : spec_(&spec), nodes_(&nodes) {
    for (std::size_t i = 0; i < spec.dimensions.size(); ++i) {
      require_count(spec.dimensions[i], std::string("fabric.dimensions.") + "xyz"[i]);
      switches_ *= spec.dimensions[i];
      require_sizes(switches_, 0, "fabric.dimensions");
    }
    if (switches_ != nodes.nodes()) {
      throw InputError("expected dimensions whose product is the number of nodes, " +
                           std::to_string(nodes.nodes()) + ", got " + std::to_string(switches_),
                       "fabric.dimensions");
    }
  }

  [[nodiscard]] std::uint64_t switches() const override { return switches_; }
  [[nodiscard]] std::uint64_t links() const override {
    std::uint64_t cables = nodes_->nics();
    for (const std::uint32_t dimension : spec_->dimensions) {
      cables += cables_along(dimension) * (switches_ / dimension);
    }
    return 2 * cables;
  }

  void add(GraphBuilder& builder) const override {
    const TierSpec& tier = spec_->tiers.front();
    const std::uint32_t stem = builder.add_stem(switch_stem("switch", *nodes_), true);
    const std::vector<DeviceId> all = add_switches(builder, stem, switches_);
    TorusPlace size{1, 1, 1};
    std::ranges::copy(spec_->dimensions, size.begin());
    builder.set_torus(all.front(), size);
    const FabricCable down{tier.link, Duration::zero(), tier.latency, builder.add_level("leaf")};
    nodes_->for_each([&](NodeId number, DeviceId first, const NodeTemplate& node) {
      for (const std::uint32_t nic : node.nics) {
        down.add(builder, DeviceId(first.value() + nic), all[number.index()]);
      }
    });
    const FabricCable along{spec_->torus_link, tier.latency, tier.latency,
                            builder.add_level("torus")};
    std::uint64_t stride = 1;
    for (const std::uint32_t dimension : spec_->dimensions) {
      for (std::uint64_t i = 0; i < switches_; ++i) {
        const std::uint64_t place = i / stride % dimension;
        if (place < cables_along(dimension)) {
          const std::uint64_t next = place + 1 < dimension ? i + stride : i - place * stride;
          along.add(builder, all[i], all[next]);
        }
      }
      stride *= dimension;
    }
  }

 private:
  /// Of one ring.
  static std::uint64_t cables_along(std::uint32_t dimension) {
    return dimension > 2 ? dimension : dimension - 1;
  }

  const FabricSpec* spec_;
  const NodeList* nodes_;
  std::uint64_t switches_ = 1;
};

}  // namespace

std::unique_ptr<Fabric> plan_torus(const FabricSpec& spec, const NodeList& nodes) {
  return std::make_unique<Torus>(spec, nodes);
}

}  // namespace collsim::detail
