#include "tools/layer_layout.hpp"

#include <algorithm>
#include <optional>

namespace collsim {

namespace {

class Layers {
 public:
  explicit Layers(LayeredElements& layered) : layered_(&layered) {
    above_.resize(layered.elements.size());
    for (std::size_t i = 0; i < layered.elements.size(); ++i) {
      for (const std::size_t below : layered.elements[i].below) {
        above_[below].push_back(i);
      }
    }
    place_.resize(layered.elements.size());
  }

  void order() {
    constexpr int sweeps = 4;
    number_places();
    const std::size_t layers = layered_->layers.size();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (std::size_t i = 1; i < layers; ++i) {
        order_by(i, true);
      }
      for (std::size_t i = layers - 1; i-- > first_free();) {
        order_by(i, false);
      }
    }
  }

  void coordinates() {
    if (!layered_->first_fixed) {
      anchor_ = widest_layer();
      spread(anchor_);
    }
    // Twice, as what has no neighbours towards the widest layer waits for those beyond.
    for (int sweep = 0; sweep < 2; ++sweep) {
      for (std::size_t i = anchor_ + 1; i < layered_->layers.size(); ++i) {
        settle(i);
      }
      for (std::size_t i = anchor_; i-- > 0;) {
        settle(i);
      }
    }
  }

 private:
  [[nodiscard]] std::size_t first_free() const { return layered_->first_fixed ? 1 : 0; }
  [[nodiscard]] LayerElement& element(std::size_t i) { return layered_->elements[i]; }

  void number_places() {
    for (const auto& layer : layered_->layers) {
      for (std::size_t i = 0; i < layer.size(); ++i) {
        place_[layer[i]] = static_cast<double>(i);
      }
    }
  }

  /// The mean of a measure over what an element is joined with on one side; absent: nothing.
  template <class Measure>
  std::optional<double> mean(std::size_t i, bool below, Measure measure) {
    const std::vector<std::size_t>& others = below ? element(i).below : above_[i];
    if (others.empty()) {
      return std::nullopt;
    }
    double sum = 0;
    for (const std::size_t other : others) {
      sum += measure(other);
    }
    return sum / static_cast<double>(others.size());
  }

  void order_by(std::size_t layer, bool below) {
    std::vector<std::size_t>& members = layered_->layers[layer];
    // Places of layers with different numbers of elements are compared as parts of the whole.
    const double scale = scale_between(layer, below);
    std::vector<double> wished(layered_->elements.size());
    for (const std::size_t i : members) {
      const auto found = mean(i, below, [this](std::size_t other) { return place_[other]; });
      wished[i] = found ? *found * scale : place_[i];
    }
    std::vector<std::size_t> in_order;
    std::ranges::copy_if(members, std::back_inserter(in_order),
                         [this](std::size_t i) { return layered_->elements[i].keeps_order; });
    std::ranges::stable_sort(members, {}, [&](std::size_t i) { return wished[i]; });
    auto next = in_order.begin();
    for (std::size_t& i : members) {
      i = layered_->elements[i].keeps_order ? *next++ : i;
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      place_[members[i]] = static_cast<double>(i);
    }
  }

  [[nodiscard]] double scale_between(std::size_t layer, bool below) const {
    const auto size = [this](std::size_t i) {
      return static_cast<double>(std::max<std::size_t>(2, layered_->layers[i].size()) - 1);
    };
    return size(layer) / size(below ? layer - 1 : layer + 1);
  }

  [[nodiscard]] double distance(std::size_t left, std::size_t right) const {
    return (layered_->elements[left].width + layered_->elements[right].width) / 2 + layered_->gap;
  }

  [[nodiscard]] std::size_t widest_layer() const {
    std::size_t widest = 0;
    double width = -1;
    for (std::size_t i = 0; i < layered_->layers.size(); ++i) {
      double sum = 0;
      for (const std::size_t member : layered_->layers[i]) {
        sum += layered_->elements[member].width + layered_->gap;
      }
      if (sum > width) {
        widest = i;
        width = sum;
      }
    }
    return widest;
  }

  void spread(std::size_t layer) {
    double x = 0;
    const std::vector<std::size_t>& members = layered_->layers[layer];
    for (std::size_t i = 0; i < members.size(); ++i) {
      x += i == 0 ? 0 : distance(members[i - 1], members[i]);
      element(members[i]).x = x;
    }
  }

  void settle(std::size_t layer) {
    const std::vector<std::size_t>& members = layered_->layers[layer];
    const bool towards_below = layer > anchor_;
    std::vector<double> wished;
    std::vector<double> distances;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const double beside = i == 0 ? 0 : wished.back() + distance(members[i - 1], members[i]);
      wished.push_back(wish(members[i], towards_below).value_or(beside));
      if (i > 0) {
        distances.push_back(distance(members[i - 1], members[i]));
      }
    }
    const std::vector<double> found = separated(wished, distances);
    for (std::size_t i = 0; i < members.size(); ++i) {
      element(members[i]).x = found[i];
    }
  }

  /// The mean of its neighbours towards the widest layer; where there are none, of the others.
  std::optional<double> wish(std::size_t i, bool towards_below) {
    const auto x = [this](std::size_t other) { return layered_->elements[other].x; };
    const std::optional<double> near = mean(i, towards_below, x);
    return near ? near : mean(i, !towards_below, x);
  }

  LayeredElements* layered_;
  std::vector<std::vector<std::size_t>> above_;
  std::size_t anchor_ = 0;     ///< the layer from which coordinates are found
  std::vector<double> place_;  ///< by element: which one it is in its layer
};

}  // namespace

void place_layers(LayeredElements& layered) {
  Layers layers(layered);
  layers.order();
  layers.coordinates();
}

std::vector<double> separated(const std::vector<double>& wished,
                              const std::vector<double>& distance) {
  // Without the distances, the order alone must hold: neighbours in the wrong order share their mean.
  struct Pool {
    double sum = 0;
    std::size_t count = 0;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<double> offset(wished.size(), 0);
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < wished.size(); ++i) {
    offset[i] = i == 0 ? 0 : offset[i - 1] + distance[i - 1];
    pools.push_back({wished[i] - offset[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<double> found;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i) {
      found.push_back(pool.mean() + offset[found.size()]);
    }
  }
  return found;
}

}  // namespace collsim
