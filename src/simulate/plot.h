// A report as a picture (SVG): nodes that are ready over time by group, one panel for each life, on one scale.
//
// Colours follow the reader's scheme, light or dark; nothing is loaded from elsewhere.
#pragma once

#include <string>

#include "simulate/report.h"

namespace espalier::simulate {

std::string plot(const Report& report);

// Round distances between the marks of an axis that reaches to `most`: about so many marks.
int count_step(int most, int marks);
Millis time_step(Millis most, int marks);

}  // namespace espalier::simulate
