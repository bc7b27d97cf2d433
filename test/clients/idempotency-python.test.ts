// The vendors' Python libraries with a fixed `Idempotency-Key`: when a connection breaks before the
// answer, their own retry gets the first one. scripts/install-python installs the libraries.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { HELLO } from '../support/behaviours.ts';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { spentBy } from '../support/keyed.ts';
import { runProgram } from '../support/program.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const PYTHON = resolve(import.meta.dir, '../../.tools/clients/venv/bin/python');
const CREDIT = 1_000_000;
const PRICE = 16.4;

const OPENAI = `
import sys, openai
url, key, name, stream = sys.argv[1:5]
client = openai.OpenAI(base_url=url + '/v1', api_key=key)
asked = dict(model='ok', messages=[{'role': 'user', 'content': 'Hello?'}],
             extra_headers={'Idempotency-Key': name})
if stream == 'true':
    for event in client.chat.completions.create(stream=True, **asked):
        if event.choices:
            sys.stdout.write(event.choices[0].delta.content or '')
else:
    sys.stdout.write(client.chat.completions.create(**asked).choices[0].message.content)
`;

const ANTHROPIC = `
import sys, anthropic
url, key, name, stream = sys.argv[1:5]
client = anthropic.Anthropic(base_url=url, api_key=key)
asked = dict(model='ok', max_tokens=100, messages=[{'role': 'user', 'content': 'Hello?'}],
             extra_headers={'Idempotency-Key': name})
if stream == 'true':
    with client.messages.stream(**asked) as events:
        for text in events.text_stream:
            sys.stdout.write(text)
else:
    sys.stdout.write(client.messages.create(**asked).content[0].text)
`;

const WAYS = [
  ['openai', false, OPENAI],
  ['openai', true, OPENAI],
  ['anthropic', false, ANTHROPIC],
  ['anthropic', true, ANTHROPIC],
] as const;

const isMissing = !existsSync(PYTHON);
if (isMissing) process.stderr.write('skipped, as .tools/clients is missing: Python libraries\n');

/** Passes requests on. Breaks the connection of the first one when its answer is complete. */
function startLosing(target: () => string, replayed: (string | null)[]): Promise<Server> {
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const names = ['authorization', 'x-api-key', 'content-type', 'idempotency-key'];
    const answer = await fetch(`${target()}${request.url}`, {
      method: 'POST',
      headers: names.flatMap((name): [string, string][] => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
      body: Buffer.concat(chunks),
    });
    const body = await answer.bytes();
    replayed.push(answer.headers.get('x-svc-replayed'));
    if (replayed.length === 1) {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? '',
    });
    response.end(body);
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

describe.skipIf(isMissing)("the vendors' Python libraries", () => {
  let upstream: Upstream;
  let gateway: Gateway;

  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      catalog: catalogFor(upstream, ['ok'], { plans: { roomy: ROOMY_PLAN } }),
    });
  });

  closeAtEnd(() => [upstream, gateway]);

  test.each(WAYS)(
    '%s, stream %p: a retry after a broken connection is charged once',
    async (_name, stream, program) => {
      const { key } = await gateway.createAccount({ plan: 'roomy', credit: CREDIT });
      const replayed: (string | null)[] = [];
      const server = await startLosing(() => gateway.url, replayed);
      const { port } = server.address() as AddressInfo;
      const asked = [`http://127.0.0.1:${port}`, key, crypto.randomUUID(), String(stream)];
      const { code, stdout, stderr } = await runProgram([PYTHON, '-c', program, ...asked]);
      server.close();
      expect([code, stdout, code === 0 ? '' : stderr]).toEqual([0, HELLO, '']);
      expect(replayed).toEqual([null, 'true']);
      expect(await spentBy({ url: gateway.url, key }, CREDIT)).toBe(PRICE);
    },
  );
});
