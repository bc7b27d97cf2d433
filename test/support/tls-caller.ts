// A process of its own that calls an upstream over TLS: which certificates are trusted is read from
// the environment when a process starts. Run by tls.test.ts; prints one line of JSON for each call.

import { isFailure } from '../../src/core/failure.ts';
import { createCaller } from '../upstream/sockets/rig.ts';

const [baseUrl = '', times = '1', transport = 'sockets'] = process.argv.slice(2);
const caller = createCaller(0);
for (let index = 0; index < Number(times); index += 1) {
  const answer = await caller.call({
    baseUrl,
    transport: transport === 'fetch' ? 'fetch' : 'sockets',
    newConnection: true,
  });
  process.stdout.write(
    `${JSON.stringify(isFailure(answer) ? answer : { text: await answer.text() })}\n`,
  );
}
caller[Symbol.dispose]();
