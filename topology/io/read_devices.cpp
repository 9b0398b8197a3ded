#include "topology/io/read_devices.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::array<Choice<DeviceKind>, 6> all_device_kinds{
    {{"gpu", DeviceKind::Gpu},
     {"nvswitch", DeviceKind::Nvswitch},
     {"pcie-switch", DeviceKind::PcieSwitch},
     {"cpu", DeviceKind::Cpu},
     {"nic", DeviceKind::Nic},
     {"switch", DeviceKind::NetworkSwitch}}};

constexpr std::array<Choice<ProcessorVendor>, 5> vendors{{{"intel", ProcessorVendor::Intel},
                                                          {"amd", ProcessorVendor::Amd},
                                                          {"arm", ProcessorVendor::Arm},
                                                          {"power", ProcessorVendor::Power},
                                                          {"zhaoxin", ProcessorVendor::Zhaoxin}}};

/// The keys of one kind of device alone.
struct KindKeys {
  DeviceKind kind;
  std::string_view key;
};
constexpr std::array<KindKeys, 10> keys_of_kinds{{{DeviceKind::Cpu, "processor"},
                                                  {DeviceKind::Nic, "speed"},
                                                  {DeviceKind::Nic, "latency"},
                                                  {DeviceKind::Nic, "gpudirect"},
                                                  {DeviceKind::Nic, "collnet"},
                                                  {DeviceKind::Nic, "card"},
                                                  {DeviceKind::Nic, "guid"},
                                                  {DeviceKind::Nic, "port"},
                                                  {DeviceKind::Nic, "number"},
                                                  {DeviceKind::PcieSwitch, "pci_ids"}}};

void refuse_keys_of_others(const MappingReader& device, DeviceKind kind) {
  for (const KindKeys& known : keys_of_kinds) {
    if (known.kind != kind && device.has(known.key)) {
      device.refuse_key(std::string(known.key),
                        "only devices of kind " + std::string(name_of(known.kind)) +
                            (known.kind == DeviceKind::Cpu ? " are processors" : " have one"));
    }
  }
}

ProcessorSpec read_processor(const MappingReader& device) {
  constexpr IntegerRange cpuid{0, 4095};
  const MappingReader reader = device.mapping("processor", {"vendor", "family", "model"});
  ProcessorSpec processor;
  processor.vendor = reader.choice("vendor", std::span<const Choice<ProcessorVendor>>(vendors));
  if (processor.vendor == ProcessorVendor::Arm || processor.vendor == ProcessorVendor::Power) {
    for (const std::string key : {"family", "model"}) {
      if (reader.has(key)) {
        reader.refuse_key(key, "only x86 processors have one");
      }
    }
    return processor;
  }
  processor.family = reader.integer("family", cpuid);
  processor.model = reader.integer("model", cpuid);
  return processor;
}

/// Hexadecimal digits, as many as fit, all of the text.
template <class Number>
std::optional<Number> hexadecimal(std::string_view text) {
  Number number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole ? std::optional<Number>(number) : std::nullopt;
}

std::string read_guid(const MappingReader& device) {
  std::string text = device.text("guid");
  if (!text.starts_with("0x") || !hexadecimal<std::uint64_t>(std::string_view(text).substr(2))) {
    device.refuse("guid",
                  "expected a hexadecimal number of 64 bits such as 0x1f, got " + in_quotes(text));
  }
  return text;
}

NicSpec read_nic(const MappingReader& device) {
  constexpr IntegerRange small_numbers{0, 65535};
  constexpr std::uint32_t most_number = std::numeric_limits<std::int32_t>::max();
  NicSpec nic;
  if (device.has("speed")) {
    nic.speed = device.bandwidth("speed");
    if (*nic.speed <= Bandwidth{}) {
      device.refuse("speed", "expected more than 0");
    }
  }
  if (device.has("latency")) {
    nic.latency = device.duration("latency");
  }
  nic.gpudirect = read_flag(device, "gpudirect", nic.gpudirect);
  nic.collnet = read_flag(device, "collnet", nic.collnet);
  if (device.has("card")) {
    nic.card = device.integer("card", small_numbers);
  }
  if (device.has("guid")) {
    nic.guid = read_guid(device);
  }
  if (device.has("port")) {
    nic.port = device.integer("port", small_numbers);
  }
  if (device.has("number")) {
    nic.number = device.integer("number", {0, most_number});
  }
  return nic;
}

/// "1000:c030:1000:1004"
PciIds read_pci_ids(const MappingReader& device) {
  const std::string text = device.text("pci_ids");
  std::array<std::uint16_t, 4> ids{};
  std::string_view rest = text;
  bool good = std::ranges::count(text, ':') == 3;
  for (std::size_t i = 0; good && i < ids.size(); ++i) {
    const std::string_view word = rest.substr(0, rest.find(':'));
    const auto id = hexadecimal<std::uint16_t>(word);
    good = id.has_value();
    ids.at(i) = id.value_or(0);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  if (!good) {
    device.refuse("pci_ids",
                  "expected vendor, device, subsystem vendor and device as hexadecimal numbers, "
                  "such as \"1000:c030:1000:1004\", got " +
                      in_quotes(text));
  }
  return {ids[0], ids[1], ids[2], ids[3]};
}

}  // namespace

std::span<const Choice<DeviceKind>> device_kinds() { return all_device_kinds; }

bool read_flag(const MappingReader& reader, const std::string& key, bool otherwise) {
  static constexpr std::array<Choice<bool>, 2> words{{{"true", true}, {"false", false}}};
  return reader.has(key) ? reader.choice(key, std::span<const Choice<bool>>(words)) : otherwise;
}

DeviceGroupSpec read_device_group(ReadContext context, const LocatedNode& item) {
  std::vector<std::string> accepted{"name", "kind", "count"};
  for (const KindKeys& known : keys_of_kinds) {
    accepted.emplace_back(known.key);
  }
  const MappingReader device(context, item, std::move(accepted));
  DeviceGroupSpec group;
  group.name = device.text("name");
  group.kind = device.choice("kind", device_kinds());
  if (device.has("count")) {
    group.count = device.integer("count", device_counts);
  }
  refuse_keys_of_others(device, group.kind);
  if (device.has("processor")) {
    group.processor = read_processor(device);
  }
  if (group.kind == DeviceKind::Nic) {
    group.nic = read_nic(device);
  }
  if (device.has("pci_ids")) {
    group.pci_ids = read_pci_ids(device);
  }
  return group;
}

}  // namespace collsim
