// Upstreams that have finished an answer and keep the connection open, from outside: the answer is
// complete two seconds after its finish reason, with the usage reported by then, no matter what the
// upstream sends or which timer expires.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Behaviour, HELLO, SAYS_HELLO, streamHead } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Format, generate, generateStream } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { streamFrames } from '../support/render.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const EMPTY = { index: 0, delta: {}, finish_reason: null };
const NOISE: Readonly<Record<string, string>> = {
  comments: ': still here\n\n',
  pings: 'event: ping\ndata: {"type":"ping"}\n\n',
  'empty-chunks': `data: ${JSON.stringify({ choices: [EMPTY] })}\n\n`,
  errors: 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"late"}}\n\n',
  broken: 'data: {"choices": [\n\n',
};

/** Below the 2 s, so that it expires first. */
const HASTY = 0.5;
/** Far below any timer of the others. */
const SOON_MS = 20_000;

/** All but the end of an answer, and then noise for as long as the connection is open. */
function staysOpen(noise: string): Behaviour {
  return async (exchange) => {
    const { dialect, model } = exchange.request;
    streamHead(exchange);
    for (const frame of streamFrames(dialect, model, SAYS_HELLO).slice(0, -1))
      exchange.write(frame);
    while (!exchange.gone()) {
      exchange.write(noise);
      await exchange.sleep(5);
    }
  };
}

const DIALECTS = ['scripted', 'signing'] as const;
const MODELS = DIALECTS.flatMap((id) =>
  Object.keys(NOISE).flatMap((noise) => [`${noise}-${id}`, `${noise}-${id}-hasty`]),
);
const CASES = MODELS.flatMap((model) =>
  (['chat', 'messages'] as const).flatMap((format) =>
    [true, false].map((stream) => [model, format, stream] as const),
  ),
);

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;

beforeAll(async () => {
  const behaviours = Object.entries(NOISE).map(
    ([name, noise]) => [name, staysOpen(noise)] as const,
  );
  upstream = await startUpstream(Object.fromEntries(behaviours));
  const placed = MODELS.map((slug) => {
    const [, noise, id, hasty] = /^(.+)-(scripted|signing)(-hasty)?$/.exec(slug) ?? [];
    const timer = hasty === undefined ? {} : { idle_seconds: HASTY };
    return [slug, { served_by: [{ upstream: id, model: noise, ...timer }] }] as const;
  });
  const catalog = catalogFor(upstream, MODELS, {
    models: Object.fromEntries(placed),
    plans: { large: LARGE_PLAN },
  });
  const signing = `[[upstream]]\nid = "signing"\ndialect = "messages"\nbase_url = "${upstream.messagesBaseUrl}"\n`;
  gateway = await startGateway({ catalog: `${catalog}\n${signing}` });
  account = await gateway.createAccount({ plan: 'large' });
});

closeAtEnd(() => [upstream, gateway]);

type Answer = { readonly text: string; readonly debited: unknown };

async function ask(format: Format, model: string, stream: boolean): Promise<Answer> {
  // Above the first slice, a whole answer is read as a stream too.
  const more = { max_tokens: 5_000 };
  if (!stream) {
    const { status, headers, json } = await generate(account, format, model, more);
    expect(status).toBe(200);
    return { text: JSON.stringify(json), debited: headers.get('x-svc-tokens-debited') };
  }
  const { events } = await generateStream(account, format, model, more);
  const text = events.map(({ data }) => data).join('\n');
  const [, debited] = /"svc_tokens_debited":"([^"]+)"/.exec(text) ?? [];
  expect(text).toContain(format === 'chat' ? '[DONE]' : 'message_stop');
  const pieces = text.matchAll(/"(?:content|text)":"([^"]+)"/g);
  return { text: [...pieces].map(([, piece]) => piece).join(''), debited };
}

test.concurrent.each(CASES)('%s, %s, stream %p', async (model, format, stream) => {
  const startedAt = performance.now();
  const { text, debited } = await ask(format, model, stream);
  expect(text).toContain(HELLO);
  // 6 prompt tokens at 1, 4 cached ones at 0.1, 5 of output at 2.
  expect(debited).toBe('16.4');
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
});

test('no upstream is asked twice, and none is left open', async () => {
  expect(upstream.requests).toHaveLength(CASES.length);
  await upstream.waitFor(({ active }) => active() === 0);
});
