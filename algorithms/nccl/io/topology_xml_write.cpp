#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "algorithms/nccl/io/topology_xml.hpp"
#include "algorithms/nccl/io/xml_writer.hpp"

namespace collsim::nccl {

namespace {

void write_gpu(XmlWriter& writer, const MachineGpu& gpu, Maker maker) {
  writer.open("gpu");
  writer.attribute("dev", gpu.dev);
  writer.attribute("sm", gpu.sm);
  writer.attribute("gcn", gpu.gcn);
  writer.attribute("rank", gpu.rank);
  writer.attribute("gdr", gpu.gdr ? 1 : 0);
  for (const MachineNvlink& nvlink : gpu.nvlinks) {
    writer.open(maker == Maker::Amd ? "xgmi" : "nvlink");
    writer.attribute("target", nvlink.target);
    writer.attribute("count", nvlink.count);
    writer.attribute("tclass", nvlink.target_class);
    writer.close();
  }
  for (const MachineC2c& c2c : gpu.c2cs) {
    writer.open("c2c");
    writer.attribute("bw", c2c.bandwidth);
    writer.attribute("count", c2c.count);
    writer.close();
  }
  writer.close();
}

void write_nic(XmlWriter& writer, const MachineNic& nic) {
  writer.open("nic");
  for (const MachineNet& net : nic.nets) {
    writer.open("net");
    writer.attribute("name", net.name);
    writer.attribute("dev", net.dev);
    writer.attribute("latency", net.latency);
    writer.attribute("speed", net.speed);
    writer.attribute("port", net.port);
    writer.attribute("guid", net.guid);
    writer.attribute("maxconn", net.max_connections);
    writer.attribute("gdr", net.gdr ? 1 : 0);
    if (net.collective) {
      writer.attribute("coll", 1);
    }
    writer.close();
  }
  writer.close();
}

void write_pci(XmlWriter& writer, const MachinePci& pci, Maker maker) {
  writer.open("pci");
  writer.attribute("busid", pci.bus_id);
  writer.attribute("class", pci.device_class);
  writer.attribute("vendor", pci.vendor);
  writer.attribute("device", pci.device);
  writer.attribute("subsystem_vendor", pci.subsystem_vendor);
  writer.attribute("subsystem_device", pci.subsystem_device);
  writer.attribute("link_speed", pci.link_speed);
  writer.attribute("link_width", pci.link_width);
  if (pci.gpu) {
    write_gpu(writer, *pci.gpu, maker);
  }
  if (pci.nic) {
    write_nic(writer, *pci.nic);
  }
  for (const std::string& target : pci.peer_switches) {
    writer.open("pcilink");
    writer.attribute("target", target);
    writer.close();
  }
  for (const MachinePci& child : pci.children) {
    write_pci(writer, child, maker);
  }
  writer.close();
}

}  // namespace

std::string write_topology_xml(const Machine& machine) {
  XmlWriter writer;
  writer.open("system");
  writer.attribute("version", machine.maker == Maker::Amd ? 2 : 1);
  for (const MachineCpu& cpu : machine.cpus) {
    writer.open("cpu");
    writer.attribute("host_hash", cpu.host_hash);
    writer.attribute("numaid", cpu.numa_id);
    writer.attribute("affinity", cpu.affinity);
    writer.attribute("arch", cpu.architecture);
    writer.attribute("vendor", cpu.vendor);
    writer.attribute("familyid", cpu.family_id);
    writer.attribute("modelid", cpu.model_id);
    for (const auto& device : cpu.devices) {
      if (const auto* pci = std::get_if<MachinePci>(&device)) {
        write_pci(writer, *pci, machine.maker);
      } else {
        write_nic(writer, std::get<MachineNic>(device));
      }
    }
    writer.close();
  }
  writer.close();
  return writer.text();
}

}  // namespace collsim::nccl
