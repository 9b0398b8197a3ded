#include "algorithms/nccl/io/topology_checks.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "algorithms/nccl/machine_text.hpp"

namespace collsim::nccl {

namespace {

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
    } else if (ranks_ == 0) {
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
        ranks_ += reader_.text(gpu, "rank").has_value() ? 1U : 0U;
        look_at_gpu(gpu, {host_, number});
      }
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
  std::size_t ranks_ = 0;
  std::map<Address, const XmlElement*> parents_;
  std::set<Address> with_gpu_;
  std::vector<Nvlink> nvlinks_;
};

}  // namespace

void check_topology(const XmlElement& root, XmlReader& reader) { Checks(reader).run(root); }

}  // namespace collsim::nccl
