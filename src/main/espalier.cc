#include "base/version.h"
#include "cli/cli.h"
#include "main/serve.h"
#include "simulate/simulate.h"

int main(int argc, char** argv) {
  return espalier::cli::run(argc, argv, espalier::kVersion, espalier::serve, espalier::simulate::simulate);
}
