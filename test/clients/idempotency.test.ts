// The vendors' libraries with an `Idempotency-Key` as they take it, in the headers of one request:
// their own retries are then the same request, whole and streamed.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import Anthropic0_60 from 'anthropic-0.60';
import Anthropic0_137 from 'anthropic-0.137';
import OpenAI from 'openai';
import OpenAI4 from 'openai-4';
import OpenAI5 from 'openai-5';
import OpenAI6 from 'openai-6';
import { HELLO, play, SAYS_HELLO } from '../support/behaviours.ts';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { spentBy } from '../support/keyed.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const CREDIT = 1_000_000;
const PRICE = 16.4;
const MESSAGES = [{ role: 'user', content: 'Hello?' }] as const;

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

type Options = {
  readonly account: TestAccount;
  readonly fetch: Fetch;
  readonly key?: string;
  readonly model?: string;
};

type Ask = (options: Options, stream: boolean) => Promise<string>;

const settings = ({ account, fetch }: Options, path = '') => ({
  ...{ baseURL: `${account.url}${path}`, apiKey: account.key, maxRetries: 2 },
  fetch: fetch as typeof globalThis.fetch,
});

const perRequest = ({ key }: Options) =>
  key === undefined ? {} : { headers: { 'Idempotency-Key': key } };

/** The majors are typed as the newest one: what is used here is the same in all of them. */
function openai(library: unknown): Ask {
  const Client = library as typeof OpenAI;
  return async (options, stream) => {
    const client = new Client(settings(options, '/v1'));
    const { model = 'ok' } = options;
    const body = { model, messages: [...MESSAGES] };
    if (!stream) {
      const answer = await client.chat.completions.create(body, perRequest(options));
      return answer.choices[0]?.message.content ?? '';
    }
    const events = await client.chat.completions.create(
      { ...body, stream: true },
      perRequest(options),
    );
    let text = '';
    for await (const { choices } of events) text += choices[0]?.delta.content ?? '';
    return text;
  };
}

function anthropic(library: unknown): Ask {
  const Client = library as typeof Anthropic;
  return async (options, stream) => {
    const client = new Client(settings(options));
    const { model = 'ok' } = options;
    const body = { model, max_tokens: 100, messages: [...MESSAGES] };
    const answer = stream
      ? await client.messages.stream(body, perRequest(options)).finalMessage()
      : await client.messages.create(body, perRequest(options));
    return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  };
}

const LIBRARIES: readonly (readonly [name: string, ask: Ask])[] = [
  ['openai 4', openai(OpenAI4)],
  ['openai 5', openai(OpenAI5)],
  ['openai 6', openai(OpenAI6)],
  ['openai 7', openai(OpenAI)],
  ['@anthropic-ai/sdk 0.60', anthropic(Anthropic0_60)],
  ['@anthropic-ai/sdk 0.137', anthropic(Anthropic0_137)],
  ['@anthropic-ai/sdk 1', anthropic(Anthropic)],
];

const WAYS = LIBRARIES.flatMap(([name, ask]) => [
  [name, false, ask] as const,
  [name, true, ask] as const,
]);

/** Reads the first answer to its end, and then behaves as if the connection had broken before. */
function losingFirst(): { readonly fetch: Fetch; readonly answers: Response[] } {
  const answers: Response[] = [];
  return {
    answers,
    async fetch(url, init) {
      const answer = await fetch(url, init);
      answers.push(answer);
      if (answers.length > 1) return answer;
      await answer.text();
      throw new TypeError('fetch failed: the connection was reset');
    },
  };
}

/** Breaks the connection of the first try while its answer is produced. Goes on at the second. */
function leavingFirst(model: string): { readonly fetch: Fetch; readonly answers: Response[] } {
  const answers: Response[] = [];
  let tries = 0;
  return {
    answers,
    async fetch(url, init) {
      tries += 1;
      if (tries > 1) {
        const answer = await fetch(url, init);
        answers.push(answer);
        goOn.get(model)?.resolve();
        return answer;
      }
      const connection = new AbortController();
      fetch(url, { ...init, signal: connection.signal }).catch(() => undefined);
      await upstream.waitFor(({ requests }) => requests.some((each) => each.model === model));
      connection.abort();
      throw new TypeError('fetch failed: the connection was reset');
    },
  };
}

/** The models whose answers halt, and what lets each go on. */
const goOn = new Map(WAYS.map((_way, index) => [`halts-${index}`, Promise.withResolvers<void>()]));
let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  const halting = [...goOn].map(([model, { promise }]) => [model, play(SAYS_HELLO, promise)]);
  upstream = await startUpstream(Object.fromEntries(halting));
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', ...goOn.keys()], { plans: { roomy: ROOMY_PLAN } }),
  });
});

closeAtEnd(() => [upstream, gateway]);

describe.each(WAYS)('%s, stream %p', (_name, stream, ask) => {
  test('its own retry with a key gets the first answer, charged once', async () => {
    const account = await gateway.createAccount({ plan: 'roomy', credit: CREDIT });
    const { fetch, answers } = losingFirst();
    expect(await ask({ account, fetch, key: crypto.randomUUID() }, stream)).toBe(HELLO);
    expect(answers.map(({ headers }) => headers.get('x-svc-replayed'))).toEqual([null, 'true']);
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(1);
    expect(await spentBy(account, CREDIT)).toBe(PRICE);
  });

  test('it sends no key by itself, so its retry is a new request', async () => {
    const account = await gateway.createAccount({ plan: 'roomy', credit: CREDIT });
    const { fetch, answers } = losingFirst();
    expect(await ask({ account, fetch }, stream)).toBe(HELLO);
    expect(answers.map(({ headers }) => headers.get('x-svc-replayed'))).toEqual([null, null]);
    expect(await spentBy(account, CREDIT)).toBe(2 * PRICE);
  });
});

test('their retries are refused while the first request runs, wait as long as they are asked to, and get its answer', async () => {
  await Promise.all(
    WAYS.map(async ([name, stream, ask], index) => {
      const model = `halts-${index}`;
      const account = await gateway.createAccount({ plan: 'roomy', credit: CREDIT });
      const { fetch, answers } = leavingFirst(model);
      const from = performance.now();
      const text = await ask({ account, fetch, model, key: crypto.randomUUID() }, stream);
      const statuses = answers.map(({ status, headers }) => [
        status,
        headers.get('x-svc-replayed'),
      ]);
      expect([name, text, statuses]).toEqual([
        name,
        HELLO,
        [
          [409, null],
          [200, 'true'],
        ],
      ]);
      expect(performance.now() - from).toBeGreaterThan(5_000);
      expect(await spentBy(account, CREDIT)).toBe(PRICE);
    }),
  );
});
