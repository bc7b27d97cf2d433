// A separate process that calls an upstream over TLS, because trusted certificates are read from
// the environment at process start. Run by tls.test.ts; prints one line of JSON a call.

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
