#include "topology/symmetry.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace collsim {

namespace {

using Vertex = std::uint32_t;  ///< a device, or behind all devices a node
using Class = std::uint32_t;

/// What joins two vertices, seen from one of them: a link out, a link in, or membership in a node.
using Label = std::uint32_t;

struct Neighbour {
  Vertex vertex = 0;
  Label label = 0;
};

/// Devices and nodes with what joins them.
class LabelledGraph {
 public:
  explicit LabelledGraph(const Graph& graph) : graph_(&graph), label_of_link_(label_links(graph)) {
    members_.resize(graph.nodes());
    for (std::size_t i = 0; i < graph.devices().size(); ++i) {
      if (const auto node = graph.devices()[i].node) {
        members_[node->index()].push_back(static_cast<Vertex>(i));
      }
    }
  }

  [[nodiscard]] std::size_t devices() const { return graph_->devices().size(); }
  [[nodiscard]] std::size_t size() const { return devices() + members_.size(); }

  /// Calls visit(neighbour) for each vertex that the given one is joined with; the label is the one
  /// that the neighbour sees.
  template <class Visit>
  void for_each_neighbour(Vertex vertex, Visit visit) const {
    if (vertex >= devices()) {
      for (const Vertex device : members_[vertex - devices()]) {
        visit(Neighbour{device, membership});
      }
      return;
    }
    const DeviceId device(vertex);
    for (const LinkId link : graph_->links_out(device)) {
      visit(Neighbour{graph_->link(link).target.value(), label_of_link_[link.index()] + inward});
    }
    for (const LinkId link : graph_->links_in(device)) {
      visit(Neighbour{graph_->link(link).source.value(), label_of_link_[link.index()] + outward});
    }
    if (const auto node = graph_->device(device).node) {
      visit(Neighbour{static_cast<Vertex>(devices() + node->index()), membership});
    }
  }

 private:
  static constexpr Label membership = 0;
  static constexpr Label outward = 1;
  static constexpr Label inward = 2;

  /// Twice the number of the link's class: leaves room for both directions.
  static std::vector<Label> label_links(const Graph& graph) {
    std::map<std::tuple<LevelId, LinkKind, Bandwidth, Duration>, Label> classes;
    std::vector<Label> labels;
    labels.reserve(graph.links().size());
    for (const Link& link : graph.links()) {
      const auto next = static_cast<Label>(2 * classes.size());
      labels.push_back(
          classes.try_emplace({link.level, link.kind, link.bandwidth, link.latency}, next)
              .first->second);
    }
    return labels;
  }

  const Graph* graph_;
  std::vector<Label> label_of_link_;
  std::vector<std::vector<Vertex>> members_;  ///< by node
};

/// What a vertex sees of the classes that have changed, in any order.
struct Sight {
  Vertex vertex = 0;
  std::uint64_t seen = 0;  ///< label and class

  auto operator<=>(const Sight&) const = default;
};

/// A vertex and the part of the sights that is its own, sorted.
struct Viewer {
  Vertex vertex = 0;
  std::span<const Sight> sights;
};

bool sees_less(const Viewer& a, const Viewer& b) {
  return std::ranges::lexicographical_compare(a.sights, b.sights, {}, &Sight::seen, &Sight::seen);
}

class Refinement {
 public:
  explicit Refinement(const LabelledGraph& graph) : graph_(&graph), class_(graph.size(), 0) {}

  /// Begins with one class for each value of `kind`, by vertex.
  void start(const std::vector<std::uint32_t>& kind) {
    members_.clear();
    position_.resize(kind.size());
    for (Vertex vertex = 0; vertex < kind.size(); ++vertex) {
      members_.resize(std::max<std::size_t>(members_.size(), kind[vertex] + 1));
      put(vertex, kind[vertex]);
    }
    changed_.resize(kind.size());
    for (Vertex vertex = 0; vertex < kind.size(); ++vertex) {
      changed_[vertex] = vertex;
    }
  }

  void run() {
    while (!changed_.empty()) {
      round();
    }
  }

  [[nodiscard]] const std::vector<Class>& classes() const { return class_; }

 private:
  void put(Vertex vertex, Class into) {
    class_[vertex] = into;
    position_[vertex] = members_[into].size();
    members_[into].push_back(vertex);
  }

  void move(Vertex vertex, Class into) {
    std::vector<Vertex>& old = members_[class_[vertex]];
    const Vertex last = old.back();
    old[position_[vertex]] = last;
    position_[last] = position_[vertex];
    old.pop_back();
    put(vertex, into);
    changed_.push_back(vertex);
  }

  [[nodiscard]] std::vector<Sight> collect_sights() const {
    std::vector<Sight> sights;
    for (const Vertex vertex : changed_) {
      const std::uint64_t own = class_[vertex];
      graph_->for_each_neighbour(vertex, [&](Neighbour neighbour) {
        sights.push_back({neighbour.vertex, (std::uint64_t{neighbour.label} << 32U) | own});
      });
    }
    std::ranges::sort(sights);
    return sights;
  }

  /// Splits every class by what its members see of the classes that changed in the last round.
  void round() {
    const std::vector<Sight> sights = collect_sights();
    changed_.clear();
    std::vector<Viewer> viewers;
    for (std::size_t begin = 0; begin < sights.size();) {
      std::size_t end = begin;
      while (end < sights.size() && sights[end].vertex == sights[begin].vertex) {
        ++end;
      }
      viewers.push_back({sights[begin].vertex, std::span(sights).subspan(begin, end - begin)});
      begin = end;
    }
    std::ranges::sort(viewers, [this](const Viewer& a, const Viewer& b) {
      const Class of_a = class_[a.vertex];
      const Class of_b = class_[b.vertex];
      return of_a != of_b ? of_a < of_b : sees_less(a, b);
    });
    for (std::size_t begin = 0; begin < viewers.size();) {
      std::size_t end = begin;
      const Class shared = class_[viewers[begin].vertex];
      while (end < viewers.size() && class_[viewers[end].vertex] == shared) {
        ++end;
      }
      // Before any is moved, as moving changes class_.
      pending_.push_back({shared, std::span(viewers).subspan(begin, end - begin)});
      begin = end;
    }
    for (const Part& part : pending_) {
      split(part.shared, part.viewers);
    }
    pending_.clear();
  }

  /// Splits one class: its members of `viewers` (sorted by what they see), those that see the same
  /// together, and the members that see nothing. The largest of the parts keeps the class, and what
  /// others see of it follows from the rest.
  void split(Class shared, std::span<const Viewer> viewers) {
    const std::size_t blind = members_[shared].size() - viewers.size();
    std::vector<std::span<const Viewer>> parts;
    for (std::size_t begin = 0; begin < viewers.size();) {
      std::size_t end = begin + 1;
      while (end < viewers.size() && !sees_less(viewers[begin], viewers[end])) {
        ++end;
      }
      parts.push_back(viewers.subspan(begin, end - begin));
      begin = end;
    }
    const auto largest = std::ranges::max_element(parts, {}, &std::span<const Viewer>::size);
    const bool blind_keep = blind >= largest->size();
    if (!blind_keep && blind > 0) {
      move_blind(shared, viewers);
    }
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (part == largest && !blind_keep) {
        continue;
      }
      const Class fresh = add_class();
      for (const Viewer& viewer : *part) {
        move(viewer.vertex, fresh);
      }
    }
  }

  void move_blind(Class shared, std::span<const Viewer> viewers) {
    std::vector<Vertex> seeing;
    seeing.reserve(viewers.size());
    for (const Viewer& viewer : viewers) {
      seeing.push_back(viewer.vertex);
    }
    std::ranges::sort(seeing);
    std::vector<Vertex> blind;
    std::ranges::copy_if(members_[shared], std::back_inserter(blind), [&](Vertex vertex) {
      return !std::ranges::binary_search(seeing, vertex);
    });
    const Class fresh = add_class();
    for (const Vertex vertex : blind) {
      move(vertex, fresh);
    }
  }

  Class add_class() {
    members_.emplace_back();
    return static_cast<Class>(members_.size() - 1);
  }

  struct Part {
    Class shared = 0;
    std::span<const Viewer> viewers;
  };

  const LabelledGraph* graph_;
  std::vector<Class> class_;                  ///< by vertex
  std::vector<std::size_t> position_;         ///< by vertex: where it stands in members_
  std::vector<std::vector<Vertex>> members_;  ///< by class
  std::vector<Vertex> changed_;               ///< got another class in the last round
  std::vector<Part> pending_;
};

/// Numbers classes in order of their first member. Returns how many there are.
std::uint32_t renumber(std::span<const Class> classes, std::vector<std::uint32_t>& numbers) {
  std::map<Class, std::uint32_t> number;
  numbers.reserve(classes.size());
  for (const Class of_vertex : classes) {
    numbers.push_back(
        number.try_emplace(of_vertex, static_cast<std::uint32_t>(number.size())).first->second);
  }
  return static_cast<std::uint32_t>(number.size());
}

}  // namespace

SymmetryClasses symmetry_classes(const Graph& graph) {
  const LabelledGraph labelled(graph);
  // 0 is for nodes.
  std::vector<std::uint32_t> kind(labelled.size(), 0);
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    kind[i] = static_cast<std::uint32_t>(graph.devices()[i].kind) + 1;
  }
  Refinement refinement(labelled);
  refinement.start(kind);
  refinement.run();

  const std::span<const Class> classes = refinement.classes();
  SymmetryClasses result;
  result.device_classes = renumber(classes.first(labelled.devices()), result.of_device);
  result.node_classes = renumber(classes.subspan(labelled.devices()), result.of_node);
  return result;
}

}  // namespace collsim
