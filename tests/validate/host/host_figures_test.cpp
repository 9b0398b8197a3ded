#include "validate/host/host_figures.hpp"

#include "tests/catch.hpp"

using namespace collsim;

TEST_CASE("what a machine can do is measured, whatever it is") {
  const HostFigures figures = measure_host(3);
  CHECK(figures.ranks == 3);
  CHECK(figures.copy > Bandwidth());
  CHECK(figures.pair > Bandwidth());
  CHECK(figures.all > Bandwidth());
  CHECK(figures.wake_up > Duration(0));
  CHECK(figures.fifo > Duration(0));
  CHECK(figures.message > Duration(0));
}
