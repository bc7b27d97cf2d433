// Where the program starts. The command line decides everything; the process ends by itself when
// nothing is left to do, with the exit code that the command gave.

import { main } from './cli/program.ts';

main(process.argv).then((exitCode) => {
  process.exitCode = exitCode;
});
