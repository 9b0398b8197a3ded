#include "tools/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/error.hpp"

namespace collsim {

namespace {

/// Colours that differ in lightness too, so that they can be told apart without seeing hues.
constexpr std::string_view style = R"(<style>
text{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;font-size:13px}
.bold{font-weight:600}.large{font-size:17px}.small{font-size:12px}
.paper{fill:#fff}.zone{fill:#f3f5f7}.ink{fill:#1f2328}.faint{fill:#59636e}.grid{stroke:#d8dee4}
.s0{fill:#8a5a00;stroke:#8a5a00}.s1{fill:#0969da;stroke:#0969da}.s2{fill:#1a7f37;stroke:#1a7f37}
.s3{fill:#bc4c00;stroke:#bc4c00}.s4{fill:#8250df;stroke:#8250df}.s5{fill:#bf3989;stroke:#bf3989}
text.s0,text.s1,text.s2,text.s3,text.s4,text.s5{stroke:none}
.stem{stroke-width:5;stroke-opacity:.3}
@media (prefers-color-scheme:dark){
.paper{fill:#0d1117}.zone{fill:#171d26}.ink{fill:#e6edf3}.faint{fill:#9198a1}.grid{stroke:#2f3742}
.s0{fill:#e3b341;stroke:#e3b341}.s1{fill:#58a6ff;stroke:#58a6ff}.s2{fill:#56d364;stroke:#56d364}
.s3{fill:#ffa657;stroke:#ffa657}.s4{fill:#bc8cff;stroke:#bc8cff}.s5{fill:#ff9bce;stroke:#ff9bce}
}
</style>
)";

std::string escaped(std::string_view words) {
  std::string text;
  for (const char c : words) {
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      default:
        // XML has no way to write control characters.
        text += static_cast<unsigned char>(c) < 0x20U ? '?' : c;
    }
  }
  return text;
}

std::string_view name_of(Anchor anchor) {
  constexpr std::array<std::string_view, 3> names{"start", "middle", "end"};
  return names.at(static_cast<std::size_t>(anchor));
}

}  // namespace

Svg::Svg(SvgSize size, std::string_view title, std::string_view description,
         std::string_view more_style)
    : text_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0:.0f}\" "
                        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<title>{2}</title>\n"
                        "<desc>{3}</desc>\n{4}",
                        size.width, size.height, escaped(title), escaped(description), style)) {
  if (!more_style.empty()) {
    text_ += fmt::format("<style>\n{}</style>\n", more_style);
  }
  rectangle({0, 0}, size, "paper");
}

void Svg::rectangle(SvgPoint corner, SvgSize size, std::string_view classes) {
  text_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n",
      corner.x, corner.y, size.width, size.height, classes);
}

void Svg::line(SvgPoint from, SvgPoint to, std::string_view classes) {
  text_ +=
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n",
                  from.x, from.y, to.x, to.y, classes);
}

void Svg::text(SvgPoint at, std::string_view words, std::string_view classes, Anchor anchor) {
  text_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                  at.x, at.y, classes, name_of(anchor), escaped(words));
}

void Svg::mark(SvgPoint at, std::size_t series, std::string_view title) {
  // Around the origin, about equal in area.
  static constexpr std::array<std::string_view, series_colours> shapes{
      "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",  // circle
      "M-4-4h8v8h-8z",                                 // square
      "M0-5L5 4h-10z",                                 // triangle
      "M0-5.5L5.5 0L0 5.5L-5.5 0z",                    // diamond
      "M0 5L-5-4h10z",                                 // triangle upside down
      "M-5-1.5h10v3h-10z"};                            // bar
  text_ += fmt::format(
      "<path transform=\"translate({:.1f} {:.1f})\" d=\"{}\" class=\"{}\">"
      "<title>{}</title></path>\n",
      at.x, at.y, shapes.at(series), series_class(series), escaped(title));
}

void Svg::box(SvgPoint corner, SvgSize size, std::string_view classes, std::string_view title) {
  text_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"5\" class=\"{}\">"
      "<title>{}</title></rect>\n",
      corner.x, corner.y, size.width, size.height, classes, escaped(title));
}

void Svg::path(std::string_view data, double width, std::string_view classes,
               std::string_view title) {
  text_ +=
      fmt::format("<path d=\"{}\" stroke-width=\"{:.1f}\" class=\"{}\"><title>{}</title></path>\n",
                  data, width, classes, escaped(title));
}

std::string Svg::finish() && { return std::move(text_) + "</svg>\n"; }

std::string series_class(std::size_t series) {
  COLLSIM_ENSURE(series < Svg::series_colours, "a series has a colour");
  return "s" + std::to_string(series);
}

double text_width(std::string_view words) {
  constexpr double width_of_a_letter = 6.7;  // of 13 px, a mean over capitals and digits
  const auto letters = std::ranges::count_if(
      words, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return width_of_a_letter * static_cast<double>(letters);
}

}  // namespace collsim
