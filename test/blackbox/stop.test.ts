// Stop sequences, end to end: the upstream gets as many as it takes, and the gateway stops it where
// the first of all begins; the customer pays for what was delivered.
// Responses has no stop sequences.

import { beforeAll, expect, test } from 'bun:test';
import { ask as askFor } from '../support/answered.ts';
import { type Behaviour, play, sendWhole, streamHead } from '../support/behaviours.ts';
import { type Books, openBooks } from '../support/books.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { FORMATS, type Format } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { type Piece, type Script, streamFrames, wholeBody } from '../support/render.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

type Json = Readonly<Record<string, unknown>>;

/** The upstream of these tests takes four; the fifth is in its answer, across three deltas. */
const STOPS = ['never', 'at all', 'nowhere', 'at no time', '<fifth>'];
const PARTS = ['Hello ', 'from <fif', 'teen> <fi', 'ft', 'h> and more', ' of it'];
const DELIVERED = 'Hello from <fifteen> ';

const SCRIPT: Script = {
  pieces: PARTS.map((text): Piece => ({ text })),
  finish: 'length',
  usage: { prompt: 10, cached: 4, completion: 50 },
};

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  /** Ends no answer by itself. */
  endless: async (exchange) => {
    const { dialect, model } = exchange.request;
    streamHead(exchange);
    for (const frame of streamFrames(dialect, model, SCRIPT).slice(0, -3)) exchange.write(frame);
    await exchange.untilGone();
  },
  json: (exchange) => sendWhole(exchange, 200, wholeBody('chat', exchange.request.model, SCRIPT)),
  ends: play(SCRIPT),
};

const CASES = FORMATS.flatMap((format) =>
  Object.keys(BEHAVIOURS).flatMap((model) =>
    [true, false].map((stream) => [format, model, stream] as const),
  ),
);

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
let books: Books;

beforeAll(async () => {
  upstream = await startUpstream(BEHAVIOURS);
  const catalog = catalogFor(upstream, Object.keys(BEHAVIOURS), {
    upstream: { profile: 'takes-four' },
    plans: { large: LARGE_PLAN },
  });
  const profile = '[profile.takes-four]\nbase = "chat"\nstop_max = 4\nthinking_shown = "all"\n';
  gateway = await startGateway({ catalog: `${catalog}\n${profile}` });
  account = await gateway.createAccount({ plan: 'large' });
  books = openBooks(gateway);
});

closeAtEnd(() => [upstream, gateway, books]);

/** What an answer with these stop sequences says, and what the client pays for it. */
async function ask(format: Format, model: string, stream: boolean, stops: unknown) {
  const more = format === 'chat' ? { stop: stops } : { stop_sequences: stops };
  const { headers, said, sequence, usage } = await askFor(account, format, stream, model, more);
  const { text, reason: finish } = said;
  return { requestId: headers.get('x-request-id'), text, finish, sequence, usage };
}

const outputOf = (format: Format, usage: Json): unknown =>
  usage[format === 'chat' ? 'completion_tokens' : 'output_tokens'];

test.each(CASES)(
  'case 134: five stop sequences where the upstream takes four: %s, %s, stream %p',
  async (format, model, stream) => {
    const before = upstream.requests.length;
    const got = await ask(format, model, stream, STOPS);
    expect(got).toMatchObject({
      text: DELIVERED,
      finish: format === 'chat' ? 'stop' : 'end_turn',
      sequence: null,
    });
    const [sent] = upstream.requests.slice(before);
    expect(sent?.body).toMatchObject({ stop: STOPS.slice(0, 4), stream: true });

    // What was delivered is counted and charged, not the 50 tokens that may have been reported.
    const story = await books.story(got.requestId);
    expect(story?.usage).toMatchObject({ basis: 'estimated' });
    const [input, output] = [story?.usage?.['input_tokens'], story?.usage?.['output_tokens']].map(
      Number,
    );
    expect(output).toBeGreaterThan(3);
    expect(output).toBeLessThan(10);
    expect(outputOf(format, got.usage)).toBe(output);
    // A prompt that was reported before the cut is charged as reported, cached tokens at a tenth.
    const cached = Number(story?.usage?.['cached_input_tokens']);
    const debited = String(Number(input) - (9 * cached) / 10 + 2 * Number(output));
    expect(got.usage['svc_tokens_debited']).toBe(debited);
    expect(story?.booked).toMatchObject({ charged: debited, debited, loss: '0' });
  },
);

test('afterwards no request is in progress and nothing is held', async () => {
  await upstream.waitFor(({ active }) => active() === 0);
  const { account: record } = await gateway.run('account', 'show', account.id);
  expect(record).toMatchObject({ balance: { reserved: '0' } });
});
