// Answers of Messages upstreams through the whole program: what clients of every format get, streamed
// and whole, and what is booked. What such an upstream is sent is recorded in test/golden/cases.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type AnswerContent, inWordsOf, readAnswerContent } from '../support/answer.ts';
import {
  type Behaviour,
  CANARY,
  HELLO,
  REASONING,
  sendText,
  sendWhole,
} from '../support/behaviours.ts';
import { type Books, openBooks } from '../support/books.ts';
import { catalogFor, UPSTREAM_KEY } from '../support/catalog.ts';
import { EVERY_FORMAT, type EveryFormat, PATHS, post, requestBody } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { type Script, SIGNATURE, streamFrames, USAGE, wholeBody } from '../support/render.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(30_000);

type Json = Readonly<Record<string, unknown>>;

/** `long`: a whole answer whose bound makes the gateway read it from the upstream as a stream. */
type Kind = 'whole' | 'long' | 'stream';

const ALL_KINDS = EVERY_FORMAT.flatMap((format) =>
  (['whole', 'long', 'stream'] as const).map((kind) => [format, kind] as const),
);

const PARIS = { id: 'call_1', name: 'get_weather', json: '{"city":"Paris"}' };
const TIME = { id: 'call_2', name: 'get_time', json: '{"zone":"CET"}' };

const hello: AnswerContent = { reasoning: '', text: HELLO, calls: [], reason: 'stop' };
const called: AnswerContent = { reasoning: '', text: '', calls: [PARIS], reason: 'tool_calls' };

const ANSWERS: readonly (readonly [name: string, said: AnswerContent])[] = [
  ['ok', hello],
  ['reasoning', { ...hello, reasoning: REASONING }],
  ['tool', called],
  ['two-tools', { ...called, calls: [PARIS, TIME] }],
  ['text-and-tool', { ...called, text: HELLO }],
  ['reasoning-and-tool', { ...called, reasoning: REASONING }],
  ['finish-length', { ...hello, reason: 'length' }],
  ['content-filter', { ...hello, reason: 'content_filter' }],
  ['no-content', { ...hello, text: '' }],
  ['pause-turn', hello],
  ['window-exceeded', { ...hello, reason: 'length' }],
];

/** Answers that differ only in how their bytes arrive; for whole answers they are no streams. */
const BYTES = ['bytewise', 'crlf', 'one-write', 'comments', 'no-done', 'json-for-stream'];

/** The standard usage: 6 prompt tokens, 4 cached ones at a tenth, 5 of output at the double. */
const STANDARD = { basis: 'reported', input_tokens: 10, cached_input_tokens: 4, output_tokens: 5 };

/** Says hello and ends with a word of the vendor's own. */
function endsWith(stopReason: string): Behaviour {
  const script: Script = { pieces: [{ text: HELLO }], finish: 'stop', usage: USAGE };
  return (exchange) => {
    const { model, stream } = exchange.request;
    const worded = (text: string): string => text.replaceAll('end_turn', stopReason);
    if (stream) sendText(exchange, worded(streamFrames('messages', model, script).join('')));
    else sendWhole(exchange, 200, worded(wholeBody('messages', model, script)));
  };
}

const PLAIN_MODELS = ['no-usage', 'absurd-usage', 'overloaded-first'];

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
let books: Books;

beforeAll(async () => {
  upstream = await startUpstream({
    'pause-turn': endsWith('pause_turn'),
    'window-exceeded': endsWith('model_context_window_exceeded'),
  });
  gateway = await startGateway({ catalog: catalog(), environment: { LOG_LEVEL: 'debug' } });
  account = await gateway.createAccount({ plan: 'business', credit: 100_000_000 });
  books = openBooks(gateway);
});

closeAtEnd(() => [upstream, gateway, books]);

function catalog(): string {
  const names = [...ANSWERS.map(([name]) => name), ...BYTES, ...PLAIN_MODELS, 'overloaded-or-ok'];
  return catalogFor(upstream, names, {
    dialect: 'messages',
    upstream: { profile: 'anthropic' },
    models: {
      'overloaded-or-ok': {
        served_by: [{ upstream: 'scripted', model: 'overloaded-first' }],
        fallbacks: ['ok'],
      },
    },
    plans: { business: { concurrent_requests: 1_000, requests_per_minute: 100_000 } },
  });
}

type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

async function ask(
  format: EveryFormat,
  kind: Kind,
  model: string,
  more: Json = {},
): Promise<Answer> {
  const body = requestBody(format, model, {
    stream: kind === 'stream',
    max_tokens: kind === 'long' ? 8_000 : 100,
    ...more,
  });
  const response = await post(account, PATHS[format], body);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function expectSaid(name: string, format: EveryFormat, answer: Answer, said: AnswerContent): void {
  expect([name, answer.status, answer.text]).toEqual([name, 200, answer.text]);
  expect([name, readAnswerContent(format, answer.text)]).toEqual([name, inWordsOf(format, said)]);
  expectNoLeak(name, answer);
}

function expectNoLeak(name: string, answer: Answer): void {
  const all = `${JSON.stringify([...answer.headers])}${answer.text}`;
  for (const secret of [CANARY, UPSTREAM_KEY, SIGNATURE, 'msg_scripted', 'scripted', 'nginx']) {
    expect([name, all.includes(secret) ? secret : '']).toEqual([name, '']);
  }
}

const requestId = (answer: Answer): string | null => answer.headers.get('x-request-id');

describe.concurrent('answers', () => {
  test.each(ALL_KINDS)(
    'cases 165 and 167: %s, %s: all kinds of them, each booked as reported',
    async (format, kind) => {
      const check = async ([name, said]: (typeof ANSWERS)[number]): Promise<void> => {
        const answer = await ask(format, kind, name);
        expectSaid(name, format, answer, said);
        const story = await books.story(requestId(answer));
        expect([name, story?.hold['phase'], story?.booked?.['debited']]).toEqual([
          name,
          'settled',
          '16.4',
        ]);
        expect([name, story?.usage]).toMatchObject([name, STANDARD]);
      };
      await Promise.all(ANSWERS.map(check));
    },
  );

  test.each(EVERY_FORMAT)('%s, streamed: however the bytes arrive', async (format) => {
    const check = async (name: string): Promise<void> => {
      expectSaid(name, format, await ask(format, 'stream', name), hello);
    };
    await Promise.all(BYTES.map(check));
  });

  test.each(ALL_KINDS)(
    '%s, %s: usage that is missing or absurd is estimated',
    async (format, kind) => {
      const check = async (name: string): Promise<void> => {
        const answer = await ask(format, kind, name);
        expectSaid(name, format, answer, hello);
        const story = await books.story(requestId(answer));
        expect([name, story?.usage?.['basis']]).toEqual([name, 'estimated']);
        expect([name, Number(story?.booked?.['debited']) > 0]).toEqual([name, true]);
      };
      await Promise.all(['no-usage', 'absurd-usage'].map(check));
    },
  );

  test.each(ALL_KINDS)(
    'case 166: %s, %s: an overloaded upstream has a fallback',
    async (format, kind) => {
      const answer = await ask(format, kind, 'overloaded-or-ok');
      expectSaid('overloaded-or-ok', format, answer, hello);
      expect(answer.headers.get('x-svc-model')).toBe('ok');
    },
  );
});

test('afterwards no request is in progress, and the log has no word of the upstream', async () => {
  await upstream.waitFor(() => upstream.active() === 0);
  expect(upstream.requests.every((request) => request.path === '/v1/messages')).toBe(true);
  for (const secret of [CANARY, UPSTREAM_KEY, SIGNATURE, 'nginx']) {
    expect(gateway.output()).not.toContain(secret);
  }
});
