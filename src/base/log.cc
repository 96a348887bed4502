#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "base/log_sink.h"

namespace espalier::log {

namespace {

spdlog::logger& logger() {
  static auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("espalier", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::function<void(Level, std::string_view)>& sink() {
  static std::function<void(Level, std::string_view)> instance;
  return instance;
}

}  // namespace

void set_level(Level level) { logger().set_level(spdlog_level(level)); }
void set_sink(std::function<void(Level, std::string_view)> other) { sink() = std::move(other); }
void write(Level level, std::string_view text) {
  if (sink()) return sink()(level, text);
  logger().log(spdlog_level(level), "{}", text);
}

}  // namespace espalier::log
