// Each check of the self-test fails on a wrong gateway.

import { Database as Connection } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
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
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { pathname } = new URL(request.url);
        const answer = await fetch(`${gateway.url}${pathname}`, {
          method: 'POST',
          headers: request.headers,
          body: await request.text(),
        });
        const { status, headers } = answer;
        return new Response(change(await answer.text()), { status, headers });
      },
    });
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
      ['chat completions', 'Messages'],
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
  ])('is found by %s', async (_name, change, expected) => {
    expect(await behind(change)).toEqual(expected);
  });

  test('is found where it takes a key that does not exist', async () => {
    const callerOf = (key: string) => ({ url: gateway.url, key });
    const checks = await checkFormats(callerOf(keys.rich), callerOf(keys.rich));
    expect(failed(checks)).toEqual(['rejections']);
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

test('an overhead above the bound fails', () => {
  const at = (gateway: number) => ({ direct: 0.1, forwarder: 0.2, gateway });
  const overhead = { p50Ms: at(50), p99Ms: at(60), perSecond: at(0) };
  expect(failed(checkOverhead(overhead))).toEqual(['added latency', 'throughput']);
  expect(failed(checkOverhead({ ...overhead, p50Ms: at(2), perSecond: at(100) }))).toEqual([]);
});

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
