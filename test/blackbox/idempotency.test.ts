// Requests with an `Idempotency-Key` through the whole program: what a repeat gets, what it costs,
// who gets it, and what an attacker cannot do with it.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { behaviourFor } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Caller, EVERY_FORMAT } from '../support/client.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import {
  askEnded,
  askKeyed,
  codeOf,
  isReplayed,
  openKeyed,
  spentBy,
  stable,
} from '../support/keyed.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const KINDS = EVERY_FORMAT.flatMap((format) => [[format, false] as const, [format, true] as const]);
const CREDIT = 1_000_000;
/** What the standard answer of the scripted upstream costs. */
const PRICE = 16.4;

const MODELS = ['ok', 'tool', 'reasoning', 'slow-tokens-20-50', 'cut', 'recovers', 'held'];

describeOnEachDatabase('requests with an Idempotency-Key', () => {
  let upstream: Upstream;
  let isFailing = false;
  let held = Promise.resolve();
  let gateway: Gateway;

  const newAccount = (plan = 'large'): Promise<TestAccount> =>
    gateway.createAccount({ plan, credit: CREDIT });

  const spent = (account: Caller): Promise<number> => spentBy(account, CREDIT);

  beforeAll(async () => {
    upstream = await startUpstream({
      // What the gateway does not ask for again by itself.
      recovers: (exchange) => behaviourFor(isFailing ? 'status-429' : 'ok')(exchange),
      held: async (exchange) => {
        await held;
        await behaviourFor('tokens-20')(exchange);
      },
    });
    gateway = await startGateway({
      catalog: catalogFor(upstream, MODELS, {
        plans: {
          large: LARGE_PLAN,
        },
      }),
    });
  });

  closeAtEnd(() => [upstream, gateway]);

  describe.each(KINDS)('%s, stream %p', (format, stream) => {
    test.each(['ok', 'tool', 'reasoning'])('a repeat of %s gets the same bytes', async (model) => {
      const account = await newAccount();
      const asked = upstream.requests.length;
      const first = await askKeyed(account, 'a', model, { format, stream });
      const cost = await spent(account);
      const repeat = await askKeyed(account, 'a', model, { format, stream });
      expect(first.status).toBe(200);
      expect(repeat.text).toBe(first.text);
      expect(stable(repeat)).toEqual({ ...stable(first), 'x-svc-replayed': 'true' });
      expect(cost).toBeGreaterThan(0);
      expect(await spent(account)).toBe(cost);
      expect(upstream.requests.length - asked).toBe(1);
    });

    test('another body with the same key is refused, and costs nothing', async () => {
      const account = await newAccount();
      await askKeyed(account, 'b', 'ok', { format, stream });
      const other = await askKeyed(account, 'b', 'ok', {
        format,
        stream,
        more: { temperature: 1 },
      });
      expect([other.status, codeOf(other)]).toEqual([422, 'idempotency_key_reused']);
      expect(await spent(account)).toBe(PRICE);
    });

    test('of requests at the same time, one runs and is charged, and the others are refused', async () => {
      const account = await newAccount();
      const asked = upstream.requests.length;
      const [name, model] = ['c', 'held'];
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      let ended = 0;
      const ask = async () => {
        const answer = await askKeyed(account, name, model, { format, stream });
        ended += 1;
        return answer;
      };
      const all = Array.from({ length: 8 }, ask);
      await waitUntil(() => ended === 7);
      resolve();
      const answers = await Promise.all(all);
      const [first, ...others] = answers.toSorted((one, other) => one.status - other.status);
      expect(first?.status).toBe(200);
      for (const other of others) {
        expect([other.status, codeOf(other)]).toEqual([409, 'idempotent_request_running']);
        expect(other.headers['retry-after']).toBe('5');
      }
      expect((await askKeyed(account, name, model, { format, stream })).text).toBe(
        String(first?.text),
      );
      expect(upstream.requests.length - asked).toBe(1);
      expect(await spent(account)).toBe(46.4);
    });

    test('the answer is finished and charged once without its client, and a repeat reads it', async () => {
      const account = await newAccount();
      const asked = upstream.requests.length;
      const leave = new AbortController();
      const [name, model] = ['d', 'slow-tokens-20-50'];
      const first = openKeyed(account, name, model, { format, stream, signal: leave.signal });
      await upstream.waitFor(({ requests }) => requests.length === asked + 1);
      if (stream) await (await first).body?.getReader().read();
      leave.abort();
      await first.catch(() => undefined);
      // A whole answer may have arrived at once.
      const { status } = await askKeyed(account, name, model, { format, stream });
      expect(stream ? [409] : [409, 200]).toContain(status);
      const repeat = await askEnded(account, name, model, { format, stream });
      expect([repeat.status, isReplayed(repeat)]).toEqual([200, true]);
      const later = await askKeyed(account, name, model, { format, stream });
      expect(later.text).toBe(repeat.text);
      // A stream of Responses says its text again when each part of it ends.
      const times = stream && format === 'responses' ? 5 : 1;
      expect(repeat.text.split(' a').length).toBe(20 * times + 1);
      expect(await spent(account)).toBe(46.4);
      expect(upstream.requests.length - asked).toBe(1);
    });

    test('a first request that failed without a charge is tried again', async () => {
      const account = await newAccount();
      isFailing = true;
      const failed = await askKeyed(account, 'e', 'recovers', { format, stream });
      expect([failed.status, await spent(account)]).toEqual([503, 0]);
      isFailing = false;
      const answer = await askKeyed(account, 'e', 'recovers', { format, stream });
      expect([answer.status, isReplayed(answer)]).toEqual([200, false]);
      const repeat = await askKeyed(account, 'e', 'recovers', { format, stream });
      expect([repeat.text, isReplayed(repeat)]).toEqual([answer.text, true]);
      expect(await spent(account)).toBe(PRICE);
    });

    test('a refused request is tried again, and leaves no trace', async () => {
      const account = await newAccount();
      const refused = await askKeyed(account, 'f', 'no-such-model', { format, stream });
      const again = await askKeyed(account, 'f', 'no-such-model', { format, stream });
      const other = await askKeyed(account, 'f', 'ok', { format, stream });
      expect([refused, again, other].map(({ status }) => status)).toEqual([404, 404, 200]);
      expect([isReplayed(again), isReplayed(other)]).toEqual([false, false]);
    });
  });

  test.each(EVERY_FORMAT)(
    '%s: a stream that broke with a charge is replayed with its error',
    async (format) => {
      const account = await newAccount();
      const broken = await askKeyed(account, 'g', 'cut', { format, stream: true });
      const cost = await spent(account);
      expect(broken.text).toContain('"svc_outcome":"upstream_failed"');
      expect(cost).toBeGreaterThan(0);
      const repeat = await askKeyed(account, 'g', 'cut', { format, stream: true });
      expect([repeat.text, isReplayed(repeat)]).toEqual([broken.text, true]);
      expect(await spent(account)).toBe(cost);
    },
  );

  test('a quoted key is the same key', async () => {
    const account = await newAccount();
    const first = await askKeyed(account, 'same', 'ok');
    expect((await askKeyed(account, '"same"', 'ok')).text).toBe(first.text);
  });

  test('a request that is named by its body is repeated by the same body, and by no other', async () => {
    const account = await newAccount();
    const first = await askKeyed(account, '@body', 'ok');
    const other = await askKeyed(account, '@body', 'ok', { more: { temperature: 1 } });
    const repeat = await askKeyed(account, '@body', 'ok');
    expect([first, other, repeat].map(isReplayed)).toEqual([false, false, true]);
    expect(repeat.text).toBe(first.text);
    expect(await spent(account)).toBe(2 * PRICE);
  });

  test('the format belongs to the request', async () => {
    const account = await newAccount();
    await askKeyed(account, 'i', 'ok', { format: 'messages' });
    const other = await askKeyed(account, 'i', 'ok', { format: 'chat', more: { max_tokens: 100 } });
    expect([other.status, codeOf(other)]).toEqual([422, 'idempotency_key_reused']);
  });

  test('other paths ignore the header', async () => {
    const account = await newAccount();
    const count = () =>
      fetch(`${account.url}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { 'x-api-key': account.key, 'idempotency-key': 'j' },
        body: '{"model":"ok","messages":[{"role":"user","content":"Hi"}]}',
      });
    const answers = [await count(), await count()];
    expect(answers.map(({ status, headers }) => [status, headers.get('x-svc-replayed')])).toEqual([
      [200, null],
      [200, null],
    ]);
  });
});

test('a secret that cannot be read turns it off, which /readyz says until a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-secret-'));
  const secret = join(directory, 'data/session-secret');
  const warningsWith = async (mode: number): Promise<unknown> => {
    if (existsSync(secret)) chmodSync(secret, mode);
    const gateway = await startGateway({ directory });
    try {
      const response = await fetch(`${gateway.url}/readyz`);
      return ((await response.json()) as { readonly warnings: unknown }).warnings;
    } finally {
      await gateway.stop();
    }
  };
  try {
    const ignored = expect.stringContaining('Idempotency-Key is ignored');
    expect(await warningsWith(0o600)).not.toContainEqual(ignored);
    expect(await warningsWith(0o644)).toContainEqual(ignored);
    expect(await warningsWith(0o600)).not.toContainEqual(ignored);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
