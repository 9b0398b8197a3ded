#include "algorithms/nccl/link_budget.hpp"

#include "algorithms/nccl/detect.hpp"
#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

const std::string gen4 = "16.0 GT/s PCIe";  // 24 GB/s at x16

DetectedNode two_gpus(MachineCpu cpu, int sm) {
  Machine machine{{std::move(cpu)}};
  for (int gpu = 0; gpu < 2; ++gpu) {
    machine.cpus[0].devices.emplace_back(test::gpu_device(16 * (gpu + 1), gpu, sm, 0, gen4));
  }
  machine.cpus[0].devices.emplace_back(test::nic_device(64, 0, 400000, gen4));
  return detect(machine, NodeCount::Several);
}

/// How many times a bandwidth can be taken.
int times(LinkBudget& budget, const DetectedNode& node, PartId from, PartId to, float bandwidth) {
  int count = 0;
  while (count < 100 && budget.take(node.paths.between(from, to), from, bandwidth)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a path takes its share of links until one has too little, and then nothing") {
  const DetectedNode node = two_gpus(test::amd_cpu(0), 80);
  LinkBudget budget(node.system);
  const PartId a = node.gpus[0];
  const PartId b = node.gpus[1];
  CHECK(times(budget, node, a, b, 10) == 2);
  CHECK(times(budget, node, a, b, 4) == 1);
  // The other direction has links of its own.
  CHECK(times(budget, node, b, a, 12) == 2);
  budget.take(node.paths.between(a, b), a, -4);
  CHECK(times(budget, node, a, b, 4) == 1);
}

TEST_CASE("what is given back can be taken again, in thousandths of GB/s") {
  const DetectedNode node = two_gpus(test::amd_cpu(0), 80);
  LinkBudget budget(node.system);
  const Path& path = node.paths.between(node.gpus[0], node.gpus[1]);
  for (int i = 0; i < 1000; ++i) {
    CHECK(budget.take(path, node.gpus[0], 0.12F));
    CHECK(budget.take(path, node.gpus[0], -0.12F));
  }
  CHECK(budget.take(path, node.gpus[0], 24));
}

TEST_CASE("from GPU to GPU through an Intel CPU PCIe links carry 6/5") {
  const DetectedNode node = two_gpus(test::intel_cpu(0, 143), 80);
  LinkBudget budget(node.system);
  // 20 · 6/5 = 24.
  CHECK(times(budget, node, node.gpus[0], node.gpus[1], 20.5F) == 0);
  CHECK(times(budget, node, node.gpus[0], node.gpus[1], 20) == 1);
}

TEST_CASE("into a GPU before sm80 an eighth goes the other way as well") {
  const DetectedNode old = two_gpus(test::amd_cpu(0), 70);
  LinkBudget budget(old.system);
  const PartId net = old.system.all(PartKind::Net).front();
  const PartId gpu = old.gpus[0];
  CHECK(times(budget, old, net, gpu, 16) == 1);
  // 24 - 16/8 are left from the GPU.
  CHECK(times(budget, old, gpu, old.gpus[1], 22.5F) == 0);
  CHECK(times(budget, old, gpu, old.gpus[1], 22) == 1);
}

}  // namespace collsim::nccl
