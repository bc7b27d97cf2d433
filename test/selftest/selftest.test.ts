// Each check of the self-test fails on a wrong gateway.

import { Database as Connection } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ask } from '../../src/selftest/answer.ts';
import type { Check } from '../../src/selftest/check.ts';
import { checkCrashes } from '../../src/selftest/crashes.ts';
import { checkFormats } from '../../src/selftest/formats.ts';
import { checkOverhead } from '../../src/selftest/overhead.ts';
import { CREDIT, openScratch, type Process, type Scratch } from '../../src/selftest/scratch.ts';
import { gatewayCommand } from '../support/gateway.ts';

setDefaultTimeout(180_000);

const failed = (checks: readonly Check[]): string[] =>
  checks.filter(({ ok }) => !ok).map(({ name }) => name);

describe('a wrong gateway', () => {
  let scratch: Awaited<ReturnType<typeof openScratch>>;
  let gateway: Process;
  const keys = { rich: '', poor: '' };

  beforeAll(async () => {
    scratch = await openScratch(gatewayCommand());
    keys.rich = await scratch.createAccount('rich@example.com', CREDIT);
    keys.poor = await scratch.createAccount('poor@example.com', 0.5);
    gateway = await scratch.start();
  });

  afterAll(() => scratch.close());

  /** What the format checks find where a proxy changes the answers. */
  async function behind(change: (text: string) => string): Promise<string[]> {
    const proxy = serve((request) => forward(request, gateway, change));
    const callerOf = (key: string) => ({ url: proxy.url.origin, key });
    const checks = await checkFormats(callerOf(keys.rich), callerOf(keys.poor));
    await proxy.stop(true);
    return failed(checks);
  }

  test('is not found where the proxy changes nothing', async () => {
    expect(await behind((text) => text)).toEqual([]);
  });

  test.each([
    [
      'a text',
      (text: string) => text.replaceAll('think', 'thing'),
      ['chat completions', 'Messages', 'Responses'],
    ],
    [
      'a bill',
      (text: string) => text.replaceAll('"svc_tokens_debited":"1', '"svc_tokens_debited":"2'),
      ['bills'],
    ],
    ['a lost end', (text: string) => text.replace('data: [DONE]', ''), ['chat completions']],
    [
      'a lost end of Messages',
      (text: string) => text.replace('"type":"message_stop"', '"type":"ping"'),
      ['Messages'],
    ],
    [
      'a lost end of Responses',
      (text: string) => text.replace('"type":"response.completed"', '"type":"ping"'),
      // Its last event has the bill, too.
      ['Responses', 'bills'],
    ],
  ])('is found by %s', async (_name, change, expected) => {
    expect(await behind(change)).toEqual(expected);
  });

  test('is found where it takes a key that does not exist', async () => {
    const callerOf = (key: string) => ({ url: gateway.url, key });
    const checks = await checkFormats(callerOf(keys.rich), callerOf(keys.rich));
    expect(failed(checks)).toEqual(['rejections']);
  });

  test('ends its clients by the kill, also where a proxy answers in its place', async () => {
    await gateway.kill();
    let killed = gateway;
    const rejection = () => new Response('', { status: 502 });
    await using proxy = serve((request) => forward(request, killed, String).catch(rejection));
    const checks = await checkCrashes(
      {
        ...scratch,
        async start() {
          killed = await scratch.start();
          return killed;
        },
        callerOf: (_gateway, key) => ({ url: proxy.url.origin, key }),
      },
      { key: keys.rich, rounds: 1, random: () => 0.5 },
    );
    expect(failed(checks)).toEqual(['load at each kill']);
  });

  test.each([
    ['a lost bill', 'DELETE FROM requests'],
    ['another charge', 'UPDATE requests SET charged = charged + 1'],
    ['a wrong balance', 'UPDATE balances SET posted = posted + 1'],
  ])('is found by %s after a crash', async (name, statement) => {
    await gateway.kill();
    const tampered: Scratch = {
      ...scratch,
      async start() {
        const started = await scratch.start();
        return {
          ...started,
          async kill() {
            await started.kill();
            tamper(scratch.database, statement);
          },
        };
      },
    };
    const checks = await checkCrashes(tampered, { key: keys.rich, rounds: 1, random: () => 0.5 });
    expect(failed(checks)).toContain('audit after a crash');
    if (name !== 'a wrong balance') expect(failed(checks)).toContain('bills after a crash');
  });
});

describe('the clients', () => {
  const question = { format: 'chat', stream: false, model: 'fast' } as const;

  test('use no proxy of the environment', async () => {
    await using server = serve(() => new Response('', { status: 402 }));
    await using proxy = serve(() => new Response('', { status: 502 }));
    const before = process.env['HTTP_PROXY'];
    process.env['HTTP_PROXY'] = proxy.url.origin;
    try {
      const { status } = await ask({ url: server.url.origin, key: 'any' }, question);
      expect(status).toBe(402);
    } finally {
      if (before === undefined) delete process.env['HTTP_PROXY'];
      else process.env['HTTP_PROXY'] = before;
    }
  });

  test('wait for an answer that does not come until its time is up', async () => {
    await using server = serve(() => new Promise(() => undefined));
    const asked = ask({ url: server.url.origin, key: 'any', answerMs: 50 }, question);
    await expect(asked).rejects.toThrow('timed out');
  });
});

test('a command that does not end is killed when its time is up', async () => {
  const program = gatewayCommand().map((word) => `'${word}'`);
  const hanging = `if [ "$1" = account ]; then exec sleep 600; else exec ${program.join(' ')} "$@"; fi`;
  const scratch = await openScratch(['sh', '-c', hanging, 'sh'], 200);
  try {
    await expect(scratch.createAccount('ann@example.com', 1)).rejects.toThrow(
      'tollgate account create --email ann@example.com --plan selftest --verified --credit 1: was killed; it may take 0.2 s',
    );
  } finally {
    await scratch.close();
  }
});

test('an overhead above the bound fails', () => {
  const at = (gateway: number) => ({ direct: 0.1, forwarder: 0.2, gateway });
  const overhead = { p50Ms: at(50), p99Ms: at(60), perSecond: at(0) };
  expect(failed(checkOverhead(overhead))).toEqual(['added latency', 'throughput']);
  expect(failed(checkOverhead({ ...overhead, p50Ms: at(2), perSecond: at(100) }))).toEqual([]);
});

async function forward(
  request: Request,
  gateway: Process,
  change: (text: string) => string,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  const answer = await fetch(`${gateway.url}${pathname}`, {
    method: 'POST',
    headers: request.headers,
    body: await request.text(),
  });
  const { status, headers } = answer;
  return new Response(change(await answer.text()), { status, headers });
}

function serve(answer: (request: Request) => Response | Promise<Response>) {
  return Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
}

/** The triggers keep the books from being changed, so they go first. */
function tamper(path: string, statement: string): void {
  const connection = new Connection(path);
  const triggers = connection
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  for (const { name } of triggers) connection.run(`DROP TRIGGER ${name}`);
  connection.run(statement);
  connection.close();
}
