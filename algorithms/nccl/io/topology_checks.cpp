#include "algorithms/nccl/io/topology_checks.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "algorithms/nccl/machine_text.hpp"

namespace collsim::nccl {

namespace {

constexpr NumberRange any_rank{0, std::numeric_limits<int>::max()};

using Address = std::pair<std::string, std::uint64_t>;  // host hash, bus number

/// The elements of one file, which the machine's structs no longer know the place of.
class Checks {
 public:
  explicit Checks(XmlReader& reader) : reader_(reader) {}

  void run(const XmlElement& root) {
    for (const XmlElement& cpu : root.children) {
      if (cpu.name == "cpu") {
        host_ = reader_.text(cpu, "host_hash").value_or("");
        look_below(cpu);
      }
    }
    if (gpus_ == 0) {
      reader_.warn(root, "", "no GPUs: a template, to which NCCL adds the GPUs it finds");
    } else if (ranks_.empty()) {
      reader_.warn(root, "", "no GPU has a rank: taken in the order of the file");
    }
    check_nvlinks();
  }

 private:
  struct Nvlink {
    const XmlElement* element;
    Address from;
    Address to;
    int count;
  };

  void look_below(const XmlElement& parent) {
    for (const XmlElement& child : parent.children) {
      if (child.name == "pci") {
        look_at(child, parent);
        look_below(child);
      }
    }
  }

  void look_at(const XmlElement& pci, const XmlElement& parent) {
    const std::uint64_t number = bus_number(reader_.required_text(pci, "busid"));
    const auto [known, is_new] = parents_.try_emplace({host_, number}, &parent);
    if (!is_new && known->second != &parent) {
      reader_.fail(pci, "busid", "two devices have this bus id, below different parents");
    }
    if (!is_new) {
      reader_.warn(pci, "busid", "two devices have this bus id");
    }
    for (const XmlElement& gpu : pci.children) {
      if (gpu.name == "gpu") {
        ++gpus_;
        if (const auto rank = reader_.number(gpu, "rank", any_rank)) {
          check_rank(gpu, *rank);
        }
        look_at_gpu(gpu, {host_, number});
      }
    }
  }

  void check_rank(const XmlElement& gpu, int rank) {
    if (!ranks_.insert(rank).second) {
      reader_.fail(gpu, "rank", "two GPUs have rank " + std::to_string(rank),
                   "a rank is one GPU's");
    }
  }

  void look_at_gpu(const XmlElement& gpu, const Address& address) {
    with_gpu_.insert(address);
    for (const XmlElement& nvlink : gpu.children) {
      if (nvlink.name == "nvlink" &&
          kind_of_class(reader_.required_text(nvlink, "tclass")) == PartKind::Gpu) {
        nvlinks_.push_back({&nvlink,
                            address,
                            {host_, bus_number(reader_.required_text(nvlink, "target"))},
                            reader_.required_number(nvlink, "count", {1, 1024})});
      }
    }
  }

  void check_nvlinks() {
    std::map<std::pair<Address, Address>, int> counts;
    for (const Nvlink& nvlink : nvlinks_) {
      counts[{nvlink.from, nvlink.to}] += nvlink.count;
    }
    for (const Nvlink& nvlink : nvlinks_) {
      if (nvlink.from == nvlink.to) {
        reader_.warn(*nvlink.element, "target", "leads from the GPU to itself: no way takes it");
        continue;
      }
      if (!with_gpu_.contains(nvlink.to)) {
        reader_.warn(*nvlink.element, "target",
                     "this GPU is not in the file: NCCL leaves the link out");
        continue;
      }
      const auto back = counts.find({nvlink.to, nvlink.from});
      const int there = counts.at({nvlink.from, nvlink.to});
      const int here = back == counts.end() ? 0 : back->second;
      if (there != here) {
        reader_.warn(*nvlink.element, "count",
                     std::to_string(there) + " links there, but " + std::to_string(here) + " back");
      }
    }
  }

  XmlReader& reader_;
  std::string host_;
  std::size_t gpus_ = 0;
  std::set<int> ranks_;
  std::map<Address, const XmlElement*> parents_;
  std::set<Address> with_gpu_;
  std::vector<Nvlink> nvlinks_;
};

}  // namespace

void check_topology(const XmlElement& root, XmlReader& reader) { Checks(reader).run(root); }

}  // namespace collsim::nccl
