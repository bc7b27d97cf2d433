// Signal handling of a process: a signal without a listener does not end it.

import { expect, test } from 'bun:test';
import { join } from 'node:path';

const SHUTDOWN = join(import.meta.dir, '../../src/server/shutdown.ts');

const PROGRAM = `
  import { hearStopSignals } from ${JSON.stringify(SHUTDOWN)};
  const signals = hearStopSignals();
  const first = signals.next();
  process.kill(process.pid, 'SIGTERM');
  console.log(await first);
  for (const signal of ['SIGTERM', 'SIGINT']) process.kill(process.pid, signal);
  await Bun.sleep(100);
  const [second, third] = [signals.next(), signals.next()];
  process.kill(process.pid, 'SIGINT');
  console.log(await second, await third);
  process.exit(7);
`;

test('each signal is passed to all who wait for the next one, and ignored without a listener', async () => {
  const child = Bun.spawn([process.execPath, '-e', PROGRAM], { stdout: 'pipe', stderr: 'inherit' });
  expect(await child.stdout.text()).toBe('SIGTERM\nSIGINT SIGINT\n');
  expect(await child.exited).toBe(7);
});
