#include "topology/cluster.hpp"
#include "topology/error.hpp"
#include "topology/io/load.hpp"

namespace collsim {

Cluster build_cluster(const LoadedCluster& loaded) {
  try {
    return Cluster(loaded.spec);
  } catch (const InputError& error) {
    throw loaded.source_map.locate(error);
  }
}

}  // namespace collsim
