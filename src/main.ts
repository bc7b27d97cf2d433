// The entry point. The command line decides everything; the process ends by itself when nothing is
// left to do, with the command's exit code.

import { main } from './cli/program.ts';

main(process.argv).then((exitCode) => {
  process.exitCode = exitCode;
});
