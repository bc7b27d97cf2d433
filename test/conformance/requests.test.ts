// Cases that one recorded request cannot show: sizes at their limit, names of models, and what a
// client does after a stream that broke. Over the executable.

import { beforeAll, expect, test } from 'bun:test';
import { type Books, openBooks } from '../support/books.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import {
  EVERY_FORMAT,
  type EveryFormat,
  generate,
  generateStream,
  openStream,
} from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { expectRefusal } from '../support/refusal.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

let upstream: Upstream;
let gateway: Gateway;
let books: Books;
let account: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream();
  const plans = {
    large: { ...LARGE_PLAN, models: ['ok', 'cut', 'stall-before'] },
    single: { ...LARGE_PLAN, concurrent_requests: 1 },
  };
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', 'cut', 'stall-before', 'elsewhere'], {
      model: { context_window: 2_000_000 },
      // An upstream that may hide thinking would be read on, with its hold, when its client leaves.
      upstream: { profile: 'deepseek' },
      models: { ok: { aliases: ['alias-of-ok'] } },
      plans,
    }),
  });
  account = await gateway.createAccount({ plan: 'large', credit: 100_000_000 });
  books = openBooks(gateway);
});

closeAtEnd(() => [upstream, gateway, books]);

const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const turn = (content: string) => ({ role: 'user', content });
const tools: Readonly<Record<EveryFormat, (count: number) => object[]>> = {
  chat: (count) =>
    Array.from({ length: count }, (_, index) => ({
      type: 'function',
      function: { name: `tool_${index}` },
    })),
  messages: (count) =>
    Array.from({ length: count }, (_, index) => ({
      name: `tool_${index}`,
      input_schema: { type: 'object' },
    })),
  responses: (count) =>
    Array.from({ length: count }, (_, index) => ({ type: 'function', name: `tool_${index}` })),
};

/** What is just allowed, what is just too much, and the field that is named then. */
const SIZES: readonly [
  name: string,
  formats: readonly EveryFormat[],
  allowed: (format: EveryFormat) => object,
  refused: (format: EveryFormat) => object,
  param: string,
][] = [
  [
    '200 messages',
    EVERY_FORMAT,
    () => ({ messages: repeat(200, turn('Hi')) }),
    () => ({ messages: repeat(201, turn('Hi')) }),
    'messages',
  ],
  [
    '128 tools',
    EVERY_FORMAT,
    (format) => ({ tools: tools[format](128) }),
    (format) => ({ tools: tools[format](129) }),
    'tools',
  ],
  [
    '1,000,000 characters',
    EVERY_FORMAT,
    () => ({ messages: [turn('a '.repeat(500_000))] }),
    () => ({ messages: [turn(`${'a '.repeat(500_000)}a`)] }),
    'messages[0].content',
  ],
  [
    '256 characters of a user',
    ['chat', 'responses'],
    () => ({ user: 'u'.repeat(256) }),
    () => ({ user: 'u'.repeat(257) }),
    'user',
  ],
];

const SIZE_ROWS = SIZES.flatMap(([name, formats, ...row]) =>
  formats.map((format) => [name, format, ...row] as const),
);

test.each(SIZE_ROWS)(
  'case 37: %s are allowed and no more, %s',
  async (_name, format, allowed, refused, param) => {
    expect((await generate(account, format, 'ok', { ...allowed(format) })).status).toBe(200);
    const answer = await generate(account, format, 'ok', { ...refused(format) });
    const named = format === 'responses' ? param.replace('messages', 'input') : param;
    expectRefusal(answer, format, 'invalid_request', { param: named, message: /./ });
  },
);

test.each(EVERY_FORMAT)(
  'case 43: a slug, an alias, and models out of reach, %s',
  async (format) => {
    const aliased = await generate(account, format, 'alias-of-ok');
    expect([aliased.status, aliased.json['model'], aliased.headers.get('x-svc-model')]).toEqual([
      200,
      'ok',
      'ok',
    ]);
    const unknown = await generate(account, format, 'unknown');
    expectRefusal(unknown, format, 'model_not_found', { param: 'model' });
    const excluded = await generate(account, format, 'elsewhere');
    expectRefusal(excluded, format, 'model_not_in_plan');
  },
);

test.each(EVERY_FORMAT)(
  'case 178: a stream that broke is repeated whole at once, with room for one request, %s',
  async (format) => {
    const single = await gateway.createAccount({ plan: 'single' });
    const broken = await generateStream(single, format, 'cut');
    expect(broken.events.some(({ json }) => json !== undefined && 'error' in json)).toBe(true);
    const again = await generate(single, format, 'ok');
    expect(again.status).toBe(200);
    const stories = await Promise.all(
      [broken, again].map(({ headers }) => books.story(headers.get('x-request-id'))),
    );
    expect(stories.map((story) => [story?.request?.['outcome'], story?.hold['phase']])).toEqual([
      ['upstream_failed', 'settled'],
      ['completed', 'settled'],
    ]);
  },
);

/** What the standard prompt costs, by the estimate: the upstream had it, and said nothing of it. */
const PROMPT = 9;

test.each(EVERY_FORMAT)(
  'case 180: a client that leaves before the first byte pays the prompt and frees the slot, %s',
  async (format) => {
    const single = await gateway.createAccount({ plan: 'single', credit: 1_000 });
    const few = { max_tokens: 100 };
    const leave = new AbortController();
    const before = upstream.requests.length;
    const pending = openStream(single, format, 'stall-before', few, leave.signal);
    await waitUntil(() => upstream.requests.length > before);
    leave.abort();
    await expect(pending).rejects.toThrow();
    // The same client comes back at once: its slot has to be free by then.
    const again = await generate(single, format, 'ok', few);
    expect(again.status).toBe(200);
    expect(again.headers.get('x-svc-balance')).toBe(
      String(1_000 - PROMPT - Number(again.headers.get('x-svc-tokens-debited'))),
    );
  },
);
