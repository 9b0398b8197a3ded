#pragma once
// NCCL's collectives by copy engines (from 2.28 on): no thread of a GPU moves data.
//
// A GPU waits until all are ready (flags in memory, by operations of the stream), has its copy engine copy to
// one peer after the other, the next rank first, and waits until all have done. Every eight copies of half a
// GiB and more in all there is a barrier more.
//
// Conditions: all ranks joined by NVLink, both buffers symmetric windows, NCCL_CTA_POLICY=2 (zero). All-gather,
// all-to-all, gather and scatter.
// Deviates: copies of a batch follow each other, where engines may work side by side: the wire is shared
// either way. Source: NCCL 2.28.9, src/ce_coll.cc.

#include <memory>
#include <string>

#include "algorithms/nccl/communicator.hpp"
#include "algorithms/program.hpp"

namespace collsim::nccl {

/// Why NCCL does not have copy engines do it. Empty: it can.
[[nodiscard]] std::string copy_engine_exclusion(const Communicator& communicator,
                                                const CollectiveCall& call);

/// Requires: a call without exclusion, at least 2 ranks.
[[nodiscard]] std::unique_ptr<Program> build_copy_engine_program(const CollectiveCall& call);

}  // namespace collsim::nccl
