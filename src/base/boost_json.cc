// Boost.JSON, compiled into our own library once, so that the agent stays one static executable.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <boost/json/src.hpp>
#pragma GCC diagnostic pop
