#pragma once
// A system while it is made: parts whose links still move. Only make_system knows it.
//
// Source: NCCL 2.28.9, src/graph/topo.cc.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/nccl/system.hpp"

namespace collsim::nccl {

class SystemDraft {
 public:
  using Index = std::size_t;

  /// Throws: InputError if NCCL has no room for so many parts of the kind.
  Index add(Part part);
  [[nodiscard]] Part& part(Index index) { return drafts_[index].part; }
  /// The first of its kind at an address of a host.
  [[nodiscard]] std::optional<Index> find(PartKind kind, std::size_t host,
                                          std::uint64_t address) const;
  /// The first of a kind.
  [[nodiscard]] std::optional<Index> first(PartKind kind) const;

  /// Adds one direction; a second link of a kind between two parts adds its bandwidth to the first.
  /// Keeps the links of a part by falling bandwidth, equal ones in the order of their making.
  void connect(Index from, Index to, PartLinkKind kind, float bandwidth);

  /// Links the CPUs of a host with one another.
  void connect_cpus(const LinkSpeeds& speeds);
  /// Broadcom switches that show themselves as two levels become one.
  void flatten_switches();
  /// Puts the link up the PCIe tree behind those down.
  void sort_links();

  /// Throws: InputError if a link has none back.
  [[nodiscard]] System freeze() const;

 private:
  struct DraftLink {
    Index to{0};
    PartLinkKind kind{PartLinkKind::Local};
    float bandwidth{0};
  };
  struct Draft {
    Part part{};
    std::vector<DraftLink> links{};
    bool removed{false};
  };

  void merge_sub_switch(Index into, Index sub);
  void remove(Index index);
  void sort_below(Index index, std::optional<Index> up);

  std::vector<Draft> drafts_;
  std::array<std::size_t, part_kinds> count_{};
};

}  // namespace collsim::nccl
