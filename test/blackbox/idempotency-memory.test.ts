// Large answers to requests with an `Idempotency-Key`: clients that do not read repeats of them cost
// the gateway a bounded amount of memory, and an answer that is too large to keep is not cut.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { play } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { PATHS, requestBody } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { askKeyed, codeOf, isReplayed, spentBy } from '../support/keyed.ts';
import { openConnection, type RawConnection } from '../support/raw.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const CREDIT = 1_000_000_000;
const USAGE = { prompt: 10, cached: 4, completion: 1_000 };
const MB = 1_000_000;

/** Compresses to three quarters. */
const noise = randomBytes(6 * MB).toString('base64');
/** Compresses to nearly nothing. */
const even = 'word '.repeat(MB);

const answers = (text: string) => play({ pieces: [{ text }], finish: 'stop', usage: USAGE });

describe('large answers to requests with an Idempotency-Key', () => {
  let upstream: Upstream;
  let gateway: Gateway;
  let catalog: string;

  const newAccount = (plan = 'large'): Promise<TestAccount> =>
    gateway.createAccount({ plan, credit: CREDIT });

  const openUnread = async (
    account: TestAccount,
    key: string,
    model = 'even',
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<RawConnection> => {
    const body = JSON.stringify(requestBody('chat', model, more));
    const connection = await openConnection(account.url);
    connection.pause();
    await connection.write(
      `POST ${PATHS.chat} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${account.key}\r\nidempotency-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    return connection;
  };

  beforeAll(async () => {
    upstream = await startUpstream({
      ...{ noise: answers(noise), even: answers(even) },
      // Pauses after the text, for ever.
      halts: play(
        { pieces: [{ text: even }], finish: 'stop', usage: USAGE },
        new Promise(() => {}),
      ),
    });
    catalog = catalogFor(upstream, ['noise', 'even', 'halts'], {
      model: { max_output: 10 * MB, context_window: 20 * MB },
      plans: {
        large: { ...LARGE_PLAN, max_context: 20 * MB },
        'two-slots': { ...LARGE_PLAN, max_context: 20 * MB, concurrent_requests: 2 },
      },
    });
    gateway = await startGateway({ catalog });
  });

  closeAtEnd(() => [upstream, gateway]);

  test('one that is too large to keep reaches its client whole, and its repeat gets 410', async () => {
    const account = await newAccount();
    const first = await askKeyed(account, 'k', 'noise');
    expect(first.status).toBe(200);
    expect(JSON.parse(first.text).choices[0].message.content).toBe(noise);
    const cost = await spentBy(account, CREDIT);
    expect(cost).toBeGreaterThan(0);
    const repeat = await askKeyed(account, 'k', 'noise');
    expect([repeat.status, codeOf(repeat)]).toEqual([410, 'idempotent_answer_lost']);
    expect(await spentBy(account, CREDIT)).toBe(cost);
  });

  test('a long one is repeated byte for byte', async () => {
    const account = await newAccount();
    const first = await askKeyed(account, 'k', 'even');
    const repeat = await askKeyed(account, 'k', 'even');
    expect([repeat.status, isReplayed(repeat)]).toEqual([200, true]);
    expect(repeat.text === first.text).toBe(true);
  });

  test('unread repeats keep their places until their clients leave', async () => {
    const account = await newAccount('two-slots');
    await askKeyed(account, 'k', 'even');
    const unread: RawConnection[] = [];
    for (let count = 0; count < 4; count += 1) unread.push(await openUnread(account, 'k'));
    await waitUntil(async () => (await askKeyed(account, 'k', 'even')).status === 429);
    const refused = await askKeyed(account, 'k', 'even');
    expect(codeOf(refused)).toBe('concurrency_limit_exceeded');
    for (const connection of unread) connection.destroy();
    await waitUntil(async () => (await askKeyed(account, 'k', 'even')).status === 200);
  });

  test('unread repeats share the memory of one answer', async () => {
    const account = await newAccount();
    await askKeyed(account, 'k', 'even');
    const residentMb = (): number => {
      const pages = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'));
      return Number(pages?.[1]) / 1_024;
    };
    const before = residentMb();
    const unread = await Promise.all(Array.from({ length: 100 }, () => openUnread(account, 'k')));
    await Bun.sleep(3_000);
    // Each would be 5 MB.
    expect(residentMb() - before).toBeLessThan(150);
    for (const connection of unread) connection.destroy();
  });

  test('unread ones, complete and running, hold up a stop no longer than its grace', async () => {
    await using stopping = await startGateway({ catalog, environment: { DRAIN_SECONDS: '0.3' } });
    const account = await stopping.createAccount({ plan: 'large', credit: CREDIT });
    await askKeyed(account, 'complete', 'even');
    const asked = upstream.requests.length;
    const unread = [
      await openUnread(account, 'complete'),
      await openUnread(account, 'running', 'halts', { stream: true }),
    ];
    await upstream.waitFor(({ requests }) => requests.length > asked);
    await Bun.sleep(500);
    const from = performance.now();
    expect(await stopping.stop()).toBe(0);
    expect(performance.now() - from).toBeLessThan(20_000);
    for (const connection of unread) connection.destroy();
  });
});
