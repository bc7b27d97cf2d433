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

let rig: AttemptRig;

beforeAll(async () => {
  rig = await startAttemptRig({ bound, refuse });
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

async function run(model: string, history: readonly Turn[]) {
  const before = rig.upstream.requests.length;
  const attempt = rig.start(model, { dialect: 'messages', turns: history });
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
});
