#include "algorithms/nccl/variable_names.hpp"

#include <algorithm>
#include <array>

namespace collsim::nccl {

namespace {

constexpr std::array unmodelled{
    std::string_view{"NCCL_CGA_CLUSTER_SIZE"},
    std::string_view{"NCCL_CHECK_POINTERS"},
    std::string_view{"NCCL_COMM_BLOCKING"},
    std::string_view{"NCCL_COMM_ID"},
    std::string_view{"NCCL_CONF_FILE"},
    std::string_view{"NCCL_CTA_POLICY"},
    std::string_view{"NCCL_CUMEM_ENABLE"},
    std::string_view{"NCCL_CUMEM_HOST_ENABLE"},
    std::string_view{"NCCL_DEBUG"},
    std::string_view{"NCCL_DEBUG_FILE"},
    std::string_view{"NCCL_DEBUG_SUBSYS"},
    std::string_view{"NCCL_DMABUF_ENABLE"},
    std::string_view{"NCCL_ENV_PLUGIN"},
    std::string_view{"NCCL_GDRCOPY_ENABLE"},
    std::string_view{"NCCL_GRAPH_DUMP_FILE"},
    std::string_view{"NCCL_GRAPH_DUMP_FILE_RANK"},
    std::string_view{"NCCL_GRAPH_MIXING_SUPPORT"},
    std::string_view{"NCCL_GRAPH_REGISTER"},
    std::string_view{"NCCL_HOSTID"},
    std::string_view{"NCCL_IB_ADAPTIVE_ROUTING"},
    std::string_view{"NCCL_IB_AR_THRESHOLD"},
    std::string_view{"NCCL_IB_CUDA_SUPPORT"},
    std::string_view{"NCCL_IB_DISABLE"},
    std::string_view{"NCCL_IB_GID_INDEX"},
    std::string_view{"NCCL_IB_HCA"},
    std::string_view{"NCCL_IB_MERGE_NICS"},
    std::string_view{"NCCL_IB_MERGE_VFS"},
    std::string_view{"NCCL_IB_PCI_RELAXED_ORDERING"},
    std::string_view{"NCCL_IB_QPS_PER_CONNECTION"},
    std::string_view{"NCCL_IB_RETRY_CNT"},
    std::string_view{"NCCL_IB_SL"},
    std::string_view{"NCCL_IB_SPLIT_DATA_ON_QPS"},
    std::string_view{"NCCL_IB_TC"},
    std::string_view{"NCCL_IB_TIMEOUT"},
    std::string_view{"NCCL_IGNORE_CPU_AFFINITY"},
    std::string_view{"NCCL_IGNORE_DISABLED_P2P"},
    std::string_view{"NCCL_LAUNCH_MODE"},
    std::string_view{"NCCL_LAUNCH_ORDER_IMPLICIT"},
    std::string_view{"NCCL_LOCAL_REGISTER"},
    std::string_view{"NCCL_MAX_NRINGS"},
    std::string_view{"NCCL_MIN_NRINGS"},
    std::string_view{"NCCL_MNNVL_CLIQUE_ID"},
    std::string_view{"NCCL_MNNVL_ENABLE"},
    std::string_view{"NCCL_MNNVL_RAIL_PER_HOST"},
    std::string_view{"NCCL_MNNVL_SCATTER_NETS_ENABLE"},
    std::string_view{"NCCL_MNNVL_UUID"},
    std::string_view{"NCCL_MULTI_RANK_GPU_ENABLE"},
    std::string_view{"NCCL_NET"},
    std::string_view{"NCCL_NETDEVS_POLICY"},
    std::string_view{"NCCL_NET_DISABLE_INTRA"},
    std::string_view{"NCCL_NET_FORCE_MERGE"},
    std::string_view{"NCCL_NET_GDR_C2C"},
    std::string_view{"NCCL_NET_GDR_READ"},
    std::string_view{"NCCL_NET_MERGE_LEVEL"},
    std::string_view{"NCCL_NET_PLUGIN"},
    std::string_view{"NCCL_NET_SHARED_BUFFERS"},
    std::string_view{"NCCL_NET_SHARED_COMMS"},
    std::string_view{"NCCL_NSOCKS_PERTHREAD"},
    std::string_view{"NCCL_NVB_DISABLE"},
    std::string_view{"NCCL_OOB_NET_ENABLE"},
    std::string_view{"NCCL_P2P_DIRECT_DISABLE"},
    std::string_view{"NCCL_P2P_PXN_LEVEL"},
    std::string_view{"NCCL_P2P_READ_ENABLE"},
    std::string_view{"NCCL_P2P_USE_CUDA_MEMCPY"},
    std::string_view{"NCCL_PROFILER_PLUGIN"},
    std::string_view{"NCCL_PXN_C2C"},
    std::string_view{"NCCL_RAS_ENABLE"},
    std::string_view{"NCCL_RUNTIME_CONNECT"},
    std::string_view{"NCCL_SET_THREAD_NAME"},
    std::string_view{"NCCL_SHM_LOCALITY"},
    std::string_view{"NCCL_SHM_USE_CUDA_MEMCPY"},
    std::string_view{"NCCL_SOCKET_FAMILY"},
    std::string_view{"NCCL_SOCKET_IFNAME"},
    std::string_view{"NCCL_SOCKET_NTHREADS"},
    std::string_view{"NCCL_TOPO_DUMP_FILE"},
    std::string_view{"NCCL_TOPO_DUMP_FILE_RANK"},
    std::string_view{"NCCL_TUNER_CONFIG_FILE"},
    std::string_view{"NCCL_TUNER_PLUGIN"},
    std::string_view{"NCCL_WIN_ENABLE"},
    std::string_view{"NCCL_WORK_FIFO_BYTES"},
};

}  // namespace

bool is_unmodelled_variable(std::string_view name) {
  return std::find(unmodelled.begin(), unmodelled.end(), name) != unmodelled.end();
}

}  // namespace collsim::nccl
