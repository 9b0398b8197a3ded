#pragma once

// Names of the option parser, for headers that do not need the parser itself.

// NOLINTNEXTLINE(readability-identifier-naming): the name is the library's
namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI
