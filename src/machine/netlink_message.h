// One rtnetlink request, put together in place: header, body, attributes, nested attributes.
#pragma once

#include <linux/rtnetlink.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace espalier::machine {

class NetlinkMessage {
 public:
  template <typename Body>
  NetlinkMessage(std::uint16_t type, std::uint16_t flags, const Body& body) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    append(&header, sizeof header);
    append(&body, sizeof body);
  }

  NetlinkMessage& text(int type, std::string_view value) {
    return attribute(type, std::string(value).c_str(), value.size() + 1);
  }
  template <typename T>
  NetlinkMessage& number(int type, T value) {
    return attribute(type, &value, sizeof value);
  }
  NetlinkMessage& attribute(int type, const void* data, std::size_t size) {
    rtattr header{static_cast<std::uint16_t>(RTA_LENGTH(size)), static_cast<std::uint16_t>(type)};
    append(&header, sizeof header);
    append(data, size);
    return *this;
  }
  // What `fill` adds becomes the content of one attribute, after `body` where that kind has one.
  template <typename Fill>
  NetlinkMessage& nested(int type, Fill fill) {
    const std::size_t start = bytes_.size();
    attribute(type, nullptr, 0);
    fill(*this);
    const auto length = static_cast<std::uint16_t>(bytes_.size() - start);
    std::memcpy(bytes_.data() + start, &length, sizeof length);
    return *this;
  }
  void append(const void* data, std::size_t size) {
    const auto* begin = static_cast<const char*>(data);
    if (size > 0) bytes_.insert(bytes_.end(), begin, begin + size);
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  }

  // Ready to be sent.
  std::vector<char>& finish() {
    const auto length = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &length, sizeof length);
    return bytes_;
  }

 private:
  std::vector<char> bytes_;
};

}  // namespace espalier::machine
