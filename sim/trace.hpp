#pragma once

// What an observer of a run can see. Observers must not change anything.

#include <cstdint>

#include "algorithms/program.hpp"
#include "sim/network.hpp"
#include "sim/workload.hpp"

namespace collsim {

/// A step of a lane, from when the lane reached it to when it let go of the lane. Reported at its
/// end.
struct StepRecord {
  OperationId operation;
  Rank rank;
  DeviceId gpu;
  std::uint32_t lane = 0;
  std::uint32_t channel = 0;
  std::uint64_t index = 0;
  Primitive primitive = Primitive::Nothing;
  Bytes bytes;
  Time reached;  ///< the lane's previous step was complete
  Time ready;    ///< all messages, dependencies and credit were there: the sends started
  Time end;
};

/// A transfer over the network. Reported when the receiving step takes the message.
struct TransferRecord {
  OperationId operation;
  Rank from;
  Rank to;
  DeviceId from_gpu;
  DeviceId to_gpu;
  std::uint32_t from_lane = 0;
  std::uint32_t to_lane = 0;
  std::uint32_t channel = 0;  ///< of the sending lane
  Bytes bytes;
  const Route* route = nullptr;  ///< valid during the call only
  Time start;                    ///< the sending step was ready
  Time left;                     ///< last byte
  Time arrived;                  ///< last byte
  Time received;                 ///< the receiving step had all it waited for
};

class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  virtual void on_step(const StepRecord& record) = 0;
  virtual void on_transfer(const TransferRecord& record) = 0;

 protected:
  TraceObserver() = default;
  TraceObserver(const TraceObserver&) = default;
  TraceObserver& operator=(const TraceObserver&) = default;
};

}  // namespace collsim
