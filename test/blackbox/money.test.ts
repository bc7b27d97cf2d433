// Money, from outside: the answer, the ledger and the remaining balance agree on one amount,
// regardless of what the client, the upstream or other requests do.

import type { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, test } from 'bun:test';
import { usageIn } from '../support/answer.ts';
import { behaviourFor, play, streamHead } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import {
  type Caller,
  EVERY_FORMAT,
  type EveryFormat,
  generate,
  generateStream,
  get,
  openStream,
  post,
  promptOf,
  requestBody,
} from '../support/client.ts';
import {
  closeAtEnd,
  type Gateway,
  runCommand,
  startGateway,
  type TestAccount,
} from '../support/gateway.ts';
import { readBooks } from '../support/readable-books.ts';
import { streamFrames, USAGE } from '../support/render.ts';
import { readEvents } from '../support/sse.ts';
import { samples } from '../support/tier.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

type Json = Record<string, unknown>;

const KINDS = EVERY_FORMAT.flatMap((format) => [[format, false] as const, [format, true] as const]);

/** Twelve decimals each, so that every total needs the one rounding. */
const FINE = { input: '0.123456789012', cached_input: '0.012345678901', output: '0.987654321098' };
const USAGES = [
  'usage-10-4-5',
  'usage-0-0-0',
  'usage-1-0-0',
  'usage-1-1-0',
  'usage-3-2-1',
  'usage-99991-77777-4095',
  'usage-12345-0-8191',
];
const LARGE_USAGE = 'usage-1000-0-50';
/** So many at once, for which the upstream waits. */
const CROWD = 30;
/** What is said of an answer that then stalls. */
const SAID = 20;

let upstream: Upstream;
let gateway: Gateway;
let books: Database;

beforeAll(async () => {
  const crowd = Promise.withResolvers<void>();
  upstream = await startUpstream({
    crowd: async (exchange) => {
      if (exchange.request.earlier === CROWD - 1) crowd.resolve();
      await crowd.promise;
      await behaviourFor(LARGE_USAGE)(exchange);
    },
    'stalls-late': async (exchange) => {
      const { dialect, model } = exchange.request;
      const pieces = Array.from({ length: SAID }, () => ({ text: ' a' }));
      streamHead(exchange);
      for (const frame of streamFrames(dialect, model, { pieces, finish: 'stop' })) {
        if (frame.includes(' a')) exchange.write(frame);
        await exchange.sleep(10);
      }
      await exchange.untilGone();
    },
    'unreported-40': play({ pieces: words(40), finish: 'stop' }),
    flood: play({ pieces: words(40_000), finish: 'stop', usage: USAGE }),
  });
  const prices = Object.fromEntries(USAGES.map((slug) => [slug, { price: FINE }]));
  gateway = await startGateway({
    catalog: catalogFor(
      upstream,
      [
        ...USAGES,
        ...['ok', 'wide', 'tiny', 'ok-dear', 'ok-cheap', 'no-usage', 'zero-usage', 'absurd-usage'],
        ...['unreported-40', 'flood', 'usage-10-4-500'],
        ...['status-500', 'status-502', 'status-503', 'cut', LARGE_USAGE],
        ...[
          'usage-999999999-0-999999999',
          'usage-9999999-0-9',
          'usage-10-4-9999',
          'stall',
          'stalls-late',
          'crowd',
        ],
      ],
      {
        service: { usd_per_million: '1.25', minimum_hold: '5' },
        // All thinking is shown there: nothing is to be read after an answer was left.
        upstream: { profile: 'deepseek' },
        models: {
          ...prices,
          wide: { max_output: 100_000 },
          tiny: { price: { input: '0.000001', output: '0.000001' } },
          'ok-dear': { price: { input: '3', output: '3' } },
          'ok-cheap': { price: { input: '0.5', cached_input: '0.05', output: '0.25' } },
          'status-500': { fallbacks: ['ok-dear'] },
          'status-502': { fallbacks: ['ok-cheap'] },
        },
      },
    ),
    environment: { LOG_LEVEL: 'warn' },
  });
  books = readBooks(gateway.databasePath, { safeIntegers: true });
});

closeAtEnd(() => [upstream, gateway, books]);

function account(credit: number | string, plan = 'business'): Promise<TestAccount> {
  return gateway.createAccount({ plan, credit });
}

/** A decimal string as an integer of 10⁻¹⁸. */
function atto(text: unknown): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(String(text));
  if (match === null) throw new Error(`not a plain decimal: ${String(text)}`);
  const [, sign, whole = '', fraction = ''] = match;
  const value = BigInt(whole + fraction.padEnd(18, '0'));
  return sign === '-' ? -value : value;
}

const MICRO = 10n ** 12n;

async function balance(of: Caller): Promise<{ available: string; reserved: string }> {
  const { json } = await get(of, '/v1/account');
  return json['balance'] as { available: string; reserved: string };
}

/** Waits until the account has no request in progress, neither a slot nor a hold. */
async function settled(of: Caller): Promise<void> {
  await waitUntil(async () => {
    const { json } = await get(of, '/v1/account');
    const { in_flight } = json['usage'] as { in_flight: number };
    return in_flight === 0 && (json['balance'] as { reserved: string }).reserved === '0';
  });
}

/** The size of the standard prompt in the gateway's own estimate. */
async function estimate(of: Caller): Promise<number> {
  const body = requestBody('messages', 'ok');
  const counted = await post(of, '/v1/messages/count_tokens', body);
  return ((await counted.json()) as { input_tokens: number }).input_tokens;
}

type Bill = {
  readonly status: number;
  readonly requestId: string;
  readonly model: string | null;
  readonly debited: unknown;
  readonly usd: unknown;
  readonly balance: unknown;
  readonly fallback: unknown;
};

/** One request, and everything that its answer says about money. Repeats in it must agree. */
const words = (count: number) => Array.from({ length: count }, () => ({ text: 'word ' }));

async function bill(
  of: Caller,
  format: EveryFormat,
  stream: boolean,
  model: string,
  more: Json = {},
): Promise<Bill> {
  if (!stream) {
    const { status, headers, json } = await generate(of, format, model, more);
    const usage = (json['usage'] ?? {}) as Json;
    expect(usage['svc_tokens_debited'] ?? null).toBe(headers.get('x-svc-tokens-debited'));
    return {
      ...common(status, headers),
      debited: usage['svc_tokens_debited'],
      usd: usage['svc_cost_usd'],
      balance: headers.get('x-svc-balance'),
      fallback: undefined,
    };
  }
  const { status, headers, events } = await generateStream(of, format, model, more);
  expect(headers.get('x-svc-tokens-debited')).toBeNull();
  const usage = events.map(({ json }) => usageIn(json ?? {})).findLast(Boolean);
  const event = format === 'chat' ? events.at(-2)?.json : usage;
  expect(event?.['svc_tokens_debited']).toBe(usage?.['svc_tokens_debited']);
  return {
    ...common(status, headers),
    debited: event?.['svc_tokens_debited'],
    usd: event?.['svc_cost_usd'],
    balance: event?.['svc_balance_tokens'],
    fallback: event?.['svc_fallback_used'],
  };
}

function common(status: number, headers: Headers) {
  const requestId = headers.get('x-request-id') ?? '';
  return { status, requestId, model: headers.get('x-svc-model') };
}

type Booked = {
  readonly outcome: string;
  readonly basis: string;
  readonly debited: bigint;
  readonly loss: bigint;
};

/** What the usage record and the entries of a request say, in 10⁻⁶ service token. */
function booked(requestId: string): Booked & { readonly entries: bigint[] } {
  const record = books
    .query<Booked, [string]>(
      'select outcome, usage_basis as basis, debited, loss from usage_records where request_id = ?',
    )
    .get(requestId);
  if (record === null) throw new Error(`no record of ${requestId}`);
  const entries = books
    .query<{ amount: bigint }, [string, string]>(
      'select amount from ledger_entries where transfer_id in (?, ?)',
    )
    .all(`settle:${requestId}`, `loss:${requestId}`);
  return { ...record, entries: entries.map((entry) => entry.amount) };
}

async function expectCleanBooks(): Promise<void> {
  const { checks } = (await gateway.run('doctor').catch(failedDoctor)) as {
    checks: { name: string; ok: boolean; detail: string }[];
  };
  expect(checks.find((check) => check.name === 'ledger')).toEqual({
    name: 'ledger',
    ok: true,
    detail: 'every balance is the sum of its entries',
  });
}

/** Doctor complains about the port that the running gateway has; only the ledger counts here. */
async function failedDoctor(): Promise<Json> {
  const environment = { PATH: process.env['PATH'] ?? '' };
  const { stdout } = await runCommand(gateway.directory, environment, ['doctor', '--json']);
  return JSON.parse(stdout);
}

describe('case 57: one number everywhere', () => {
  test.each(KINDS)('%s, streamed: %p', async (format, stream) => {
    const payer = await account(1_000_000);
    let before = atto('1000000');
    for (const slug of USAGES) {
      const [prompt = 0n, cached = 0n, output = 0n] = slug.match(/\d+/g)?.map(BigInt) ?? [];
      const exact =
        (prompt - cached) * atto(FINE.input) +
        cached * atto(FINE.cached_input) +
        output * atto(FINE.output);
      const charge = ((exact + MICRO / 2n) / MICRO) * MICRO;

      // A report above the bound that the upstream was given would not be believed.
      const more = { ...promptOf(prompt), max_tokens: Math.max(100, Number(output)) };
      const said = await bill(payer, format, stream, slug, more);
      expect([slug, said.status, said.model]).toEqual([slug, 200, slug]);
      expect([slug, atto(said.debited)]).toEqual([slug, charge]);
      expect(atto(said.usd) * 1_000_000n).toBe((charge * 125n) / 100n);
      expect(atto(said.balance)).toBe(before - charge);
      const micro = charge / MICRO;
      expect(booked(said.requestId)).toEqual({
        outcome: 'completed',
        basis: 'reported',
        debited: micro,
        loss: 0n,
        entries: micro === 0n ? [] : [micro, -micro],
      });
      const after = await balance(payer);
      expect(after).toMatchObject({ available: String(said.balance), reserved: '0' });
      before -= charge;
    }
  });
});

describe('the reservation', () => {
  test.each(KINDS)('%s, streamed %p: 402 one unit below it, 200 at it', async (format, stream) => {
    const prompt = await estimate(await account(0.000001));
    const hold = prompt + 100 * 2;
    const payer = await account(`${hold - 1}.999999`);
    const more = { max_tokens: 100 };
    expect((await bill(payer, format, stream, 'ok', more)).status).toBe(402);
    const answer = await generate(payer, format, 'ok', more);
    expect(answer.status).toBe(402);
    expect(answer.json['error']).toMatchObject({ code: 'insufficient_balance' });
    expect(JSON.stringify(answer.json)).toContain(`${hold - 1}.999999`);
    expect(JSON.stringify(answer.json)).toContain(`reserve ${hold}.`);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await balance(payer)).toMatchObject({ available: `${hold - 1}.999999`, reserved: '0' });
    await gateway.run('account', 'credit', payer.id, '0.000001');
    expect(await bill(payer, format, stream, 'ok', more)).toMatchObject({
      status: 200,
      debited: '16.4',
    });
  });

  test('is at least the minimum, regardless of what the request would cost', async () => {
    const payer = await account('4.999999');
    expect((await generate(payer, 'chat', 'tiny')).status).toBe(402);
    await gateway.run('account', 'credit', payer.id, '0.000001');
    const answer = await generate(payer, 'chat', 'tiny');
    expect([answer.status, answer.headers.get('x-svc-tokens-debited')]).toEqual([200, '0.000015']);
  });

  test('a bound above the first slice is lowered to what the balance pays', async () => {
    const rich = await account(1_000_000);
    const prompt = await estimate(rich);
    const exact = await account(prompt + 2 * 4_096);
    const some = await account(prompt + 2 * 6_000 + 1);
    const rows: [TestAccount, EveryFormat, Json, number, boolean][] = [
      [rich, 'chat', {}, 100_000, true],
      [rich, 'chat', { max_tokens: 20_000 }, 20_000, true],
      [rich, 'messages', { max_tokens: 4_096 }, 4_096, false],
      [rich, 'chat', { max_tokens: 4_097 }, 4_097, true],
      [exact, 'chat', { max_tokens: 20_000 }, 4_096, false],
      [some, 'messages', { max_tokens: 20_000 }, 6_000, true],
    ];
    for (const [payer, format, more, bound, streamed] of rows) {
      expect((await generate(payer, format, 'wide', more)).status).toBe(200);
      const body = upstream.requests.filter((each) => each.model === 'wide').at(-1)?.body ?? {};
      const told = body['max_tokens'] ?? body['max_completion_tokens'];
      expect([more, told, body['stream'] ?? false]).toEqual([more, bound, streamed]);
    }
  });
});

describe('a charge above the hold', () => {
  test.each(KINDS)(
    '%s, streamed %p: takes what there is, the rest is a loss',
    async (format, stream) => {
      const payer = await account(500);
      const said = await bill(payer, format, stream, LARGE_USAGE, { max_tokens: 10 });
      expect(said).toMatchObject({ status: 200, debited: '500', balance: '0' });
      expect(await balance(payer)).toMatchObject({ available: '0', reserved: '0' });
      expect(booked(said.requestId)).toMatchObject({
        debited: 500_000_000n,
        // The output is charged up to the bound, regardless of what the upstream reports.
        loss: 520_000_000n,
        entries: [500_000_000n, -500_000_000n, 520_000_000n, -520_000_000n],
      });
      const story = await gateway.run('explain', said.requestId);
      expect(story['booked']).toMatchObject({
        charged: '1020',
        debited: '500',
        loss: '520',
        balance_after: '0',
      });
    },
  );

  test(`never takes the balance below zero, with ${CROWD} at once`, async () => {
    const payer = await account(5_000);
    const seen: bigint[] = [];
    let done = false;
    const watch = (async () => {
      while (!done) seen.push(atto((await balance(payer)).available));
    })();
    const requests = Array.from({ length: CROWD }, (_, index) =>
      bill(payer, EVERY_FORMAT[index % 3] ?? 'chat', index % 2 === 0, 'crowd', {
        max_tokens: 10,
      }),
    );
    const bills = await Promise.all(requests);
    done = true;
    await watch;
    expect(seen.every((available) => available >= 0n)).toBe(true);
    const paid = bills.filter((each) => each.status === 200);
    // All of them fit into the balance by their holds, and together cost more than there is.
    expect(paid.length).toBe(CROWD);
    const debits = paid.map((each) => atto(each.debited));
    expect(debits.reduce((sum, each) => sum + each, 0n)).toBe(atto('5000'));
    expect(await balance(payer)).toMatchObject({ available: '0', reserved: '0' });
    await expectCleanBooks();
  });
});

describe('what the upstream reports', () => {
  test.each(KINDS)(
    '%s, streamed %p: none is estimated, absurd is not believed',
    async (format, stream) => {
      const payer = await account(1_000_000);
      const prompt = await estimate(payer);
      const unknown = await bill(payer, format, stream, 'no-usage');
      const output = (Number(unknown.debited) - prompt) / 2;
      expect(Number.isInteger(output) && output >= 3 && output <= 6).toBe(true);
      expect(booked(unknown.requestId).basis).toBe('estimated');
      expect(await usageOf(unknown)).toMatchObject({ doubt: null, reported: null });
      for (const [absurd, doubt, prompt_tokens] of [
        ['absurd-usage', 'malformed', -3],
        ['usage-999999999-0-999999999', 'malformed', 999_999_999],
      ] as const) {
        const said = await bill(payer, format, stream, absurd);
        expect([absurd, said.debited]).toEqual([absurd, unknown.debited]);
        expect(booked(said.requestId).basis).toBe('estimated');
        const reported = { prompt_tokens };
        expect(await usageOf(said)).toMatchObject({ basis: 'estimated', doubt, reported });
      }
    },
  );

  test.each(KINDS)(
    '%s, streamed %p: an implausible count costs the bound of the request, and is an alert',
    async (format, stream) => {
      const payer = await account(1_000_000);
      const prompt = await estimate(payer);
      // A prompt of more than 1,000 tokens above our count, and an output far above the bound of 50.
      for (const [model, debited] of [
        ['usage-9999999-0-9', prompt + 1_000 + 9 * 2],
        // Four tokens of the prompt were cached.
        ['usage-10-4-9999', Math.max(prompt, 10) - 3.6 + 50 * 2],
      ] as const) {
        const said = await bill(payer, format, stream, model, { max_tokens: 50 });
        expect([model, said.debited]).toEqual([model, `${debited}`]);
        expect(await usageOf(said)).toMatchObject({ basis: 'estimated', doubt: 'implausible' });
        await waitUntil(() =>
          gateway.output().includes(`upstream scripted reported of ${model} for`),
        );
      }
    },
  );

  test.each(KINDS)(
    "%s, streamed %p: nothing above the caller's own bound is charged",
    async (format, stream) => {
      const payer = await account(1_000_000);
      const prompt = await estimate(payer);
      const bound = { max_tokens: 3 };
      // 500 tokens are reported for 5 delivered, and 40 are delivered without a report.
      for (const [model, input] of [
        ['usage-10-4-500', Math.max(prompt, 10) - 3.6],
        ['unreported-40', prompt],
      ] as const) {
        const said = await bill(payer, format, stream, model, bound);
        expect([model, said.debited]).toEqual([model, `${input + 3 * 2}`]);
        expect(booked(said.requestId).basis).toBe('estimated');
      }
    },
  );

  test('a stream that outruns its bound by far is cut, and costs no more than the bound', async () => {
    const payer = await account(1_000_000);
    const prompt = await estimate(payer);
    const { requestId } = await bill(payer, 'chat', true, 'flood', { max_tokens: 50 });
    expect(booked(requestId)).toMatchObject({
      outcome: 'completed',
      debited: BigInt(prompt + 50 * 2) * 1_000_000n,
    });
  });

  test.each(KINDS)('%s, streamed %p: a reported zero is a zero', async (format, stream) => {
    const payer = await account(100_000);
    const said = await bill(payer, format, stream, 'zero-usage');
    expect(said).toMatchObject({ status: 200, debited: '0', usd: '0', balance: '100000' });
    expect(booked(said.requestId)).toMatchObject({ basis: 'reported', entries: [] });
    // The operator pays for what was delivered, and is informed.
    const reported = { prompt_tokens: 0, completion_tokens: 0 };
    expect(await usageOf(said)).toMatchObject({ doubt: 'zero', reported });
  });
});

/** What `explain` says of a request's usage. */
async function usageOf({ requestId }: { readonly requestId: string }): Promise<unknown> {
  return (await gateway.run('explain', requestId))['usage'];
}

describe('a fallback', () => {
  test.each(KINDS)('%s, streamed %p: costs the lower of the two prices', async (format, stream) => {
    const payer = await account(1_000_000);
    const rows = [
      ['status-500', 'ok-dear', '16.4'],
      ['status-502', 'ok-cheap', '4.45'],
    ] as const;
    for (const [asked, served, debited] of rows) {
      const said = await bill(payer, format, stream, asked);
      expect(said).toMatchObject({ status: 200, model: served, debited });
      if (stream) expect(said.fallback).toBe(true);
      const story = await gateway.run('explain', said.requestId);
      expect(story['model']).toEqual({ requested: asked, served });
      expect((story['attempts'] as Json[]).map((attempt) => attempt['failure'])).toEqual([
        'server_error',
        null,
      ]);
    }
    expect((await bill(payer, format, stream, 'ok')).fallback).toBe(stream ? false : undefined);
  });
});

describe('a client that leaves', () => {
  test.each(EVERY_FORMAT)(
    'case 70: in mid-stream pays the prompt and what was delivered, %s',
    async (format) => {
      const payer = await account(100_000);
      const prompt = await estimate(payer);
      const leave = async (after: number): Promise<void> => {
        const abort = new AbortController();
        const response = await openStream(payer, format, 'stalls-late', {}, abort.signal);
        let deltas = 0;
        try {
          for await (const event of readEvents(response)) {
            if (event.data.includes(' a')) deltas += 1;
            if (deltas === after) break;
          }
        } finally {
          abort.abort();
        }
        const requestId = response.headers.get('x-request-id') ?? '';
        await waitUntil(() => {
          const found = books
            .query('select 1 from usage_records where request_id = ?')
            .get(requestId);
          return found !== null;
        });
        const { outcome, debited, basis } = booked(requestId);
        const output = (Number(debited) / 1e6 - prompt) / 2;
        expect([outcome, basis]).toEqual(['client_cancelled', 'estimated']);
        expect(output).toBeGreaterThanOrEqual(after);
        expect(output).toBeLessThanOrEqual(SAID);
      };
      await Promise.all([1, 2, 5, 10].map(leave));
      await settled(payer);
      await upstream.waitFor(() => upstream.active() === 0);
    },
  );

  test.each(EVERY_FORMAT)(
    '%s: with the last event in hand has paid the whole answer, once',
    async (format) => {
      const payer = await account(100_000);
      const marks = {
        chat: ['finish_reason":"stop', '[DONE]'],
        messages: ['message_delta', 'message_stop'],
        responses: ['response.output_item.done', 'response.completed'],
      }[format];
      for (const mark of marks) {
        const abort = new AbortController();
        const response = await openStream(payer, format, 'ok', {}, abort.signal);
        for await (const event of readEvents(response)) {
          if (event.data.includes(mark)) break;
        }
        abort.abort();
        await settled(payer);
        expect(booked(response.headers.get('x-request-id') ?? '')).toMatchObject({
          outcome: 'completed',
          debited: 16_400_000n,
        });
      }
    },
  );
});

describe('explain describes the attempts', () => {
  async function explained(requestId: string): Promise<{ json: Json; text: string }> {
    const { stdout } = await runCommand(gateway.directory, {}, ['explain', requestId]);
    return { json: await gateway.run('explain', requestId), text: stdout };
  }

  test('of an answer that was served', async () => {
    const payer = await account(1_000);
    const { requestId } = await bill(payer, 'chat', true, 'ok', {
      max_tokens: 100,
      user: 'end-user-7',
    });
    const { json, text } = await explained(requestId);
    expect(json).toMatchObject({
      request_id: requestId,
      account_id: payer.id,
      hold: { phase: 'settled' },
      model: { requested: 'ok', served: 'ok' },
      request: { format: 'chat', stream: true, outcome: 'completed', end_user: 'end-user-7' },
      usage: { basis: 'reported', input_tokens: 10, cached_input_tokens: 4, output_tokens: 5 },
      booked: {
        charged: '16.4',
        debited: '16.4',
        debited_usd: '0.0000205',
        loss: '0',
        balance_after: '983.6',
      },
    });
    expect(text).toContain('output: 5 × 2 = 10');
    expect(text).toContain('total 16.4, rounded half up to 16.4');
    expect(text).toContain(
      'debited 16.4 (0.0000205 USD), loss of the gateway 0; balance after it 983.6',
    );
  });

  test('of an upstream that failed before content: nothing is charged', async () => {
    const payer = await account(1_000_000);
    const { status, requestId } = await bill(payer, 'messages', false, 'status-503');
    expect(status).toBe(503);
    const { json, text } = await explained(requestId);
    expect(json).toMatchObject({
      hold: { phase: 'released' },
      model: { requested: 'status-503', served: null },
      request: { outcome: 'upstream_failed' },
      booked: { charged: '0', debited: '0', loss: '0', entries: [] },
      // No other upstream serves it, so it was asked three times.
      attempts: Array(3).fill({ upstream: 'scripted', failure: 'overloaded' }),
    });
    expect(text).toContain('none served');
    expect(text).toContain('overloaded (first_content): the upstream answered with status 503');
  });

  test('of a stream that broke after content: what was delivered is charged', async () => {
    const payer = await account(1_000_000);
    const response = await openStream(payer, 'chat', 'cut');
    await response.text();
    await settled(payer);
    const { json, text } = await explained(response.headers.get('x-request-id') ?? '');
    expect(json).toMatchObject({
      hold: { phase: 'settled' },
      request: { outcome: 'upstream_failed' },
      usage: { basis: 'estimated' },
      attempts: [{ failure: 'cut' }],
    });
    expect(text).toContain('upstream_failed');
  });

  test('of a request in progress, and of one that never was', async () => {
    const payer = await account(1_000_000);
    const abort = new AbortController();
    const response = await openStream(payer, 'chat', 'stall', {}, abort.signal);
    const requestId = response.headers.get('x-request-id') ?? '';
    // The first checkpoint is written a moment after the first content.
    await waitUntil(async () => {
      const { hold } = (await explained(requestId)).json;
      return (hold as { readonly phase: string }).phase === 'delivering';
    });
    const { json, text } = await explained(requestId);
    expect(json).toMatchObject({ hold: { phase: 'delivering', ended_at: null }, booked: null });
    expect(text).toContain('still running');
    abort.abort();
    // A client that drops an unfinished response has left it.
    await response.text().catch(() => {});
    await settled(payer);
    await expect(gateway.run('explain', 'req_0')).rejects.toThrow('request_not_found');
  });
});

test('a credit with an id is booked once, however many are fired at once', async () => {
  const payer = await account(1);
  const credit = () =>
    gateway.run('account', 'credit', payer.id, '2.5', '--id', `once-${payer.id}`);
  const results = await Promise.all(Array.from({ length: samples(20, 50) }, credit));
  const applied = results.map((result) => (result['credit'] as Json)['applied']);
  expect(applied.filter(Boolean)).toEqual([true]);
  expect(await balance(payer)).toMatchObject({ available: '3.5' });
  const other = gateway.run('account', 'credit', payer.id, '3', '--id', `once-${payer.id}`);
  await expect(other).rejects.toThrow('used before');
  expect(await balance(payer)).toMatchObject({ available: '3.5' });
}, 30_000);
