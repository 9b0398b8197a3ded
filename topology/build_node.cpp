// The node template: families of devices, and links between families.

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "topology/build.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

using Family = NodeTemplate::Family;

/// Devices that an end of a link entry names: a family, or one member.
struct Members {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void require_family_name(const DeviceGroupSpec& group, const std::string& path) {
  const auto accepted = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  };
  const std::string& name = group.name;
  if (name.empty() || is_digit(name.front()) || !std::ranges::all_of(name, accepted)) {
    throw InputError(
        "expected a name of letters, digits, '_' and '-' that starts with a letter, got " +
            in_quotes(name),
        path);
  }
  if (group.count && is_digit(name.back())) {
    throw InputError(
        "expected a name without digits at its end, as the members are numbered, got " +
            in_quotes(name),
        path);
  }
}

/// The member of a numbered family that a name like "gpu3" means. The number may be out of range.
struct MemberName {
  const Family* family = nullptr;
  std::uint64_t number = 0;
};

/// Families by name.
class FamilyTable {
 public:
  explicit FamilyTable(const std::vector<Family>& families) : families_(&families) {
    for (const Family& family : families) {
      by_name_.emplace(family.name, &family);
    }
  }

  /// The first family of that name.
  [[nodiscard]] const Family* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  [[nodiscard]] std::optional<MemberName> find_member(const std::string& name) const {
    std::size_t digits = 0;
    while (digits < name.size() && is_digit(name[name.size() - 1 - digits])) {
      ++digits;
    }
    // Ten digits hold every 32-bit number; a leading zero would give one device two names.
    const std::string number = name.substr(name.size() - digits);
    if (digits == 0 || digits > 10 || (digits > 1 && number.front() == '0')) {
      return std::nullopt;
    }
    const Family* family = find(std::string_view(name).substr(0, name.size() - digits));
    if (family == nullptr || !family->numbered) {
      return std::nullopt;
    }
    return MemberName{family, std::stoull(number)};
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    names.reserve(families_->size());
    for (const Family& family : *families_) {
      names.push_back(family.name);
    }
    return names;
  }

 private:
  const std::vector<Family>* families_;
  std::map<std::string_view, const Family*> by_name_;
};

/// Every device has one name: no family twice, and no "cpu1" beside a family "cpu" of two.
void require_distinct(const std::vector<Family>& families, const std::string& node_path) {
  const FamilyTable table(families);
  for (std::size_t i = 1; i < families.size(); ++i) {
    const std::string& name = families[i].name;
    const auto member = table.find_member(name);
    if (table.find(name) == &families[i] && (!member || member->number >= member->family->count)) {
      continue;
    }
    // The first family is that of the GPUs, which stands in no list.
    throw InputError("expected a name that no other device has, got " + in_quotes(name),
                     at(node_path + ".devices", i - 1) + ".name");
  }
}

std::vector<Family> resolve_families(const NodeSpec& spec, const std::string& node_path) {
  std::vector<Family> families{{"gpu", DeviceKind::Gpu, true, 0, spec.gpus}};
  std::uint64_t position = spec.gpus;
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const DeviceGroupSpec& group = spec.devices[i];
    const std::string path = at(node_path + ".devices", i);
    require_family_name(group, path + ".name");
    if (group.kind == DeviceKind::Gpu) {
      throw InputError(
          "expected another kind than gpu: " + node_path + ".gpus says how many GPUs there are",
          path + ".kind");
    }
    const std::uint32_t count = group.count.value_or(1);
    require_count(count, path + ".count");
    require_sizes(position + count, 0, path + ".count");
    families.push_back({group.name, group.kind, group.count.has_value(),
                        static_cast<std::uint32_t>(position), count});
    position += count;
  }
  require_distinct(families, node_path);
  return families;
}

[[noreturn]] void refuse_end(const FamilyTable& families, const std::string& name,
                             const std::string& path) {
  constexpr std::size_t most_named = 12;
  const std::vector<std::string> accepted = families.names();
  const std::string list = accepted.size() > most_named ? "" : " (" + one_of(accepted) + ")";
  throw InputError("expected a device of the node" + list + ", got " + in_quotes(name), path,
                   did_you_mean(name, accepted));
}

Members resolve_end(const FamilyTable& families, const std::string& name, const std::string& path) {
  if (const Family* family = families.find(name)) {
    return {family->first, family->count};
  }
  const auto member = families.find_member(name);
  if (!member) {
    refuse_end(families, name, path);
  }
  const Family& family = *member->family;
  if (member->number >= family.count) {
    const std::string last = family.name + std::to_string(family.count - 1);
    throw InputError("expected a device of the node, " + family.name + "0 to " + last + ", got " +
                         in_quotes(name),
                     path, "did you mean " + in_quotes(last) + "?");
  }
  return {family.first + static_cast<std::uint32_t>(member->number), 1};
}

/// What the ends of an entry say, with the place of the entry for messages.
struct Ends {
  Members from;
  Members to;
  const LinkSpec& spec;
  const std::string& path;
};

[[noreturn]] void refuse_pairing(const Ends& ends, const std::string& accepted) {
  throw InputError("expected " + accepted + ", got " + std::to_string(ends.from.count) + " of " +
                       in_quotes(ends.spec.from) + " and " + std::to_string(ends.to.count) +
                       " of " + in_quotes(ends.spec.to),
                   ends.path + ".to");
}

/// Checks that the ends fit `connect`; gives the number of pairs.
std::uint64_t require_pairing(const Ends& ends) {
  const std::uint64_t from = ends.from.count;
  const std::uint64_t to = ends.to.count;
  if (ends.spec.connect == Connect::Mesh) {
    if (ends.spec.from != ends.spec.to) {
      throw InputError("expected the family of `from`, " + in_quotes(ends.spec.from) +
                           ", for a mesh, got " + in_quotes(ends.spec.to),
                       ends.path + ".to");
    }
    return ends.spec.duplex == Duplex::BothWays ? from * (from - 1) / 2 : from * (from - 1);
  }
  const bool apart = ends.from.first + ends.from.count <= ends.to.first ||
                     ends.to.first + ends.to.count <= ends.from.first;
  if (!apart) {
    throw InputError("expected other devices than those of `from`, " + in_quotes(ends.spec.from) +
                         ", got " + in_quotes(ends.spec.to),
                     ends.path + ".to", "`connect: mesh` joins every pair of one family");
  }
  if (ends.spec.connect == Connect::All) {
    return from * to;
  }
  if (ends.spec.connect == Connect::OneToOne && from != to) {
    refuse_pairing(ends, "as many devices in `to` as in `from`");
  }
  if (ends.spec.connect == Connect::Grouped && from % to != 0) {
    refuse_pairing(ends, "a whole number of `from` devices for each in `to`");
  }
  return from;
}

/// Calls pair(source, target) for each pair of devices that an entry joins, by position.
template <class PairFunction>
void for_each_pair(const Ends& ends, PairFunction pair) {
  const auto [from, to] = std::pair(ends.from, ends.to);
  switch (ends.spec.connect) {
    case Connect::All:
      for (std::uint32_t i = 0; i < from.count; ++i) {
        for (std::uint32_t j = 0; j < to.count; ++j) {
          pair(from.first + i, to.first + j);
        }
      }
      break;
    case Connect::OneToOne:
      for (std::uint32_t i = 0; i < from.count; ++i) {
        pair(from.first + i, to.first + i);
      }
      break;
    case Connect::Grouped:
      for (std::uint32_t i = 0; i < from.count; ++i) {
        pair(from.first + i, to.first + i / (from.count / to.count));
      }
      break;
    case Connect::Mesh: {
      const bool cables = ends.spec.duplex == Duplex::BothWays;
      for (std::uint32_t i = 0; i < from.count; ++i) {
        for (std::uint32_t j = cables ? i + 1 : 0; j < from.count; ++j) {
          if (i != j) {
            pair(from.first + i, from.first + j);
          }
        }
      }
      break;
    }
  }
}

void resolve_links(const NodeSpec& spec, NodeTemplate& node) {
  const FamilyTable families(node.families);
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    const LinkSpec& link = spec.links[i];
    const std::string path = at(node.path + ".links", i);
    const Ends ends{resolve_end(families, link.from, path + ".from"),
                    resolve_end(families, link.to, path + ".to"), link, path};
    require_link(link.bandwidth, link.latency, path);
    require_count(link.count, path + ".count");
    const std::uint64_t pairs = require_pairing(ends);
    require_sizes(0, pairs, path);
    node.links += pairs * link.count * (link.duplex == Duplex::BothWays ? 2U : 1U);
    require_sizes(0, node.links, path);
    for_each_pair(ends, [&](std::uint32_t source, std::uint32_t target) {
      node.pairs.push_back({source, target, static_cast<std::uint32_t>(i)});
    });
  }
}

}  // namespace

NodeTemplate resolve_node(const NodeSpec& spec, const std::string& path) {
  require_gpu_memory(spec.gpu_memory, path + ".gpu_memory");
  if (spec.host_memory) {
    require_host_memory(*spec.host_memory, path + ".host_memory");
  }
  if (spec.gpus == 0) {
    throw InputError("expected at least 1 GPU in a node, got 0", path + ".gpus");
  }
  require_sizes(spec.gpus, 0, path + ".gpus");
  NodeTemplate node;
  node.path = path;
  node.families = resolve_families(spec, path);
  for (const Family& family : node.families) {
    node.devices = family.first + family.count;
    if (family.kind != DeviceKind::Nic) {
      continue;
    }
    for (std::uint32_t i = 0; i < family.count; ++i) {
      node.nics.push_back(family.first + i);
    }
  }
  resolve_links(spec, node);
  return node;
}

}  // namespace collsim::detail
