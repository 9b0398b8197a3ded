#pragma once

// Pictures as SVG: shapes and words in the order in which they are drawn, one style sheet with a light
// and a dark set of colours, so that a picture suits the page that shows it. What is drawn has a class
// instead of a colour:
//
//   paper, zone   background, and a part of it that is set apart
//   grid          thin lines behind the data
//   ink, faint    words: what is said, and what helps to read it; `bold` and `small` besides
//   s0 … s5       the data, a colour a series
//
// Ignored: anything that moves, and fonts: the width of words is estimated.

#include <cstdint>
#include <string>
#include <string_view>

namespace collsim {

struct SvgPoint {
  double x = 0;
  double y = 0;
};

struct SvgSize {
  double width = 0;
  double height = 0;
};

enum class Anchor : std::uint8_t { Start, Middle, End };

class Svg {
 public:
  /// How many series have a colour and a shape of their own.
  static constexpr std::size_t series_colours = 6;

  /// The description is for those who cannot see the picture. `style` adds rules to the sheet.
  Svg(SvgSize size, std::string_view title, std::string_view description,
      std::string_view style = {});

  void rectangle(SvgPoint corner, SvgSize size, std::string_view classes);
  void line(SvgPoint from, SvgPoint to, std::string_view classes);
  /// At the height of the words' base line.
  void text(SvgPoint at, std::string_view words, std::string_view classes,
            Anchor anchor = Anchor::Start);
  /// The mark of a series: circle, square, triangle, …; a browser shows `title` under the pointer.
  void mark(SvgPoint at, std::size_t series, std::string_view title);

  /// A rectangle with round corners; a browser shows `title` under the pointer.
  void box(SvgPoint corner, SvgSize size, std::string_view classes, std::string_view title);
  /// A line along `data` (the attribute d of a path) with a width of its own; `title` as above.
  void path(std::string_view data, double width, std::string_view classes, std::string_view title);

  /// The document.
  [[nodiscard]] std::string finish() &&;

 private:
  std::string text_;
};

/// Class of a series: "s2".
[[nodiscard]] std::string series_class(std::size_t series);

/// About how wide words are in the size of `ink`.
[[nodiscard]] double text_width(std::string_view words);

}  // namespace collsim
