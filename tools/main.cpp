#include "tools/cli.hpp"

int main(int argc, char** argv) { return collsim::run_command_line(argc, argv); }
