// What an agent pays for a stream that breaks and for its own repeat, which has no
// `Idempotency-Key`. A broken stream costs what upstreams did for it: nothing that no upstream
// generated is charged, and of a stream that an upstream or the gateway broke nothing that was not
// delivered. With a key, one answer is charged. The reasons are in decision 0144.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { catalogOf, LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import { EVERY_FORMAT, type EveryFormat, get } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { askEnded, askKeyed, isReplayed, openKeyed, spentBy } from '../support/keyed.ts';
import { streamFrames } from '../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const CREDIT = 1_000_000;
const TOKENS = 40;
const SCRIPT = {
  pieces: Array.from({ length: TOKENS }, () => ({ text: ' a' })),
  finish: 'stop',
  usage: { prompt: 10, cached: 4, completion: TOKENS },
} as const;
/** 6 prompt tokens at 1, 4 cached ones at 0.1, 40 of output at 2. */
const WHOLE = 86.4;
/** The prompt of these tests by the estimate, which is charged where there is no report. */
const PROMPT = 9;
const OUTPUT = 2;

/** How many tokens the last answer had when its connection ended. */
let sent = 0;

/** Tokens at an even pace; the first answer breaks after ten of them if it is to break. */
function paced(breaks: boolean): Behaviour {
  return async (exchange) => {
    const { dialect, model, earlier } = exchange.request;
    streamHead(exchange);
    sent = 0;
    for (const frame of streamFrames(dialect, model, SCRIPT)) {
      exchange.write(frame);
      if (frame.includes(' a')) sent += 1;
      await exchange.sleep(10);
      if (exchange.gone()) return;
      if (breaks && earlier === 0 && sent === 10) return exchange.cut();
    }
    exchange.end();
  };
}

const BREAKING = EVERY_FORMAT.flatMap((format) => [`breaks-${format}`, `breaks-keyed-${format}`]);

const delivered = (text: string): number => text.split('" a"').length - 1;

let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream({
    ...Object.fromEntries(BREAKING.map((slug) => [slug, paced(true)])),
    stops: paced(false),
    'bills-on': paced(false),
  });
  const shared = { dialect: 'chat', base_url: upstream.baseUrl, api_key: UPSTREAM_KEY };
  const placed = (slug: string, id: string) => ({
    slug,
    served_by: [{ upstream: id, model: slug }],
  });
  gateway = await startGateway({
    catalog: catalogOf({
      upstreams: [
        { id: 'cancelled', ...shared, cool_down_seconds: 0 },
        { id: 'billing', ...shared, cancel_stops_billing: false },
      ],
      models: [
        ...BREAKING.map((slug) => placed(slug, 'cancelled')),
        placed('stops', 'cancelled'),
        placed('bills-on', 'billing'),
      ],
      plans: { large: LARGE_PLAN },
    }),
  });
});

closeAtEnd(() => [upstream, gateway]);

const newAccount = (): Promise<TestAccount> =>
  gateway.createAccount({ plan: 'large', credit: CREDIT });

/** Once nothing of the account runs, not even without its client. */
async function spent(account: TestAccount): Promise<number> {
  await waitUntil(async () => {
    const { json } = await get(account, '/v1/account');
    return (json['balance'] as { readonly reserved: string }).reserved === '0';
  });
  return spentBy(account, CREDIT);
}

/** Opens a stream, reads until something of it came, and breaks the connection. */
async function readAndLeave(
  account: TestAccount,
  key: string | undefined,
  model: string,
  format: EveryFormat,
): Promise<number> {
  const leave = new AbortController();
  const response = await openKeyed(account, key, model, {
    ...{ format, stream: true, signal: leave.signal },
  });
  let text = '';
  for (const reader = response.body?.getReader(); delivered(text) < 10; ) {
    text += Buffer.from((await reader?.read())?.value ?? []).toString();
  }
  leave.abort();
  return delivered(text);
}

describe.each(EVERY_FORMAT)('%s: a stream and its repeat without a key', (format) => {
  const stream = { format, stream: true } as const;

  test('cost what was delivered, and one answer, if the upstream broke it', async () => {
    const account = await newAccount();
    const broken = await askKeyed(account, undefined, `breaks-${format}`, stream);
    expect(delivered(broken.text)).toBe(10);
    expect(await spent(account)).toBe(PROMPT + OUTPUT * 10);
    const repeat = await askKeyed(account, undefined, `breaks-${format}`, stream);
    expect(delivered(repeat.text)).toBe(TOKENS);
    expect(await spent(account)).toBe(PROMPT + OUTPUT * 10 + WHOLE);
  });

  test('cost what was generated, and one answer, if the connection broke', async () => {
    const account = await newAccount();
    const seen = await readAndLeave(account, undefined, 'stops', format);
    const first = await spent(account);
    const generated = (first - PROMPT) / OUTPUT;
    // The upstream was stopped: the rest of the answer was neither generated nor charged.
    expect(generated).toBeGreaterThanOrEqual(seen);
    expect(generated).toBeLessThanOrEqual(sent);
    expect(generated).toBeLessThan(TOKENS);
    await askKeyed(account, undefined, 'stops', stream);
    expect(await spent(account)).toBeCloseTo(first + WHOLE, 6);
  });

  test('cost two answers where the upstream made and billed two', async () => {
    const account = await newAccount();
    await readAndLeave(account, undefined, 'bills-on', format);
    expect([await spent(account), sent]).toEqual([WHOLE, TOKENS]);
    await askKeyed(account, undefined, 'bills-on', stream);
    expect(await spent(account)).toBe(2 * WHOLE);
  });
});

/** `@body`: what an agent can send with all its requests. */
const KEYED = EVERY_FORMAT.flatMap((format) => [
  [format, 'k'] as const,
  [format, '@body'] as const,
]);

describe.each(KEYED)('%s: a stream and its repeat with the key %s', (format, key) => {
  test.each(['stops', 'bills-on'])(
    'cost one answer if the connection broke (%s)',
    async (model) => {
      const account = await newAccount();
      const before = upstream.requests.length;
      await readAndLeave(account, key, model, format);
      const repeat = await askEnded(account, key, model, { format, stream: true });
      expect([delivered(repeat.text), isReplayed(repeat)]).toEqual([TOKENS, true]);
      expect(await spent(account)).toBe(WHOLE);
      expect(upstream.requests.length - before).toBe(1);
    },
  );
});

test.each(EVERY_FORMAT)(
  '%s: a stream that the upstream broke is tried again if it is named by its body',
  async (format) => {
    const account = await newAccount();
    const ask = async () => {
      const stream = { format, stream: true } as const;
      const answer = await askKeyed(account, '@body', `breaks-keyed-${format}`, stream);
      return [delivered(answer.text), isReplayed(answer)];
    };
    expect(await ask()).toEqual([10, false]);
    expect(await spent(account)).toBe(PROMPT + OUTPUT * 10);
    // An agent sends the same name until it has an answer.
    expect(await ask()).toEqual([TOKENS, false]);
    expect(await ask()).toEqual([TOKENS, true]);
    expect(await spent(account)).toBe(PROMPT + OUTPUT * 10 + WHOLE);
  },
);

test('a stream that the gateway broke by its death costs no more than was delivered', async () => {
  const account = await newAccount();
  const response = await openKeyed(account, undefined, 'stops', { stream: true });
  let text = '';
  const reader = response.body?.getReader();
  while (delivered(text) < 20) text += Buffer.from((await reader?.read())?.value ?? []).toString();
  await gateway.kill();
  gateway = await startGateway({ directory: gateway.directory });
  const own = { ...account, url: gateway.url };
  const first = await spent(own);
  expect(first).toBeGreaterThanOrEqual(PROMPT);
  expect(first).toBeLessThanOrEqual(PROMPT + OUTPUT * sent);
  await askKeyed(own, undefined, 'stops', { stream: true });
  expect(await spent(own)).toBeCloseTo(first + WHOLE, 6);
});
