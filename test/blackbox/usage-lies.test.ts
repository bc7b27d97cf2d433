// Upstreams that report wrong usage in any way. Each answer is charged as booked, an implausible
// report never lowers the charge, and the ledger balances.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Behaviour, HELLO, sendText, sendWhole } from '../support/behaviours.ts';
import { type Books, openBooks } from '../support/books.ts';
import { catalogFor } from '../support/catalog.ts';
import { type Format, generate, generateStream, get } from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { type Script, streamFrames, wholeBody } from '../support/render.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

type Json = Readonly<Record<string, unknown>>;
type Dialect = 'chat' | 'messages';

/** The counts of a report as JSON text, which may be no number. */
type Lie = { readonly input: string; readonly output: string; readonly more?: string };

const MARK = { prompt: 777_001, cached: 0, completion: 777_002 };
const SCRIPT: Script = { pieces: [{ text: HELLO }], finish: 'stop', usage: MARK };
const MAX_TOKENS = 100;
const CONTEXT_WINDOW = 10_000;

/** Values that are no count: none of them may be charged, or lower a charge. */
const NO_COUNTS = [
  ...['-1', '-0.5', '1.5', '1e308', '-1e308', '1e999', '9'.repeat(400), '"12"', '""', '"0"'],
  ...['true', 'false', '[]', '[5]', '{}', '{"toString":1}', '1000000001', '9007199254740993'],
];

const LIES: readonly Lie[] = [
  ...NO_COUNTS.map((input) => ({ input, output: '5' })),
  ...NO_COUNTS.map((output) => ({ input: '10', output })),
  ...NO_COUNTS.map((both) => ({ input: both, output: both })),
  { input: '10', output: '5', more: '"total_tokens":3' },
  { input: '10', output: '5', more: '"total_tokens":-15' },
  { input: '10', output: '5', more: '"prompt_tokens_details":{"cached_tokens":11}' },
  { input: '10', output: '5', more: '"cache_read_input_tokens":-4' },
  { input: '10', output: '5', more: '"completion_tokens_details":{"reasoning_tokens":1e9}' },
  { input: '10', output: '5', more: '"__proto__":{"prompt_tokens":0}' },
  { input: '10', output: '5', more: '"constructor":null,"prompt_tokens_details":7' },
  { input: 'null', output: 'null' },
  { input: '999999999', output: '5' },
  { input: '10', output: '999999999' },
];

const lieOf = (model: string): Lie => LIES[Number(model.slice('lie-'.length))] as Lie;

/** The script with the marked counts replaced by the text of the lie. */
function tell(text: string, { input, output, more }: Lie): string {
  const extra = more === undefined ? '' : `,${more}`;
  return text
    .replaceAll(String(MARK.prompt), input)
    .replaceAll(String(MARK.completion), `${output}${extra}`);
}

/** The upstream's own totals would contradict most lies; it reports none. */
const withoutTotals = (text: string): string =>
  text.replace(/,"total_tokens":\d+/, '').replace(/,"prompt_cache_(hit|miss)_tokens":\d+/g, '');

const lies: Behaviour = (exchange) => {
  const { dialect, model, stream } = exchange.request;
  const lie = lieOf(model.replace(/^messages-/, ''));
  if (!stream) {
    return sendWhole(exchange, 200, tell(withoutTotals(wholeBody(dialect, model, SCRIPT)), lie));
  }
  sendText(exchange, tell(withoutTotals(streamFrames(dialect, model, SCRIPT).join('')), lie));
};

const NAMES = LIES.map((_, index) => `lie-${index}`);

type World = {
  readonly gateway: Gateway;
  readonly upstream: Upstream;
  readonly books: Books;
  readonly customer: TestAccount;
};

const CREDIT = 10_000_000;
const worlds = new Map<Dialect, World>();

beforeAll(async () => {
  for (const dialect of ['chat', 'messages'] as const) {
    const upstream = await startUpstream(Object.fromEntries(NAMES.map((name) => [name, lies])));
    const gateway = await startGateway({
      catalog: catalogFor(upstream, NAMES, {
        dialect,
        model: { context_window: CONTEXT_WINDOW, max_output: 1_000 },
      }),
      environment: { LOG_LEVEL: 'silent', LEDGER_SYNC: 'normal' },
    });
    const customer = await gateway.createAccount({ plan: 'business', credit: CREDIT });
    worlds.set(dialect, { gateway, upstream, books: openBooks(gateway), customer });
  }
});

afterAll(async () => {
  for (const { gateway, upstream, books } of worlds.values()) {
    await books.close();
    await gateway[Symbol.asyncDispose]();
    await upstream.close();
  }
});

/** One request; what its answer says was debited, or undefined where it failed. */
async function ask(customer: TestAccount, format: Format, stream: boolean, model: string) {
  const more = { max_tokens: MAX_TOKENS };
  if (!stream) {
    const { headers } = await generate(customer, format, model, more);
    const debited = headers.get('x-svc-tokens-debited') ?? undefined;
    return { requestId: headers.get('x-request-id'), debited };
  }
  const { headers, events } = await generateStream(customer, format, model, more);
  const bills = events.flatMap(({ json }) => [json, json?.['usage'], json?.['error']]) as Json[];
  const debited = bills.map((each) => each?.['svc_tokens_debited']).findLast(isText);
  return { requestId: headers.get('x-request-id'), debited };
}

const isText = (value: unknown): value is string => typeof value === 'string';

const CASES = (['chat', 'messages'] as const).flatMap((dialect) =>
  (['chat', 'messages'] as const).flatMap((format) =>
    [false, true].map((stream) => [dialect, format, stream] as const),
  ),
);

test.each(CASES)(
  '%s upstream, %s client, streamed %p: no report lowers a charge unless it can be true',
  async (dialect, format, stream) => {
    const world = worlds.get(dialect);
    if (world === undefined) throw new Error('not started');
    const { books, customer } = world;
    for (const [index, name] of NAMES.entries()) {
      const { requestId, debited } = await ask(customer, format, stream, name);
      const story = await books.story(requestId);
      const lie = JSON.stringify(LIES[index]);
      if (story === undefined) throw new Error(`${requestId} is not in the books`);
      const booked = (story['booked'] as Json | null)?.['debited'];
      expect([lie, debited ?? '0']).toEqual([lie, String(booked ?? '0')]);
      const usage = story['usage'] as Json;
      expect([lie, (story['request'] as Json)['outcome']]).toEqual([lie, 'completed']);
      // The whole prompt and what was delivered, at 1 and 2 service tokens a token.
      const own = Number(usage['input_tokens']) + 2 * Number(usage['output_tokens']);
      expect(Number(debited)).toBeLessThanOrEqual(CONTEXT_WINDOW + 2 * MAX_TOKENS);
      if (usage['basis'] === 'reported') expect([lie, isCount(index)]).toEqual([lie, true]);
      else expect(own).toBeGreaterThanOrEqual(10);
      expect(Number(debited)).toBeGreaterThan(0);
    }
  },
  60_000,
);

/** Whether both counts of a lie are counts: a report of it may be believed. */
function isCount(index: number): boolean {
  const { input = '', output = '' } = LIES[index] ?? {};
  return !NO_COUNTS.includes(input) && !NO_COUNTS.includes(output);
}

test('afterwards nothing is reserved, and each balance is the sum of its entries', async () => {
  for (const { gateway, customer } of worlds.values()) {
    const { json } = await get(customer, '/v1/account');
    expect(json['balance']).toMatchObject({ reserved: '0' });
    expect(await gateway.run('doctor')).toMatchObject({ ok: true });
  }
});
