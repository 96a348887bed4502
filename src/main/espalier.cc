#include "base/version.h"
#include "cli/cli.h"
#include "main/serve.h"

int main(int argc, char** argv) { return espalier::cli::run(argc, argv, espalier::kVersion, espalier::serve); }
