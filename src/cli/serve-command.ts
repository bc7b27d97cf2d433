// `tollgate serve`: only the options. Loads the server lazily, so that the other commands start
// fast.

import { type Command, Option } from 'commander';
import { exitWithInput, liftRequestCap } from '../server/runtime.ts';
import { addCommand, CommandError, type Perform } from './command.ts';

/** For the last lines of the log. An unread connection would keep the process alive forever. */
const EXIT_MS = 1_000;

type ServeOptions = {
  readonly demo?: true;
  readonly new?: true;
  readonly port?: string;
  readonly host?: string;
  readonly whileInput?: true;
};

export function addServeCommand(program: Command, perform: Perform): void {
  const command = addCommand(program, 'serve', 'serve the gateway until SIGTERM or SIGINT')
    .option('--demo', 'make a demo account with a key on the first start, and print both')
    .option('--new', 'start with an empty database although there was one at this path')
    .option('--port <number>', 'listen on this port instead of PORT')
    .option('--host <address>', 'listen on this address instead of HOST')
    // The gateway of the self-test ends with it.
    .addOption(new Option('--while-input').hideHelp());
  perform<ServeOptions>(command, async (context, options) => {
    const port = options.port === undefined ? undefined : parsePort(options.port);
    liftRequestCap();
    if (options.whileInput === true) void exitWithInput();
    const { serve } = await import('../server/serve.ts');
    const demo = options.demo === true;
    try {
      const isNew = options.new === true;
      const exitCode = await serve(context, { demo, isNew, port, host: options.host });
      return { json: { stopped: true }, text: '', exitCode };
    } finally {
      // With the exit code that the program has set by then, also where the start has failed.
      setTimeout(() => process.exit(), EXIT_MS).unref();
    }
  });
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new CommandError('invalid_number', '--port needs a whole number from 0 to 65535.');
}
