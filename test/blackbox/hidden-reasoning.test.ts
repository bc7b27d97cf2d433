// Hidden reasoning is charged, from outside: with the built-in profiles, an upstream reports 9,980
// tokens of thinking that it does not show. An input token costs 1 service token, output 4.

import type { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readAnswerContent } from '../support/answer.ts';
import { type Behaviour, play, streamHead } from '../support/behaviours.ts';
import { catalogOf, UPSTREAM_KEY } from '../support/catalog.ts';
import { EVERY_FORMAT, FORMATS, get, PATHS, post, requestBody } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { readBooks } from '../support/readable-books.ts';
import { type Script, streamFrames } from '../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const KINDS = EVERY_FORMAT.flatMap((format) => [[format, false] as const, [format, true] as const]);
/** Responses has no stop sequences. */
const STOPPED = FORMATS.flatMap((format) => [[format, false] as const, [format, true] as const]);
/** What all of the answer costs: 50 of prompt and 10,000 of output. */
const WHOLE = 40_050;
const HIDDEN = 9_980;

const SCRIPT: Script = {
  pieces: Array.from({ length: 20 }, (_, index) => ({ text: index === 10 ? '<<END>>' : ' word' })),
  finish: 'stop',
  usage: { prompt: 50, cached: 0, completion: 10_000, reasoning: HIDDEN },
};

/** Thinks in silence until it is let go on, and then answers. */
let gate = Promise.withResolvers<void>();
const gated: Behaviour = async (exchange) => {
  await Promise.race([gate.promise, exchange.untilGone()]);
  await play(SCRIPT)(exchange);
};

/** Says half of its answer, thinks until it is let go on, and says the rest. */
const halved: Behaviour = async (exchange) => {
  const { dialect, model, stream } = exchange.request;
  if (!stream) return gated(exchange);
  const frames = streamFrames(dialect, model, SCRIPT);
  streamHead(exchange);
  for (const frame of frames.splice(0, 12)) exchange.write(frame);
  await Promise.race([gate.promise, exchange.untilGone()]);
  for (const frame of frames) exchange.write(frame);
  exchange.end();
};

/** Its words never end, and no report ever comes. */
const endless: Behaviour = async (exchange) => {
  const { dialect, model } = exchange.request;
  const frame = streamFrames(dialect, model, SCRIPT).find((each) => each.includes(' word')) ?? '';
  streamHead(exchange);
  exchange.write(streamFrames(dialect, model, SCRIPT).slice(0, 13).join(''));
  while (!exchange.gone()) {
    exchange.write(frame.repeat(500));
    await exchange.sleep(1);
  }
};

const MODELS = ['answers', 'gated', 'halved', 'endless'];
/** Upstreams that are not known to stop when their client leaves. */
const PROFILES = ['openrouter', 'chat'];

let upstream: Upstream;
let gateway: Gateway;
let books: Database;

beforeAll(async () => {
  upstream = await startUpstream({ answers: play(SCRIPT), gated, halved, endless });
  gateway = await startGateway({
    catalog: catalogOf({
      upstreams: PROFILES.map((profile) => ({
        id: profile,
        dialect: 'chat',
        base_url: upstream.baseUrl,
        api_key: UPSTREAM_KEY,
        profile,
      })),
      models: PROFILES.flatMap((profile) =>
        MODELS.map((model) => ({
          slug: `${profile}-${model}`,
          served_by: [{ upstream: profile, model }],
          max_output: 30_000,
          price: { input: '1', output: '4' },
        })),
      ),
      plans: {
        narrow: {
          requests_per_minute: 1_000,
          tokens_per_minute: 100_000_000,
          concurrent_requests: 2,
          max_context: 100_000,
          max_api_keys: 2,
        },
      },
    }),
    environment: { LOG_LEVEL: 'warn' },
  });
  books = readBooks(gateway.databasePath);
});

closeAtEnd(() => [upstream, gateway, books]);

const account = (plan = 'business'): Promise<TestAccount> =>
  gateway.createAccount({ plan, credit: 10_000_000 });

type Ended = { readonly outcome: string; readonly debited: number };

/** How the requests of an account ended, once so many have. */
async function ended({ id }: TestAccount, requests = 1): Promise<Ended[]> {
  const query = books.query<Ended, [string]>(
    'select outcome, debited / 1e6 as debited from usage_records where account_id = ?',
  );
  await waitUntil(() => query.all(id).length >= requests);
  return query.all(id);
}

const inFlight = async (of: TestAccount): Promise<unknown> =>
  ((await get(of, '/v1/account')).json['usage'] as Record<string, unknown>)['in_flight'];

const asked = (model: string): number =>
  upstream.requests.filter((each) => each.model === model).length;

/** More than OpenRouter takes; the last one occurs. */
const STOPS = ['1', '2', '3', '4', '<<END>>'];

describe.each(KINDS)('%s, streamed: %p', (format, stream) => {
  test.each(['openrouter'])('a stop sequence leaves it in the bill, %s', async (profile) => {
    const payer = await account();
    const field = format === 'chat' ? 'stop' : 'stop_sequences';
    for (const [stops, text, least] of [
      [[], SCRIPT.pieces.map((piece) => ('text' in piece ? piece.text : '')).join(''), WHOLE],
      [STOPS, ' word'.repeat(10), 50 + (HIDDEN + 10) * 4],
    ] as const) {
      if (format === 'responses' && stops.length > 0) continue;
      const body = requestBody(format, `${profile}-answers`, {
        stream,
        max_tokens: 20_000,
        [field]: stops,
      });
      const answer = await (await post(payer, PATHS[format], body)).text();
      expect(readAnswerContent(format, answer).text).toBe(text);
      const debited = /"svc_tokens_debited":"(\d+)"/.exec(answer)?.[1];
      expect(Number(debited)).toBe(least);
    }
  });

  test.each([
    ['before the first byte', 'gated', 'openrouter'],
    ['before the first byte', 'gated', 'chat'],
    ['in the middle', 'halved', 'openrouter'],
    ['in the middle', 'halved', 'chat'],
  ])('leaving %s costs what staying does, %s of %s', async (_when, model, profile) => {
    const payer = await account();
    gate = Promise.withResolvers();
    const before = asked(model);
    const abort = new AbortController();
    const body = requestBody(format, `${profile}-${model}`, { stream, max_tokens: 20_000 });
    const left = post(payer, PATHS[format], body, { signal: abort.signal });
    await waitUntil(() => asked(model) > before);
    if (stream && model === 'halved') await left;
    abort.abort();
    await left.catch(() => {});
    // The slot is free long before the answer is over.
    await waitUntil(async () => (await inFlight(payer)) === 0);
    gate.resolve();
    expect(await ended(payer)).toEqual([{ outcome: 'client_cancelled', debited: WHOLE }]);
  });
});

test.each(KINDS)(
  '%s, streamed: %p: a client that leaves a hundred times pays a hundred times',
  async (format, stream) => {
    const payer = await account();
    gate = Promise.withResolvers();
    const before = asked('gated');
    const aborts = Array.from({ length: 100 }, () => {
      const abort = new AbortController();
      const body = requestBody(format, 'openrouter-gated', { stream, max_tokens: 4_000 });
      post(payer, PATHS[format], body, { signal: abort.signal }).catch(() => {});
      return abort;
    });
    await waitUntil(() => asked('gated') === before + 100);
    for (const abort of aborts) abort.abort();
    await waitUntil(async () => (await inFlight(payer)) === 0);
    gate.resolve();
    const all = await ended(payer, 100);
    // The upstream wrote far beyond its bound of 4,000, which bounds the bill.
    expect(new Set(all.map(({ debited }) => debited))).toEqual(new Set([50 + 4_000 * 4]));
  },
);

test('answers that were left beyond the limit of their account keep their slots', async () => {
  const payer = await account('narrow');
  gate = Promise.withResolvers();
  const body = requestBody('chat', 'openrouter-gated', { stream: true, max_tokens: 20_000 });
  const leave = async (): Promise<void> => {
    const before = asked('gated');
    const abort = new AbortController();
    const left = post(payer, PATHS.chat, body, { signal: abort.signal }).catch(() => {});
    await waitUntil(() => asked('gated') > before);
    abort.abort();
    await left;
  };
  for (let count = 0; count < 2; count += 1) await leave();
  await waitUntil(async () => (await inFlight(payer)) === 0);
  for (let count = 0; count < 2; count += 1) await leave();
  const refused = await post(payer, PATHS.chat, body);
  expect([refused.status, await inFlight(payer)]).toEqual([429, 2]);
  gate.resolve();
  const all = await ended(payer, 4);
  expect(all.map(({ debited }) => debited)).toEqual([WHOLE, WHOLE, WHOLE, WHOLE]);
  expect(await inFlight(payer)).toBe(0);
});

test.each(STOPPED)(
  '%s, streamed: %p: an upstream that goes on behind the sequence is read in bounds',
  async (format, stream) => {
    const payer = await account();
    const field = format === 'chat' ? 'stop' : 'stop_sequences';
    const body = requestBody(format, 'openrouter-endless', {
      ...{ stream, max_tokens: 3_000, [field]: STOPS },
    });
    const answer = await (await post(payer, PATHS[format], body)).text();
    expect(readAnswerContent(format, answer).text).toBe(' word'.repeat(10));
    const [end] = await ended(payer);
    expect(end?.outcome).toBe('completed');
    // All of its bound.
    expect(end?.debited).toBeGreaterThanOrEqual(3_000 * 4);
    expect(end?.debited).toBeLessThan(3_000 * 4 + 50);
    await upstream.waitFor(({ active }) => active() === 0);
  },
);
