// Walks a request along its shape: required members, types, bounds, patterns, values, unions, members for EKS only.
#pragma once

#include "api/shapes.h"
#include "base/result.h"

namespace espalier::api {

// kInvalid with all problems at once, in the manner of AWS: "2 validation errors detected: Value at
// 'instanceGroups.1.member.instanceCount' failed to satisfy constraint: …; …". null is absent, unknown members are
// ignored, timestamps are numbers of epoch seconds.
Result<void> validate(const Shape& shape, const json::object& input);

// What the shape has of a value that passed it: what is ignored must not be read by somebody who looks for its name, be
// stored, or be shown.
json::value known(const Shape& shape, const json::value& value);

}  // namespace espalier::api
