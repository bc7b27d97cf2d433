// Every outcome from outside: one outcome, one settlement, a free slot and no hold left, at any
// moment a client leaves, and whether or not its upstream then stops billing.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Behaviour, play, SAYS_HELLO, streamHead } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import {
  type Caller,
  EVERY_FORMAT,
  type EveryFormat,
  get,
  PATHS,
  post,
  requestBody,
  WITHOUT_THINKING,
} from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { readBooks } from '../support/readable-books.ts';
import { chatFrame, type Script, streamFrames } from '../support/render.ts';
import { parseEvents } from '../support/sse.ts';
import { type Exchange, startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

type Json = Record<string, unknown>;

const KINDS = EVERY_FORMAT.flatMap((format) => [[format, false] as const, [format, true] as const]);

let upstream: Upstream;
/** Its upstream stops its bill when it is aborted. */
let stopping: Gateway;
/** Its upstream bills to the end. */
let billing: Gateway;

/** What the answers of `later` and `bursts` wait for; each test that resolves it makes a new one. */
let goOn = Promise.withResolvers<void>();

/** Begins an answer with one piece of so many tokens, and can repeat it. */
function beginWith(exchange: Exchange, tokens: number): () => void {
  const { dialect, model } = exchange.request;
  const script = { pieces: [{ text: ' a'.repeat(tokens) }], finish: 'stop' } as const;
  const frame = streamFrames(dialect, model, script).find((each) => each.includes(' a')) ?? '';
  const write = (): void => exchange.write(frame);
  streamHead(exchange);
  write();
  return write;
}

/** Fifteen hundred tokens, and then as many every hundred milliseconds, for ever. */
const bursts: Behaviour = async (exchange) => {
  const write = beginWith(exchange, 1_500);
  await goOn.promise;
  while (!exchange.gone()) {
    write();
    await exchange.sleep(100);
  }
};

/** So much that the hold grows, and then nothing. */
const begun: Behaviour = async (exchange) => {
  beginWith(exchange, 4_000);
  await exchange.untilGone();
};

const LATER = {
  pieces: Array.from({ length: 40 }, () => ({ text: ' a' })),
  finish: 'stop',
  usage: { prompt: 10, cached: 4, completion: 40 },
} as const;

const THINKS_AND_BREAKS = [{ upstream: 'scripted', model: 'thinks-and-breaks' }];

const MODELS = [
  ...['begun', 'bursts', 'stall-before', 'stall-after-head', 'slow-tokens-40-10', 'ok'],
  ...['later', 'later-at-all', 'never-asked', 'thinks-and-breaks', 'no-content', 'cut'],
  ...['thinks-unsold', 'thinks-first', 'says-and-breaks', 'says-unsold', 'short', 'runs-out'],
];

/** An upstream that writes these pieces up to some words, and breaks; it closes the connection. */
function breaksBehind(
  words: string,
  pieces: Script['pieces'],
  breaks: Behaviour = (exchange) => exchange.cut(),
): Behaviour {
  return async (exchange) => {
    const { dialect, model } = exchange.request;
    streamHead(exchange);
    const frames = streamFrames(dialect, model, { pieces, finish: 'stop' });
    const end = frames.findLastIndex((frame) => frame.includes(words)) + 1;
    for (const frame of frames.slice(0, end)) exchange.write(frame);
    await exchange.sleep(50);
    await breaks(exchange);
  };
}

beforeAll(async () => {
  upstream = await startUpstream({
    begun,
    bursts,
    later: (exchange) => play(LATER, goOn.promise)(exchange),
    'later-at-all': async (exchange) => {
      await goOn.promise;
      await play(SAYS_HELLO)(exchange);
    },
    'thinks-and-breaks': breaksBehind('see.', [{ reasoning: 'Hm. Let me see.' }]),
    'says-and-breaks': breaksBehind('Hello', [{ reasoning: 'Hm. Let me see.' }, { text: 'Hello' }]),
    'runs-out': breaksBehind('Hello', [{ text: 'Hello' }], (exchange) => {
      exchange.write(chatFrame(exchange.request.model, {}, 'insufficient_system_resource'));
      exchange.end();
    }),
  });
  const models = {
    'stall-before': { fallbacks: ['never-asked'] },
    bursts: { max_output: 100_000 },
    // Sold without thinking, so its thinking is hidden from every client.
    'thinks-unsold': { served_by: THINKS_AND_BREAKS, features: ['tools'] },
    'says-unsold': {
      served_by: [{ upstream: 'scripted', model: 'says-and-breaks' }],
      features: ['tools'],
    },
    'thinks-first': { served_by: THINKS_AND_BREAKS, fallbacks: ['ok'] },
    short: {
      served_by: [{ upstream: 'scripted', model: 'later-at-all' }],
      incident_limits: { concurrent_requests: 1 },
    },
  };
  const environment = { LOG_LEVEL: 'warn', SILENT_COMMIT_SECONDS: '0.2', DRAIN_SECONDS: '0.5' };
  [stopping, billing] = await Promise.all([
    startGateway({
      // All thinking is shown there: nothing is to be read after an answer was left.
      catalog: catalogFor(upstream, MODELS, { models, upstream: { profile: 'deepseek' } }),
      environment,
    }),
    startGateway({
      catalog: catalogFor(upstream, MODELS, {
        models,
        upstream: { cancel_stops_billing: false },
      }),
      environment,
    }),
  ]);
});

closeAtEnd(() => [upstream, billing, stopping]);

function account(gateway: Gateway, credit = 100_000): Promise<TestAccount> {
  return gateway.createAccount({ plan: 'business', credit });
}

/** What the prompt of these tests costs, by the estimate. */
const PROMPT = 9;
/** What the first slice of a long answer to it holds. */
const SLICE = PROMPT + 4_096 * 2;

type Left = { readonly leave: () => void; readonly response: Promise<Response | undefined> };

/** The garbage collector closes the connection of a response without a reference. */
const held: Left['response'][] = [];

/** A request whose client can leave. */
function begin(
  of: Caller,
  format: EveryFormat,
  stream: boolean,
  model: string,
  more: Json = {},
): Left {
  const abort = new AbortController();
  const body = requestBody(format, model, { stream, max_tokens: 1_000, ...more });
  const { signal } = abort;
  const response = post(of, PATHS[format], body, { signal }).catch(() => undefined);
  held.push(response);
  return { response, leave: () => abort.abort() };
}

async function asked(model: string, before: number): Promise<void> {
  await upstream.waitFor(
    ({ requests }) => requests.filter((each) => each.model === model).length > before,
  );
}

const count = (model: string) => upstream.requests.filter((each) => each.model === model).length;

/** What an account has in progress: the slots that it uses and the tokens that are held. */
async function inProgress(of: Caller): Promise<{ slots: unknown; held: number }> {
  const { usage, balance } = (await get(of, '/v1/account')).json as Record<string, Json>;
  return { slots: usage?.['in_flight'], held: Number(balance?.['reserved']) };
}

type Ended = {
  readonly outcome: string;
  readonly basis: string;
  readonly phase: string;
  readonly debited: number;
  readonly output: number;
  readonly settles: number;
};

/** How the requests of an account ended, once all of them have. */
async function endings(gateway: Gateway, of: TestAccount, requests = 1): Promise<Ended[]> {
  const books = readBooks(gateway.databasePath);
  try {
    let ended: Ended[] = [];
    await waitUntil(async () => {
      const { slots, held } = await inProgress(of);
      ended = books
        .query<Ended, [string]>(
          `select u.outcome, u.usage_basis as basis, h.phase, u.debited / 1e6 as debited,
             u.output_tokens as output,
             (select count(*) from ledger_entries e where e.transfer_id = 'settle:' || u.request_id
               and e.ledger_account = 'operator:revenue') as settles
           from usage_records u join holds h on h.request_id = u.request_id
           where u.account_id = ? order by u.started_at`,
        )
        .all(of.id);
      return ended.length >= requests && held === 0 && slots === 0;
    });
    for (const { debited, settles } of ended) expect(settles).toBe(debited > 0 ? 1 : 0);
    return ended;
  } finally {
    books.close();
  }
}

describe.each(KINDS)('%s, streamed: %p', (format, stream) => {
  test.each([
    ['before its first byte', 'stall-before'],
    ['after its headers', 'stall-after-head'],
    ['in the middle', 'begun'],
  ] as const)('an upstream is stopped and no other one asked, %s', async (_, model) => {
    const payer = await account(stopping);
    const before = count(model);
    const { leave } = begin(payer, format, stream, model, { max_tokens: 8_000 });
    await asked(model, before);
    if (model === 'begun') await waitUntil(async () => (await inProgress(payer)).held > SLICE);
    leave();
    await upstream.waitFor(({ active }) => active() === 0);
    expect(count('never-asked')).toBe(0);
    const [ended, ...more] = await endings(stopping, payer);
    expect([ended?.outcome, more]).toEqual(['client_cancelled', []]);
    if (model === 'begun') {
      expect(ended).toMatchObject({ basis: 'estimated', phase: 'settled' });
      expect(ended?.output).toBeGreaterThan(0);
    } else expect(ended).toMatchObject({ debited: PROMPT, phase: 'settled', output: 0 });
  });

  test('an upstream that bills to the end is read to it, and its report is charged', async () => {
    const payer = await account(billing);
    const before = count('later');
    const aborted = upstream.aborted();
    goOn = Promise.withResolvers<void>();
    // Above the first slice, a whole answer is read as a stream, too.
    const { leave } = begin(payer, format, stream, 'later', { max_tokens: 5_000 });
    await asked('later', before);
    // Time for the first token; it makes no difference here.
    await Bun.sleep(50);
    leave();
    // The slot is free before the answer is over.
    await waitUntil(async () => (await inProgress(payer)).slots === 0);
    expect(upstream.active()).toBe(1);
    goOn.resolve();
    expect(await endings(billing, payer)).toEqual([
      // 6 prompt tokens, 4 cached ones and 40 of output.
      {
        outcome: 'client_cancelled',
        basis: 'reported',
        phase: 'settled',
        debited: 86.4,
        output: 40,
        settles: 1,
      },
    ]);
    expect(upstream.aborted()).toBe(aborted);
  });

  test('also where it had not answered yet', async () => {
    const payer = await account(billing);
    const before = count('later-at-all');
    goOn = Promise.withResolvers<void>();
    const { leave } = begin(payer, format, stream, 'later-at-all');
    await asked('later-at-all', before);
    leave();
    await waitUntil(async () => (await inProgress(payer)).slots === 0);
    goOn.resolve();
    expect(await endings(billing, payer)).toMatchObject([
      { outcome: 'client_cancelled', basis: 'reported', debited: 16.4 },
    ]);
  });

  test('an answer that is read on keeps its place in the limit of an incident', async () => {
    const payer = await account(billing);
    goOn = Promise.withResolvers<void>();
    const before = count('later-at-all');
    const leaveOne = async (model: string, position: number): Promise<void> => {
      const { leave } = begin(payer, format, stream, model);
      await asked('later-at-all', before + position);
      leave();
    };
    // One may run without a slot, as many as the limit has.
    await leaveOne('short', 0);
    await waitUntil(async () => (await inProgress(payer)).slots === 0);
    await leaveOne('short', 1);
    // Behind the one before, whose slot was not freed then.
    await leaveOne('later-at-all', 2);
    await waitUntil(async () => (await inProgress(payer)).slots === 1);
    const { status } = await post(payer, PATHS[format], requestBody(format, 'short', { stream }));
    expect(status).toBe(429);
    goOn.resolve();
    expect(await endings(billing, payer, 3)).toHaveLength(3);
  });

  test('a client that leaves at any moment causes one end and frees the slot', async () => {
    const payer = await account(stopping, 1_000_000);
    const requests = Array.from({ length: 25 }, (_, index) => {
      const { leave, response } = begin(payer, format, stream, 'slow-tokens-40-10');
      setTimeout(leave, index * 3);
      return response;
    });
    await Promise.all(requests);
    // On a busy machine all of them may have left before anything was held: then there is no end.
    const before = count('stall-before');
    const { leave, response } = begin(payer, format, stream, 'stall-before');
    await asked('stall-before', before);
    leave();
    await response;
    const ended = await endings(stopping, payer);
    for (const { outcome, debited, phase } of ended) {
      expect(['client_cancelled', 'completed']).toContain(outcome);
      expect(phase).toBe(debited > 0 ? 'settled' : 'released');
      // An upstream that was asked has read the prompt.
      if (debited > 0) expect(debited).toBeGreaterThanOrEqual(PROMPT);
    }
    expect(ended.some((each) => each.outcome === 'client_cancelled')).toBe(true);
    // Of a client that left early the request may still be let in.
    await waitUntil(async () => {
      const all = await endings(stopping, payer);
      const paid = all.reduce((sum, { debited }) => sum + debited, 0);
      const { total } = (await get(payer, '/v1/account')).json['balance'] as Json;
      return Math.abs(Number(total) - (1_000_000 - paid)) < 1e-6;
    });
  });

  const off = WITHOUT_THINKING[format];

  test.each([
    ['thinks-and-breaks', off],
    ['thinks-unsold', {}],
  ])('who has seen nothing of an answer that broke pays nothing: %s', async (model, asks) => {
    const payer = await account(stopping);
    const { response } = begin(payer, format, stream, model, asks);
    const text = await (await response)?.text();
    expect(text).not.toContain('had been delivered');
    expect(await endings(stopping, payer)).toMatchObject([
      { outcome: 'upstream_failed', phase: 'released', debited: 0 },
    ]);
  });

  test.each([
    ['says-and-breaks', {}, 2],
    ['says-and-breaks', off, 1],
    ['says-unsold', {}, 1],
  ])(
    'of an answer that broke, what the client has received is charged: %s, %p',
    async (model, asks, least) => {
      const payer = await account(stopping);
      const { response } = begin(payer, format, stream, model, asks);
      const text = await (await response)?.text();
      const [ended] = await endings(stopping, payer);
      if (!stream) {
        expect(ended).toMatchObject({ outcome: 'upstream_failed', phase: 'released', debited: 0 });
        return;
      }
      expect(text).toContain('Hello');
      expect(ended).toMatchObject({ outcome: 'upstream_failed', phase: 'settled' });
      // The word is one token, and the thinking several.
      expect(Math.min(ended?.output ?? 0, 2)).toBe(least);
    },
  );

  test('after thinking that it does not see, a client still gets the answer of a fallback', async () => {
    const payer = await account(stopping);
    const { response } = begin(payer, format, stream, 'thinks-first', off);
    expect(await (await response)?.text()).toContain('Hello');
    expect(await endings(stopping, payer)).toMatchObject([
      { outcome: 'completed', phase: 'settled' },
    ]);
  });

  test('an empty answer with a reason is an answer', async () => {
    const payer = await account(stopping);
    const { response } = begin(payer, format, stream, 'no-content');
    await (await response)?.text();
    expect(await endings(stopping, payer)).toMatchObject([
      { outcome: 'completed', basis: 'reported', phase: 'settled' },
    ]);
  });
});

test.each(EVERY_FORMAT)(
  'a stream that was committed to in silence ends once, %s',
  async (format) => {
    const payer = await account(stopping);
    const { leave, response } = begin(payer, format, true, 'stall-after-head');
    expect((await response)?.status).toBe(200);
    leave();
    expect(await endings(stopping, payer)).toMatchObject([
      { outcome: 'client_cancelled', phase: 'settled', debited: PROMPT },
    ]);
  },
);

test('an upstream that runs out of resources after content: the formats differ', async () => {
  const run = async (format: EveryFormat) => {
    const payer = await account(stopping);
    const { response } = begin(payer, format, true, 'runs-out');
    const text = (await (await response)?.text()) ?? '';
    return { text, ended: await endings(stopping, payer) };
  };
  const [chat, messages, responses] = await Promise.all(EVERY_FORMAT.map(run));
  expect(chat?.text).toContain('"finish_reason":"insufficient_system_resource"');
  expect(chat?.ended).toMatchObject([{ outcome: 'completed', phase: 'settled' }]);
  const [charged] = (chat?.ended ?? []).map(({ output, debited }) => ({ output, debited }));
  for (const failed of [messages, responses]) {
    expect(parseEvents(failed?.text ?? '').at(-1)?.event).toBe('error');
    expect(failed?.ended).toMatchObject([
      { outcome: 'upstream_failed', phase: 'settled', ...charged },
    ]);
  }
  expect(charged?.debited).toBeGreaterThan(2 * (charged?.output ?? 0));
});

test('a drain whose hold cannot grow is over, and costs no more than the hold', async () => {
  const payer = await account(billing, 9_000);
  const before = count('bursts');
  goOn = Promise.withResolvers<void>();
  const { leave } = begin(payer, 'chat', true, 'bursts', { max_tokens: 32_000 });
  await asked('bursts', before);
  leave();
  await waitUntil(async () => (await inProgress(payer)).slots === 0);
  expect(upstream.active()).toBe(1);
  goOn.resolve();
  const [ended, ...more] = await endings(billing, payer);
  expect(ended).toMatchObject({ outcome: 'client_cancelled', basis: 'estimated' });
  expect(ended?.debited).toBeGreaterThan(8_900);
  expect(ended?.debited).toBeLessThanOrEqual(9_000);
  expect(more).toEqual([]);
  await upstream.waitFor(({ active }) => active() === 0);
});

test('a server that stops ends its drains, and settles them', async () => {
  await using gateway = await startGateway({
    catalog: catalogFor(upstream, ['begun'], { upstream: { cancel_stops_billing: false } }),
    environment: { LOG_LEVEL: 'warn', DRAIN_SECONDS: '0.3' },
  });
  const payer = await account(gateway);
  const { leave } = begin(payer, 'chat', true, 'begun', { max_tokens: 8_000 });
  await waitUntil(async () => (await inProgress(payer)).held > SLICE);
  leave();
  await waitUntil(async () => (await inProgress(payer)).slots === 0);
  expect(await gateway.stop()).toBe(0);
  const books = readBooks(gateway.databasePath);
  const ended = books
    .query<Json, []>(
      `select u.outcome, u.usage_basis as basis, h.phase, u.loss
       from usage_records u join holds h on h.request_id = u.request_id`,
    )
    .all();
  books.close();
  expect(ended).toEqual([
    { outcome: 'client_cancelled', basis: 'estimated', phase: 'settled', loss: 0 },
  ]);
});
