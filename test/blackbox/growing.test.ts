// Answers that exceed their hold, from outside: they end correctly in every format, streamed or
// whole, after the last token that the balance covers, and no balance drops below zero under any
// number of parallel requests.

import type { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { reasonIn } from '../support/answer.ts';
import { ask as askFor } from '../support/answered.ts';
import { type Behaviour, play, sendWhole, streamHead } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import {
  type Caller,
  EVERY_FORMAT,
  type EveryFormat,
  get,
  openStream,
  PATHS,
  post,
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
import {
  type Finish,
  type Piece,
  type Script,
  streamFrames,
  wholeBody,
} from '../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

type Json = Record<string, unknown>;

const KINDS = EVERY_FORMAT.flatMap((format) => [[format, false] as const, [format, true] as const]);

/** What an agent asks for, of any size. */
const MUCH = { max_tokens: 32_000 };

let upstream: Upstream;
let gateway: Gateway;
let books: Database;
let prompt: number;
/** Answers of `gated` that wait for their second half. */
let gates: (() => void)[] = [];

const tokens = (count: number): Piece[] => Array.from({ length: count }, () => ({ text: ' a' }));
const said = (count: number, finish: Finish = 'stop'): Script => ({
  pieces: tokens(count),
  finish,
  usage: { prompt, cached: 0, completion: count },
});

/** A thousand tokens; then, when the test says so, 7,500 in one piece. */
const gated: Behaviour = async (exchange) => {
  const { dialect, model } = exchange.request;
  const pieces: Piece[] = [...tokens(1_000), { text: ' a'.repeat(7_500) }];
  const frames = streamFrames(dialect, model, { ...said(8_500), pieces });
  streamHead(exchange);
  const first = frames.length - 4;
  exchange.write(frames.slice(0, first).join(''));
  await new Promise<void>((resolve) => gates.push(resolve));
  exchange.write(frames.slice(first).join(''));
  exchange.end();
};

/** Most of an answer, and then nothing: it never ends by itself. */
const halted: Behaviour = async (exchange) => {
  const { dialect, model } = exchange.request;
  streamHead(exchange);
  exchange.write(streamFrames(dialect, model, said(12_000)).slice(0, 8_000).join(''));
  await exchange.untilGone();
};

beforeAll(async () => {
  upstream = await startUpstream({
    deaf: (exchange) => play(said(12_000))(exchange),
    obeys: (exchange) => {
      const { body } = exchange.request;
      const bound = Number(body['max_tokens'] ?? body['max_completion_tokens']);
      return play(said(bound, 'length'))(exchange);
    },
    mute: play({ pieces: tokens(9_000), finish: 'stop' }),
    'json-anyway': (exchange) =>
      sendWhole(exchange, 200, wholeBody('chat', 'json-anyway', said(12_000))),
    caller: play({
      pieces: [
        { tool: 0, id: 'call_1', name: 'write', json: '{"text":"' },
        ...Array.from({ length: 12_000 }, () => ({ tool: 0, json: ' a' })),
      ],
      finish: 'tool_calls',
    }),
    gated,
    halted,
  });
  const models = [
    'deaf',
    'obeys',
    'mute',
    'json-anyway',
    'caller',
    'gated',
    'halted',
    'stall-before',
    'ok',
  ];
  gateway = await startGateway({
    // An upstream that shows all thinking is not read on for a client that has left.
    catalog: catalogFor(upstream, models, {
      model: { max_output: 100_000 },
      upstream: { profile: 'deepseek' },
    }),
    environment: { LOG_LEVEL: 'warn' },
  });
  books = readBooks(gateway.databasePath, { safeIntegers: true });
  const counted = await post(
    await account(1),
    '/v1/messages/count_tokens',
    requestBody('messages', 'ok'),
  );
  prompt = ((await counted.json()) as { input_tokens: number }).input_tokens;
});

closeAtEnd(() => [upstream, gateway, books]);

function account(credit: number): Promise<TestAccount> {
  return gateway.createAccount({ plan: 'business', credit });
}

/** An account that could pay the standard prompt and so many tokens of output. */
function moneyFor(outputTokens: number): Promise<TestAccount> {
  return account(prompt + 2 * outputTokens);
}

type Ended = {
  readonly status: number;
  readonly requestId: string;
  /** How many tokens were delivered. */
  readonly delivered: number;
  /** Finish or stop reason. */
  readonly reason: unknown;
  /** What the answer says of its output tokens. */
  readonly output: unknown;
  readonly debited: unknown;
  readonly balance: unknown;
  /** Chat streams alone say it. */
  readonly outcome: unknown;
};

async function ask(
  of: Caller,
  format: EveryFormat,
  stream: boolean,
  model: string,
  more: Json = MUCH,
): Promise<Ended> {
  const { status, headers, said, usage, last } = await askFor(of, format, stream, model, more);
  return {
    status,
    requestId: headers.get('x-request-id') ?? '',
    delivered: JSON.stringify(said).split(' a').length - 1,
    reason: said.reason,
    output: usage['completion_tokens'] ?? usage['output_tokens'],
    debited: usage['svc_tokens_debited'],
    balance: headers.get('x-svc-balance') ?? last['svc_balance_tokens'],
    outcome: last['svc_outcome'],
  };
}

/** What the usage record says, in service tokens. */
function booked(requestId: string) {
  const record = books
    .query<Record<'outcome' | 'basis', string> & Record<'debited' | 'loss', bigint>, [string]>(
      'select outcome, usage_basis as basis, debited, loss from usage_records where request_id = ?',
    )
    .get(requestId);
  if (record === null) throw new Error(`no record of ${requestId}`);
  const { debited, loss, ...rest } = record;
  return { ...rest, debited: Number(debited) / 1e6, loss: Number(loss) / 1e6 };
}

async function balance(of: Caller): Promise<{ available: string; reserved: string }> {
  return (await get(of, '/v1/account')).json['balance'] as { available: string; reserved: string };
}

async function expectCleanBooks(): Promise<void> {
  const { stdout } = await runCommand(gateway.directory, {}, ['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: Json[] };
  expect(checks.find((check) => check['name'] === 'ledger')).toMatchObject({ ok: true });
}

describe.each(KINDS)('%s, streamed: %p', (format, stream) => {
  test.each(['deaf', 'json-anyway'])(
    'an upstream that ignores its bound is stopped where the money ends (%s)',
    async (model) => {
      const payer = await moneyFor(6_000);
      const answer = await ask(payer, format, stream, model);
      const debited = prompt + 12_000;
      expect(answer).toMatchObject({
        status: 200,
        delivered: 6_000,
        reason: reasonIn(format, 'length'),
        output: 6_000,
        debited: String(debited),
        balance: '0',
      });
      if (stream && format === 'chat') expect(answer.outcome).toBe('stopped_balance');
      expect(booked(answer.requestId)).toEqual({
        outcome: 'stopped_balance',
        basis: 'estimated',
        debited,
        loss: 0,
      });
      expect((await ask(payer, format, stream, 'ok')).status).toBe(402);
      expect(await balance(payer)).toMatchObject({ available: '0', reserved: '0' });
    },
  );

  test('an upstream that stops at the bound which the balance had set is the same ending', async () => {
    const payer = await moneyFor(6_000);
    const answer = await ask(payer, format, stream, 'obeys');
    const seen = {
      status: 200,
      delivered: 6_000,
      reason: reasonIn(format, 'length'),
      balance: '0',
    };
    expect(answer).toMatchObject(seen);
    const record = { outcome: 'stopped_balance', basis: 'reported', loss: 0 };
    expect(booked(answer.requestId)).toMatchObject(record);
    // At a bound of its own, the same words are a complete answer.
    const own = await ask(await moneyFor(6_000), format, stream, 'obeys', { max_tokens: 5_000 });
    expect(own).toMatchObject({ delivered: 5_000, reason: reasonIn(format, 'length') });
    expect(booked(own.requestId).outcome).toBe('completed');
  });

  test('an answer without usage is paid as it was counted, slice by slice', async () => {
    const payer = await moneyFor(50_000);
    const answer = await ask(payer, format, stream, 'mute');
    expect(answer).toMatchObject({ delivered: 9_000, output: 9_000 });
    expect(booked(answer.requestId)).toEqual({
      outcome: 'completed',
      basis: 'estimated',
      debited: prompt + 18_000,
      loss: 0,
    });
    expect(await balance(payer)).toMatchObject({ reserved: '0' });
  });

  test('a small balance is no reason to refuse a client that always asks for much', async () => {
    const payer = await moneyFor(4_096);
    expect((await ask(payer, format, stream, 'ok')).status).toBe(200);
  });

  test('a call that is cut says length, and has lost no more than its end', async () => {
    const answer = await ask(await moneyFor(5_000), format, stream, 'caller');
    expect(answer).toMatchObject({ status: 200, reason: reasonIn(format, 'length'), balance: '0' });
    expect(booked(answer.requestId)).toMatchObject({ outcome: 'stopped_balance', loss: 0 });
    // A whole Messages answer has arguments as an object: there a torn one is repaired.
    if (stream || format !== 'messages') expect(answer.delivered).toBeGreaterThan(4_900);
  });

  /** An answer that waits in its first slice, while another request has all the money but 2,000. */
  async function squeezed() {
    gates = [];
    const payer = await account(2 * (prompt + 2 * 4_096) + 2_000);
    const answering = ask(payer, format, stream, 'gated');
    await waitUntil(() => gates.length === 1);
    const abort = new AbortController();
    const body = requestBody('chat', 'stall-before', { max_tokens: 4_096 });
    const other = post(payer, '/v1/chat/completions', body, { signal: abort.signal });
    other.catch(() => {});
    await waitUntil(async () => (await balance(payer)).available === '2000');
    return { payer, answering, leave: () => abort.abort(), open: () => gates[0]?.() };
  }

  test('a slice that the balance cannot cover ends the answer; what was made beyond it is a loss', async () => {
    const { payer, answering, leave, open } = await squeezed();
    open();
    const answer = await answering;
    // The first slice, and what 2,000 service tokens pay of the second.
    expect(answer).toMatchObject({
      status: 200,
      delivered: 5_096,
      reason: reasonIn(format, 'length'),
      debited: String(prompt + 2 * 5_096),
      balance: '0',
    });
    expect(booked(answer.requestId)).toEqual({
      outcome: 'stopped_balance',
      basis: 'estimated',
      debited: prompt + 2 * 5_096,
      loss: 2 * (8_500 - 5_096),
    });
    leave();
    await waitUntil(async () => (await balance(payer)).reserved === '0');
    // Who left has had the prompt read.
    expect(await balance(payer)).toMatchObject({ available: String(2 * 4_096) });
  });

  test('money that comes in the middle lets the answer go on', async () => {
    const { payer, answering, leave, open } = await squeezed();
    await gateway.run('account', 'credit', payer.id, '10000');
    open();
    const answer = await answering;
    expect(answer).toMatchObject({ status: 200, delivered: 8_500, output: 8_500 });
    expect(booked(answer.requestId)).toMatchObject({ outcome: 'completed', loss: 0 });
    leave();
    await waitUntil(async () => (await balance(payer)).reserved === '0');
  });
});

test('eight long answers on one balance all end correctly, and it is never below zero', async () => {
  // All of them get their first slice, and less than half of what they say beyond it.
  const credit = 8 * (prompt + 2 * 4_096) + 2 * 30_000;
  const payer = await account(credit);
  const seen: number[] = [];
  let done = false;
  const watch = (async () => {
    while (!done) seen.push(Number((await balance(payer)).available));
  })();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => {
      const [format, stream] = KINDS[index % KINDS.length] ?? (['chat', true] as const);
      return ask(payer, format, stream, 'deaf').then((answer) => ({ ...answer, format }));
    }),
  );
  done = true;
  await watch;
  expect(seen.every((available) => available >= 0)).toBe(true);
  expect(answers.map((answer) => answer.status)).toEqual(new Array(8).fill(200));
  let debits = 0;
  for (const answer of answers) {
    const { outcome, debited } = booked(answer.requestId);
    const complete = outcome === 'completed';
    expect(outcome).toBe(complete ? 'completed' : 'stopped_balance');
    if (!complete) expect(answer.reason).toBe(reasonIn(answer.format, 'length'));
    expect(answer.delivered).toBe(complete ? 12_000 : (debited - prompt) / 2);
    debits += debited;
  }
  expect(answers.some((answer) => answer.delivered < 12_000)).toBe(true);
  expect(await balance(payer)).toMatchObject({ available: String(credit - debits), reserved: '0' });
  await expectCleanBooks();
}, 60_000);

test('a client that leaves a growing answer pays for no more than its hold', async () => {
  const payer = await moneyFor(50_000);
  const abort = new AbortController();
  const response = await openStream(payer, 'chat', 'halted', MUCH, abort.signal);
  const reader = response.body?.getReader();
  let bytes = 0;
  while (bytes < 1_000_000) bytes += (await reader?.read())?.value?.length ?? 1_000_000;
  abort.abort();
  await waitUntil(async () => (await balance(payer)).reserved === '0');
  const { outcome, debited, loss } = booked(response.headers.get('x-request-id') ?? '');
  expect([outcome, loss]).toEqual(['client_cancelled', 0]);
  // A chunk has some 200 bytes: well above the first slice, and below all of it.
  expect(debited).toBeGreaterThan(prompt + 2 * 4_096);
  expect(debited).toBeLessThan(prompt + 2 * 12_000);
});

/** Keeps a process from writing any file beyond so many bytes; `unlimited` lets it again. */
function limitFiles(pid: number, bytes: string): void {
  const done = Bun.spawnSync(['prlimit', '--pid', String(pid), `--fsize=${bytes}:`]);
  expect(done.exitCode).toBe(0);
}

describe.skipIf(Bun.which('prlimit') === null)('a ledger that cannot buy the next slice', () => {
  test.each([
    ['chat', true],
    ['messages', false],
  ] as const)(
    'ends the answer as our failure, after what is paid: %s, streamed %p',
    async (format, stream) => {
      const prefix = ['bash', '-c', `trap '' XFSZ; exec "$@"`, 'bash'];
      const catalog = catalogFor(upstream, ['gated'], { model: { max_output: 100_000 } });
      const environment = { LOG_LEVEL: 'silent' };
      await using own = await startGateway({ catalog, environment, prefix });
      const payer = await own.createAccount({ plan: 'business', credit: 100_000 });
      gates = [];
      const body = requestBody(format, 'gated', { ...MUCH, stream });
      const answering = post(payer, PATHS[format], body).then(async (response) => {
        return { status: response.status, text: await response.text() };
      });
      await waitUntil(() => gates.length === 1);
      limitFiles(own.pid, '1');
      gates[0]?.();
      const { status, text } = await answering;
      const [content = ''] = text.split('"error"');
      const delivered = content.split(' a').length - 1;
      if (stream) {
        expect(text).toContain('"svc_outcome":"gateway_failed"');
        // All but the end of a piece of the first slice, and nothing beyond it.
        expect(delivered).toBeGreaterThan(3_800);
        expect(delivered).toBeLessThanOrEqual(4_096);
      } else expect([status, delivered]).toEqual([503, 0]);

      limitFiles(own.pid, 'unlimited');
      await waitUntil(async () => (await balance(payer)).reserved === '0', 10_000);
      const { available } = await balance(payer);
      const charged = stream ? prompt + 2 * delivered : 0;
      expect(available).toBe(String(100_000 - charged));
      expect(await own.stop()).toBe(0);
    },
  );
});
