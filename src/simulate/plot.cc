#include "simulate/plot.h"

#include <algorithm>
#include <array>

#include "cli/duration.h"

namespace espalier::simulate {

namespace {

constexpr int kWidth = 860;
constexpr int kLeft = 64, kRight = 20;
constexpr int kTop = 96;     // title and legend
constexpr int kPanel = 200;  // height of an area
constexpr int kAbove = 34;   // a panel's title
constexpr int kBelow = 46;   // its time axis
constexpr int kColours = 6;

// Light and dark; of groups, by their order. Chosen to differ for those who see few colours too. Without variables:
// what makes a picture of an SVG often knows none, and draws black on black.
constexpr const char* kStyle = R"(<style>
text { fill: #1b1f24; font: 12px system-ui, sans-serif; }
.title { font-size: 17px; font-weight: 600; } .panel { font-weight: 600; }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.paper { fill: #ffffff; } .grid { stroke: #d5d9de; } .axis { stroke: #1b1f24; }
.wished { stroke: #1b1f24; stroke-width: 1.5; stroke-dasharray: 6 4; fill: none; }
.used { stroke: #1b1f24; stroke-width: 1.5; fill: none; }
.mark { stroke: #1b1f24; stroke-dasharray: 1 3; }
.c0 { fill: #4477aa; } .c1 { fill: #ee9944; } .c2 { fill: #44aa88; }
.c3 { fill: #cc6677; } .c4 { fill: #aa88cc; } .c5 { fill: #999933; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e8eb; } .paper { fill: #15181c; } .grid { stroke: #3c434c; }
  .axis, .wished, .used, .mark { stroke: #e6e8eb; }
  .c0 { fill: #6699cc; } .c1 { fill: #cc7722; } .c2 { fill: #338866; }
  .c3 { fill: #aa5566; } .c4 { fill: #9977bb; } .c5 { fill: #88882f; }
}
</style>
)";

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string colour(std::size_t group) { return fmt::format("c{}", group % kColours); }

// One life.
class Panel {
 public:
  Panel(const Report& report, const LifeReport& life, int top, int most)
      : report_(report), life_(life), top_(top), most_(most) {}

  std::string draw() {
    line("<text class=\"panel\" x=\"{}\" y=\"{}\">{}</text>", kLeft, top_ - 10, escape(title()));
    grid();
    areas();
    steps("wished", [](const Point& point) { return point.wished; });
    steps("used", [](const Point& point) { return point.used; });
    if (life_.first_job) mark(*life_.first_job, "first job");
    axes();
    return std::move(out_);
  }

 private:
  template <typename... A>
  void line(fmt::format_string<A...> f, A&&... a) {
    out_ += fmt::format(f, std::forward<A>(a)...) + "\n";
  }
  [[nodiscard]] double x(Millis at) const {
    return kLeft + static_cast<double>(kWidth - kLeft - kRight) * static_cast<double>(at.count()) /
                       static_cast<double>(report_.duration.count());
  }
  [[nodiscard]] double y(int nodes) const { return top_ + kPanel * (1 - static_cast<double>(nodes) / most_); }

  [[nodiscard]] std::string title() const {
    const auto time = [](const auto& at) { return at ? cli::show_duration(*at) : std::string("never"); };
    return fmt::format("{}: first job after {}, full size after {}", life_.mode, time(life_.first_job),
                       time(life_.full_size));
  }

  void grid() {
    const int step = count_step(most_, 4);
    for (int nodes = 0; nodes <= most_; nodes += step) {
      line(R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)", kLeft, kWidth - kRight, y(nodes),
           y(nodes));
      line(R"(<text class="end" x="{}" y="{:.1f}">{}</text>)", kLeft - 8, y(nodes) + 4, nodes);
    }
  }

  // Points of a line in steps, from one point to the next.
  template <typename Height>
  std::string path(Height height) const {
    std::string out;
    double before = 0;
    for (const Point& point : life_.timeline) {
      const double now = y(height(point));
      if (!out.empty() && now == before) continue;
      out += out.empty() ? fmt::format("M{:.1f},{:.1f}", x(point.at), now)
                         : fmt::format("L{:.1f},{:.1f}L{:.1f},{:.1f}", x(point.at), before, x(point.at), now);
      before = now;
    }
    return out + fmt::format("L{:.1f},{:.1f}", x(report_.duration), before);
  }
  template <typename Height>
  void steps(const char* kind, Height height) {
    line(R"(<path class="{}" d="{}"/>)", kind, path(height));
  }

  // One on top of the other; drawn from the uppermost, each down to the ground.
  void areas() {
    for (std::size_t group = life_.groups.size(); group-- > 0;) {
      const auto height = [group](const Point& point) {
        int sum = 0;
        for (std::size_t i = 0; i <= group; ++i) sum += point.ready[i];
        return sum;
      };
      line(R"(<path class="{}" d="{}L{:.1f},{:.1f}L{:.1f},{:.1f}Z"/>)", colour(group), path(height),
           x(report_.duration), y(0), x(life_.timeline.front().at), y(0));
    }
  }

  void mark(Millis at, const char* what) {
    const bool left = at > report_.duration * 4 / 5;  // where its text would not fit on the right
    line(R"(<line class="mark" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>)", x(at), top_, top_ + kPanel);
    line(R"(<text{} x="{:.1f}" y="{}">{}</text>)", left ? R"( class="end")" : "", x(at) + (left ? -4 : 4), top_ + 12,
         what);
  }

  void axes() {
    const int ground = top_ + kPanel;
    line(R"(<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>)", kLeft, kWidth - kRight, ground, ground);
    const Millis step = time_step(report_.duration, 8);
    for (Millis at{0}; at <= report_.duration; at += step)
      line(R"(<text class="middle" x="{:.1f}" y="{}">{}</text>)", x(at), ground + 18, show_mark(at, step));
    line(R"(<text class="middle" x="{}" y="{}">time since the cluster was wished for</text>)",
         (kLeft + kWidth - kRight) / 2, ground + 38);
    line(R"svg(<text class="middle" transform="translate(16 {}) rotate(-90)">nodes</text>)svg", top_ + kPanel / 2);
  }

  // "30m", "4h", "2d".
  static std::string show_mark(Millis at, Millis step) {
    const auto seconds = at.count() / 1000;
    if (step >= std::chrono::hours(24)) return fmt::format("{}d", seconds / 86400);
    if (step >= std::chrono::hours(1)) return fmt::format("{}h", seconds / 3600);
    if (step >= std::chrono::minutes(1))
      return seconds < 3600 ? fmt::format("{}m", seconds / 60)
                            : fmt::format("{}h{:02}", seconds / 3600, seconds / 60 % 60);
    return fmt::format("{}s", seconds);
  }

  const Report& report_;
  const LifeReport& life_;
  const int top_;
  const int most_;
  std::string out_;
};

std::string legend(const Report& report) {
  std::string out;
  double x = kLeft;
  const auto entry = [&](const std::string& sign, const std::string& name) {
    out +=
        fmt::format(R"svg(<g transform="translate({:.0f} 62)">{}<text x="28" y="4">{}</text></g>)svg", x, sign, name) +
        "\n";
    x += 48 + 7.0 * static_cast<double>(name.size());
  };
  const auto& groups = report.lives.front().groups;
  constexpr std::size_t kShown = kColours;  // more have no room in a line, and no colour of their own
  for (std::size_t i = 0; i < std::min(groups.size(), kShown); ++i)
    entry(fmt::format(R"(<rect class="{}" width="20" height="10" y="-5"/>)", colour(i)), escape(groups[i].name));
  if (groups.size() > kShown) entry("", fmt::format("… {} more", groups.size() - kShown));
  entry(R"(<line class="used" x2="20"/>)", "in jobs");
  entry(R"(<line class="wished" x2="20"/>)", "wished for");
  return out;
}

int most_nodes(const Report& report) {
  int most = 1;
  for (const LifeReport& life : report.lives)
    for (const Point& point : life.timeline) {
      int ready = 0;
      for (const int n : point.ready) ready += n;
      most = std::max({most, ready, point.wished});
    }
  return most + std::max(1, most / 12);  // air above
}

}  // namespace

int count_step(int most, int marks) {
  int step = 1;
  for (const int factor : {1, 2, 5})
    for (int power = 1; power <= 100'000; power *= 10)
      if (const int one = factor * power; most / one >= marks && one > step) step = one;
  return step;
}

Millis time_step(Millis most, int marks) {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  static const std::array<Millis, 15> kSteps{seconds(10), seconds(30), minutes(1), minutes(2), minutes(5),
                                             minutes(10), minutes(30), hours(1),   hours(2),   hours(3),
                                             hours(6),    hours(12),   hours(24),  hours(48),  hours(168)};
  for (const Millis step : kSteps)
    if (most / step <= marks) return step;
  return kSteps.back();
}

std::string plot(const Report& report) {
  const int each = kAbove + kPanel + kBelow;
  const int height = kTop + each * static_cast<int>(report.lives.size());
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">)"
      "\n<title>{2}: nodes ready over time</title>\n{3}"
      R"(<rect class="paper" width="100%" height="100%"/>)"
      "\n<text class=\"title\" x=\"{4}\" y=\"34\">{2}: nodes ready over time, by group</text>\n",
      kWidth, height, escape(report.scenario), kStyle, kLeft);
  out += legend(report);
  const int most = most_nodes(report);
  int top = kTop + kAbove;
  for (const LifeReport& life : report.lives) {
    out += Panel(report, life, top, most).draw();
    top += each;
  }
  return out + "</svg>\n";
}

}  // namespace espalier::simulate
