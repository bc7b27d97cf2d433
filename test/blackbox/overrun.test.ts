// An upstream that ignores max_tokens: nothing beyond the bound is passed on, and everything passed
// on is charged. An upstream with another tokenizer that kept the bound loses no text.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readAnswerContent } from '../support/answer.ts';
import { play } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import { type Format, PATHS, post, requestBody } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { readBooks } from '../support/readable-books.ts';
import type { Script } from '../support/render.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const KINDS = (['chat', 'messages'] as const).flatMap((client) =>
  (['chat', 'messages'] as const).flatMap((dialect) => [
    [client, dialect, false] as const,
    [client, dialect, true] as const,
  ]),
);
const BOUND = 50;

/** One token a word, in every tokenizer of these tests. */
function writes(words: number, completion?: number): Script {
  const usage = completion === undefined ? {} : { usage: { prompt: 10, cached: 0, completion } };
  return {
    pieces: Array.from({ length: words }, () => ({ text: ' apple' })),
    finish: 'stop',
    ...usage,
  };
}

/** Per model: what is delivered of it for a bound of 50, how it ends, and what is charged. */
const ROWS = [
  ['far-beyond', writes(300, 300), BOUND, 'length', BOUND],
  ['far-beyond-unreported', writes(300), BOUND, 'length', BOUND],
  // What it says of 300 words cannot be true.
  ['far-beyond-and-lies', writes(300, 40), BOUND, 'length', BOUND],
  ['a-little-beyond', writes(60, 60), BOUND, 'length', BOUND],
  ['a-little-beyond-unreported', writes(60), BOUND, 'length', BOUND],
  ['other-tokenizer', writes(60, 45), 60, 'stop', 45],
  ['at-the-bound', writes(50, 50), BOUND, 'stop', BOUND],
] as const;

let upstream: Upstream;
let gateways: Readonly<Record<'chat' | 'messages', Gateway>>;

beforeAll(async () => {
  upstream = await startUpstream(
    Object.fromEntries(ROWS.map(([name, script]) => [name, play(script)])),
  );
  const start = (dialect: 'chat' | 'messages') =>
    startGateway({
      catalog: catalogFor(
        upstream,
        ROWS.map(([name]) => name),
        { dialect },
      ),
      environment: { LOG_LEVEL: 'warn' },
    });
  const [chat, messages] = await Promise.all([start('chat'), start('messages')]);
  gateways = { chat, messages };
});

closeAtEnd(() => [upstream, gateways?.messages, gateways?.chat]);

test.each(KINDS)('%s over %s, streamed: %p', async (client: Format, dialect, stream) => {
  const gateway = gateways[dialect];
  const payer = await gateway.createAccount({ plan: 'business', credit: 1_000_000 });
  using books = readBooks(gateway.databasePath);
  for (const [model, , words, reason, charged] of ROWS) {
    const body = requestBody(client, model, { stream, max_tokens: BOUND });
    const response = await post(payer, PATHS[client], body);
    const said = readAnswerContent(client, await response.text());
    const inChat = { max_tokens: 'length', end_turn: 'stop' }[String(said.reason)] ?? said.reason;
    expect([model, said.text.split(' apple').length - 1, inChat]).toEqual([model, words, reason]);
    const record = books
      .query('select outcome, output_tokens as output from usage_records where request_id = ?')
      .get(response.headers.get('x-request-id'));
    expect([model, record]).toEqual([model, { outcome: 'completed', output: charged }]);
  }
  await upstream.waitFor(({ active }) => active() === 0);
});
