#include "topology/symmetry.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
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
  explicit LabelledGraph(const Graph& graph) : devices_(graph.devices().size()) {
    const std::vector<Label> label = label_links(graph);
    std::vector<std::vector<Vertex>> members(graph.nodes());
    begin_.reserve(devices_ + members.size() + 1);
    neighbours_.reserve(2 * graph.links().size() + 2 * devices_);
    for (std::size_t i = 0; i < devices_; ++i) {
      begin_.push_back(neighbours_.size());
      for (const LinkId link : graph.links_out(DeviceId(i))) {
        neighbours_.push_back({graph.link(link).target.value(), label[link.index()] + inward});
      }
      for (const LinkId link : graph.links_in(DeviceId(i))) {
        neighbours_.push_back({graph.link(link).source.value(), label[link.index()] + outward});
      }
      if (const auto node = graph.devices()[i].node) {
        neighbours_.push_back({static_cast<Vertex>(devices_ + node->index()), membership});
        members[node->index()].push_back(static_cast<Vertex>(i));
      }
    }
    for (const std::vector<Vertex>& devices_of_node : members) {
      begin_.push_back(neighbours_.size());
      for (const Vertex device : devices_of_node) {
        neighbours_.push_back({device, membership});
      }
    }
    begin_.push_back(neighbours_.size());
  }

  [[nodiscard]] std::size_t devices() const { return devices_; }
  [[nodiscard]] std::size_t size() const { return begin_.size() - 1; }
  [[nodiscard]] std::size_t labels() const { return labels_; }

  /// What a vertex is joined with; the label is the one that the neighbour sees.
  [[nodiscard]] std::span<const Neighbour> neighbours(Vertex vertex) const {
    return std::span(neighbours_).subspan(begin_[vertex], begin_[vertex + 1] - begin_[vertex]);
  }

 private:
  static constexpr Label membership = 0;
  static constexpr Label outward = 1;
  static constexpr Label inward = 2;

  /// Twice the number of the link's class: leaves room for both directions.
  std::vector<Label> label_links(const Graph& graph) {
    std::map<std::tuple<LevelId, LinkKind, Bandwidth, Duration>, Label> classes;
    std::vector<Label> labels;
    labels.reserve(graph.links().size());
    for (const Link& link : graph.links()) {
      const auto next = static_cast<Label>(2 * classes.size());
      labels.push_back(
          classes.try_emplace({link.level, link.kind, link.bandwidth, link.latency}, next)
              .first->second);
    }
    labels_ = 2 * classes.size() + 1;
    return labels;
  }

  std::size_t devices_ = 0;
  std::size_t labels_ = 0;
  std::vector<std::size_t> begin_;  ///< by vertex, and one behind: where its neighbours begin
  std::vector<Neighbour> neighbours_;
};

/// Splits classes until no class sees another one in two ways. Every class is followed up once, in
/// the order in which they come to be: what the members of the others see of it, label by label,
/// splits them. The largest part of a class that is split keeps its number: what others see of it
/// follows from what they see of the whole and of the parts that are new.
class Refinement {
 public:
  /// Begins with one class for each value of `kind`, by vertex.
  Refinement(const LabelledGraph& graph, const std::vector<std::uint32_t>& kind)
      : graph_(&graph),
        class_(kind),
        members_(kind.size()),
        place_(kind.size()),
        count_(kind.size(), 0),
        seeing_(graph.labels()) {
    std::iota(members_.begin(), members_.end(), Vertex{0});
    std::ranges::stable_sort(members_, {}, [&](Vertex vertex) { return kind[vertex]; });
    for (std::size_t i = 0; i < members_.size(); ++i) {
      place_[members_[i]] = i;
      if (i == 0 || kind[members_[i]] != kind[members_[i - 1]]) {
        classes_.push_back({i, i, 0});
      }
      ++classes_.back().end;
      class_[members_[i]] = static_cast<Class>(classes_.size() - 1);
    }
  }

  void run() {
    for (Class by = 0; by < classes_.size(); ++by) {
      look_at(by);
      for (const Label label : labels_seen_) {
        split_by(seeing_[label]);
        seeing_[label].clear();
      }
      labels_seen_.clear();
    }
  }

  [[nodiscard]] const std::vector<Class>& classes() const { return class_; }

 private:
  /// A stretch of members_; those that see what is looked at stand at its end.
  struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t seeing = 0;

    [[nodiscard]] std::size_t size() const { return end - begin; }
  };

  /// Notes who sees the class, by label: once for each of its members.
  void look_at(Class seen) {
    for (std::size_t i = classes_[seen].begin; i < classes_[seen].end; ++i) {
      for (const Neighbour neighbour : graph_->neighbours(members_[i])) {
        if (classes_[class_[neighbour.vertex]].size() == 1) {
          continue;
        }
        std::vector<Vertex>& seeing = seeing_[neighbour.label];
        if (seeing.empty()) {
          labels_seen_.push_back(neighbour.label);
        }
        seeing.push_back(neighbour.vertex);
      }
    }
  }

  /// Splits every class by how often its members are in the list.
  void split_by(const std::vector<Vertex>& seeing) {
    std::vector<Class> touched;
    for (const Vertex vertex : seeing) {
      if (++count_[vertex] > 1) {
        continue;
      }
      Stretch& stretch = classes_[class_[vertex]];
      if (stretch.seeing == 0) {
        touched.push_back(class_[vertex]);
      }
      ++stretch.seeing;
      swap_to(vertex, stretch.end - stretch.seeing);
    }
    for (const Class shared : touched) {
      split(shared);
    }
    for (const Vertex vertex : seeing) {
      count_[vertex] = 0;
    }
  }

  void swap_to(Vertex vertex, std::size_t place) {
    const Vertex other = members_[place];
    members_[place_[vertex]] = other;
    place_[other] = place_[vertex];
    members_[place] = vertex;
    place_[vertex] = place;
  }

  void split(Class shared) {
    const Stretch whole = classes_[shared];
    classes_[shared].seeing = 0;
    const auto count_of = [this](Vertex vertex) { return count_[vertex]; };
    const auto seeing = std::span(members_).subspan(whole.end - whole.seeing, whole.seeing);
    if (!std::ranges::is_sorted(seeing, {}, count_of)) {
      std::ranges::sort(seeing, {}, count_of);
      for (std::size_t i = whole.end - whole.seeing; i < whole.end; ++i) {
        place_[members_[i]] = i;
      }
    }
    std::vector<Stretch> parts;
    for (std::size_t begin = whole.begin; begin < whole.end;) {
      std::size_t end = begin == whole.begin ? whole.end - whole.seeing : begin;
      while (end < whole.end &&
             (end == begin || count_of(members_[end]) == count_of(members_[begin]))) {
        ++end;
      }
      parts.push_back({begin, end, 0});
      begin = end;
    }
    const auto largest = std::ranges::max_element(parts, {}, &Stretch::size);
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (part == largest) {
        classes_[shared] = *part;
        continue;
      }
      for (std::size_t i = part->begin; i < part->end; ++i) {
        class_[members_[i]] = static_cast<Class>(classes_.size());
      }
      classes_.push_back(*part);
    }
  }

  const LabelledGraph* graph_;
  std::vector<Class> class_;          ///< by vertex
  std::vector<Vertex> members_;       ///< class by class
  std::vector<std::size_t> place_;    ///< by vertex: where it stands in members_
  std::vector<std::uint32_t> count_;  ///< by vertex: how often it sees what is looked at
  std::vector<Stretch> classes_;
  std::vector<std::vector<Vertex>> seeing_;  ///< by label: who sees the class that is looked at
  std::vector<Label> labels_seen_;           ///< that have an entry in seeing_
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
  Refinement refinement(labelled, kind);
  refinement.run();

  const std::span<const Class> classes = refinement.classes();
  SymmetryClasses result;
  result.device_classes = renumber(classes.first(labelled.devices()), result.of_device);
  result.node_classes = renumber(classes.subspan(labelled.devices()), result.of_node);
  return result;
}

}  // namespace collsim
