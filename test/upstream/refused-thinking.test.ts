// An upstream that refuses earlier thinking is asked once more without it, within the same attempt.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Turn } from '../../src/core/generation.ts';
import { type Behaviour, play, SAYS_HELLO, sendWhole } from '../support/behaviours.ts';
import { assistant, user } from '../support/request.ts';
import { type AttemptRig, joined, startAttemptRig } from './rig.ts';

const REFUSAL =
  'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.';

const REFUSED = JSON.stringify({
  type: 'error',
  error: { type: 'invalid_request_error', message: REFUSAL },
});

const refuse: Behaviour = (exchange) => sendWhole(exchange, 400, REFUSED);

/** Refuses the thinking of another conversation, as Anthropic's newest models do. */
const bound: Behaviour = (exchange) => {
  const isSigned = JSON.stringify(exchange.request.body).includes('"signature"');
  return (isSigned ? refuse : play(SAYS_HELLO))(exchange);
};

const CODE = 'invalid_encrypted_content';

/** Refuses an item inside of a 200, as Responses servers do: before any content, or behind it. */
const insideAnswer =
  (content: readonly object[]): Behaviour =>
  (exchange) => {
    if (!exchange.request.text.includes('encrypted_content":"')) return play(SAYS_HELLO)(exchange);
    const { stream } = exchange.request;
    const events = [...content, { type: 'error', code: CODE, message: 'not verified' }];
    if (!stream) return sendWhole(exchange, 200, JSON.stringify({ error: { code: CODE } }));
    exchange.head(200, { 'content-type': 'text/event-stream' });
    for (const event of events) exchange.write(`data: ${JSON.stringify(event)}\n\n`);
    return exchange.end();
  };

const CREATED = { type: 'response.created', response: { id: 'resp_1' } };
const DELTA = { type: 'response.output_text.delta', output_index: 0, delta: 'Hello' };

let rig: AttemptRig;

beforeAll(async () => {
  rig = await startAttemptRig({
    ...{ bound, refuse },
    ...{ inside: insideAnswer([CREATED]), late: insideAnswer([CREATED, DELTA]) },
  });
});

afterAll(() => rig.close());

const CALL = { id: 'c1', name: 'f', arguments: '{}' };

function turns(model?: string): readonly Turn[] {
  const blocks = [{ kind: 'thinking', text: 'hm', signature: 's' }] as const;
  const signed = { upstream: 'scripted', ...(model === undefined ? {} : { model }), blocks };
  return [
    user('Hi'),
    assistant('A', { toolCalls: [CALL], ...(model === undefined ? {} : { signed }) }),
    { role: 'tool', toolCallId: 'c1', text: '1', isError: false },
  ];
}

/** `stream`: at the Responses upstream, and whether a stream is requested. */
async function run(model: string, history: readonly Turn[], stream?: boolean) {
  const before = rig.upstream.requests.length;
  const dialect = stream === undefined ? 'messages' : 'responses';
  const attempt = rig.start(model, { dialect, turns: history, stream: stream !== false });
  const events = [];
  for (;;) {
    const batch = await attempt.next();
    events.push(...batch.events);
    if (batch.end === undefined) continue;
    const asked = rig.upstream.requests.slice(before).map(({ body }) => JSON.stringify(body));
    return { events, end: batch.end, asked, dropped: attempt.droppedThinking?.() };
  }
}

describe('refused thinking', () => {
  test('is left out of a second request, whose answer counts', async () => {
    const { events, end, asked, dropped } = await run('bound', turns('bound'));
    expect(end).toBe('finished');
    expect(joined(events)[0]).toEqual({ kind: 'text-delta', text: 'Hello from upstream.' });
    expect(asked.map((body) => body.includes('"signature"'))).toEqual([true, false]);
    expect(asked[1]).toContain('"tool_use"');
    expect(dropped).toBe(true);
  });

  test('is asked for once only', async () => {
    const { end, asked, dropped } = await run('refuse', turns('refuse'));
    expect(end).toMatchObject({ status: 400, refusesThinking: true });
    expect([asked.length, dropped]).toEqual([2, true]);
  });

  test('without any in the request is a failure at once', async () => {
    const { end, asked, dropped } = await run('refuse', turns());
    expect(end).toMatchObject({ status: 400 });
    expect([asked.length, dropped]).toEqual([1, false]);
  });

  test('is no matter of an answer that comes', async () => {
    const { end, asked, dropped } = await run('ok', turns('ok'));
    expect(end).toBe('finished');
    expect([asked.length, dropped]).toEqual([1, false]);
  });

  describe('inside of a 200', () => {
    const ITEM = '{"type":"reasoning","summary":[],"encrypted_content":"e"}';

    const history = (model: string): readonly Turn[] => {
      const [first, , result] = turns();
      const signed = {
        upstream: 'scripted',
        model,
        blocks: [{ kind: 'native', json: ITEM }],
      } as const;
      return [first, assistant('A', { toolCalls: [CALL], signed }), result].flatMap(
        (turn) => turn ?? [],
      );
    };

    test.each([true, false])('is left out of a second request: stream %p', async (stream) => {
      const { end, asked, dropped } = await run('inside', history('inside'), stream);
      expect(end).toBe('finished');
      expect(asked.map((body) => body.includes('encrypted_content":"'))).toEqual([true, false]);
      expect(dropped).toBe(true);
    });

    test('behind content is a failure, since the content has been passed on', async () => {
      const { events, end, asked, dropped } = await run('late', history('late'), true);
      expect(joined(events)).toEqual([{ kind: 'text-delta', text: 'Hello' }]);
      expect(end).toMatchObject({ class: 'mismatch', refusesThinking: true });
      expect([asked.length, dropped]).toEqual([1, false]);
    });
  });
});
