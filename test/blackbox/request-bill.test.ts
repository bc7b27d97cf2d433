// The bill of a request over a real socket, for a client that left before the end of its answer: each
// key of the account reads it while the request runs and when it has ended, and no other account does.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import { type Caller, EVERY_FORMAT, generateStream, get, openStream } from '../support/client.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { streamFrames } from '../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

type Json = Record<string, unknown>;

const CREDIT = 100_000;

describeOnEachDatabase('the bill of a request', () => {
  let upstream: Upstream;
  let gateway: Gateway;
  /** Another account, with a request of its own. */
  let other: TestAccount;

  /** Begins an answer and never ends it. */
  const begun: Behaviour = async (exchange) => {
    const { dialect, model } = exchange.request;
    const script = { pieces: [{ text: ' a'.repeat(20) }], finish: 'stop' } as const;
    streamHead(exchange);
    exchange.write(streamFrames(dialect, model, script).find((each) => each.includes(' a')) ?? '');
    await exchange.untilGone();
  };

  /** Thinks without showing it. */
  const thinks: Behaviour = async (exchange) => {
    const { dialect, model } = exchange.request;
    streamHead(exchange);
    exchange.write(
      streamFrames(dialect, model, { pieces: [{ text: ' a' }], finish: 'stop' })[0] ?? '',
    );
    while (!exchange.gone()) {
      exchange.write(': thinking\n\n');
      await exchange.sleep(20);
    }
  };

  beforeAll(async () => {
    upstream = await startUpstream({ begun, thinks });
    gateway = await startGateway({
      catalog: catalogFor(upstream, ['begun', 'ok', 'thinks'], {
        upstream: { profile: 'openai' },
        models: { thinks: { tokens_per_second: 1_000 } },
      }),
      environment: { SILENT_COMMIT_SECONDS: '0.3' },
    });
    other = await gateway.createAccount();
  });

  closeAtEnd(() => [upstream, gateway]);

  const receiptOf = (caller: Caller, id: string | null) => get(caller, `/v1/receipts/${id}`);

  /** The bill, once the request has ended. */
  async function billOf(caller: Caller, id: string | null): Promise<Json> {
    let json: Json = {};
    await waitUntil(async () => {
      json = (await receiptOf(caller, id)).json;
      return json['status'] === 'ended';
    });
    return json;
  }

  async function accountOf(caller: Caller) {
    const { json } = await get(caller, '/v1/account');
    return json as { readonly balance: Json; readonly usage: Json };
  }

  /** An account and the key of a colleague. */
  async function payer(): Promise<{ readonly own: TestAccount; readonly colleague: Caller }> {
    const own = await gateway.createAccount({ plan: 'business', credit: CREDIT });
    const { key } = await gateway.run('key', 'create', own.id);
    return { own, colleague: { url: own.url, key: String(key) } };
  }

  const sha256 = (text: unknown) =>
    new Bun.CryptoHasher('sha256').update(String(text)).digest('hex');

  test.each(EVERY_FORMAT)(
    'a client that leaves a %s stream reads its bill by another key',
    async (format) => {
      const { own, colleague } = await payer();
      const leaving = new AbortController();
      const response = await openStream(own, format, 'begun', {}, leaving.signal);
      const id = response.headers.get('x-request-id');
      await response.body?.getReader().read();
      const running = await receiptOf(colleague, id);
      expect([running.status, running.json]).toEqual([
        200,
        {
          object: 'receipt',
          request_id: id,
          status: 'in_progress',
          model: 'begun',
          started_at: expect.any(String),
        },
      ]);
      leaving.abort();
      const bill = await billOf(colleague, id);
      const { balance } = await accountOf(own);
      const debited = CREDIT - Number(balance['available']);
      expect(debited).toBeGreaterThan(20);
      expect(bill).toEqual({
        ...running.json,
        status: 'ended',
        model_served: 'begun',
        outcome: 'client_cancelled',
        ended_at: expect.any(String),
        usage: expect.objectContaining({ basis: 'estimated' }),
        svc_tokens_debited: String(debited),
        // On a slow machine the upstream is silent for long enough.
        ...('estimate' in (bill['usage'] as Json) ? { svc_estimated: true } : {}),
        svc_cost_usd: (debited / 1e6).toFixed(7).replace(/0+$/, ''),
        receipt: { hash: expect.any(String), body: expect.any(String) },
      });
      const { hash, body } = bill['receipt'] as Json;
      expect(hash).toBe(sha256(body));
      expect(JSON.parse(String(body))).toMatchObject({
        account: own.id,
        id,
        outcome: 'client_cancelled',
        usage: bill['usage'],
        debited: String(debited),
      });
    },
  );

  test('a charge for what was not seen has the numbers of its estimate', async () => {
    const { own } = await payer();
    const leaving = new AbortController();
    const { headers } = await openStream(own, 'chat', 'thinks', {}, leaving.signal);
    leaving.abort();
    const bill = await billOf(own, headers.get('x-request-id'));
    const { estimate, output_tokens } = bill['usage'] as {
      readonly estimate: Readonly<Record<string, number>>;
      readonly output_tokens: number;
    };
    const { unseen_ms: ms = 0, output_tokens_per_second: pace = 0 } = estimate;
    expect([bill['svc_estimated'], ms > 0, output_tokens > 0]).toEqual([true, true, true]);
    const most = estimate['output_tokens_max'] ?? Number.POSITIVE_INFINITY;
    expect(output_tokens).toBe(Math.min(most, Math.floor((ms * pace) / 1_000)));
  });

  test.each(EVERY_FORMAT)('the bill is the one at the end of a %s stream', async (format) => {
    const { own, colleague } = await payer();
    const { headers, events } = await generateStream(own, format, 'ok');
    const bill = await billOf(colleague, headers.get('x-request-id'));
    expect(bill).toMatchObject({ outcome: 'completed', usage: { basis: 'reported' } });
    const { svc_tokens_debited, svc_cost_usd } = bill;
    const end = JSON.stringify({ svc_tokens_debited, svc_cost_usd }).slice(1, -1);
    expect(events.map(({ data }) => data).join()).toContain(end);
  });

  test('the request of another account is answered as an unknown one', async () => {
    const { own } = await payer();
    const { headers } = await generateStream(own, 'chat', 'ok');
    const id = headers.get('x-request-id') ?? '';
    await billOf(own, id);
    const refused = await generateStream(own, 'chat', 'no-such-model');
    const ids = fc.oneof(
      fc.constantFrom(
        id,
        id.toUpperCase(),
        refused.headers.get('x-request-id') ?? '',
        '%',
        '%ff',
        '%2F..%2Faccount',
      ),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }).map(encodeURIComponent),
      fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => `req_${bytes.toHex()}`),
    );
    await fc.assert(
      fc.asyncProperty(
        ids.filter((each) => !/^\.{1,2}$/.test(each)),
        async (unknown) => {
          const { status, json } = await receiptOf(other, unknown);
          expect([status, json]).toEqual([
            404,
            {
              error: {
                type: 'not_found_error',
                code: 'not_found',
                message: expect.stringMatching(
                  /^This account has no bill of a request with this id\./,
                ),
                request_id: expect.any(String),
              },
            },
          ]);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('reading bills is free, uses no request of the minute, and is bounded', async () => {
    const { own } = await payer();
    const { headers } = await generateStream(own, 'chat', 'ok');
    const id = headers.get('x-request-id');
    await billOf(own, id);
    const before = await accountOf(own);
    const read = await Promise.all(Array.from({ length: 50 }, () => receiptOf(own, id)));
    expect(read.filter(({ status }) => status !== 200)).toEqual([]);
    const after = await accountOf(own);
    expect(after.balance).toEqual(before.balance);
    expect(after.usage['requests_this_minute']).toMatchObject({ used: 1 });
    const starter = await gateway.createAccount();
    const answers = new Map<number, number>();
    // The budget refills by ten a second.
    while (!answers.has(429)) {
      const asked = Array.from({ length: 50 }, async () => (await receiptOf(starter, id)).status);
      for (const status of await Promise.all(asked)) {
        answers.set(status, (answers.get(status) ?? 0) + 1);
      }
    }
    expect([...answers.keys()].toSorted()).toEqual([404, 429]);
    expect(answers.get(404)).toBeGreaterThanOrEqual(600);
  });
});
