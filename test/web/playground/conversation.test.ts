// The playground's conversation: what is added to it, what is shown during a request, and how it ends where
// an answer is stopped, refused or broken off.

import '../../support/english.ts';
import { describe, expect, test } from 'bun:test';
import {
  type ConversationDependencies,
  createConversation,
} from '../../../src/web/customer/playground/conversation.ts';
import type { Format } from '../../../src/web/customer/playground/settings.ts';
import { waitUntil } from '../../support/upstream.ts';

const REFUSED = {
  message: 'The balance is too low.',
  code: 'insufficient_balance',
  param: undefined,
  request_id: 'req_1',
};

const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta }], ...more })}\n\n`;

const BILL = `data: ${JSON.stringify({ choices: [], svc_tokens_debited: '20', svc_cost_usd: '0.00002' })}\n\n`;

const HEADERS = { 'x-request-id': 'req_1', 'x-svc-model': 'swift-1' };

/** A conversation whose answers the test writes; `sent` are the bodies it was asked. */
function rig(options: Partial<ConversationDependencies> = {}) {
  const sent: unknown[] = [];
  let writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  let clock = 0;
  const conversation = createConversation({
    async send(_format, body, signal) {
      sent.push(body);
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const own = writable.getWriter();
      writer = own;
      signal.addEventListener('abort', () => void own.abort(new Error('aborted')).catch(() => {}));
      return new Response(readable, {
        headers: { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' },
      });
    },
    refusalOf: (error) => (error === REFUSED ? REFUSED : undefined),
    now: () => {
      clock += 10;
      return clock;
    },
    ...options,
  });
  return {
    ...{ conversation, sent },
    ask(text = 'Hello?', format: Format = 'chat'): Promise<void> {
      return conversation.run([{ kind: 'user', text, pictures: [] }], format, { text });
    },
    write: (text: string) => writer?.write(new TextEncoder().encode(text)),
    end: () => writer?.close(),
    cut: () => writer?.abort(new Error('broken')).catch(() => {}),
    shown: () => conversation.running.value?.answer.text,
  };
}

test('an answer is shown as it comes, and added when it is whole', async () => {
  const { conversation, sent, ask, write, end, shown } = rig();
  const asked = ask();
  expect(conversation.running.value).toMatchObject({ requestId: undefined, answer: { text: '' } });
  await waitUntil(() => sent.length === 1);
  await write(chunk({ content: 'Good ' }).slice(0, 20));
  await write(chunk({ content: 'Good ' }).slice(20));
  await waitUntil(() => shown() === 'Good ');
  expect(conversation.running.value?.requestId).toBe('req_1');
  await write(`${chunk({ content: 'day.' })}${BILL}data: [DONE]\n\n`);
  await end();
  await asked;
  expect([conversation.running.value, conversation.problem.value]).toEqual([undefined, undefined]);
  expect(conversation.turns.value).toMatchObject([
    { kind: 'user', text: 'Hello?' },
    {
      kind: 'assistant',
      answer: { text: 'Good day.', bill: { svc_tokens_debited: '20', svc_cost_usd: '0.00002' } },
      facts: { requestId: 'req_1', model: 'swift-1', firstMs: 10, totalMs: 20, end: 'complete' },
    },
  ]);
});

test('a whole answer has no first piece', async () => {
  const body = { choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }] };
  const { conversation, ask } = rig({
    send: async () => Response.json(body, { headers: HEADERS }),
  });
  await ask();
  expect(conversation.turns.value[1]).toMatchObject({
    answer: { text: 'Hi.', finish: 'stop' },
    facts: { firstMs: undefined, end: 'complete' },
  });
});

describe('stopping', () => {
  test('keeps what there is, without a call that was cut', async () => {
    const { conversation, ask, sent, write, shown } = rig();
    const asked = ask();
    await waitUntil(() => sent.length === 1);
    const call = { index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } };
    await write(chunk({ content: 'Good' }) + chunk({ tool_calls: [call] }));
    await waitUntil(() => shown() === 'Good');
    conversation.stop();
    await asked;
    expect(conversation.running.value).toBeUndefined();
    expect(conversation.turns.value[1]).toMatchObject({
      answer: { text: 'Good', calls: [] },
      facts: { end: 'stopped' },
    });
  });

  test('before anything has come leaves nothing, and says so', async () => {
    const { conversation, ask, sent } = rig();
    const asked = ask();
    await waitUntil(() => sent.length === 1);
    conversation.stop();
    await asked;
    expect(conversation.turns.value).toHaveLength(1);
    expect(conversation.running.value).toBeUndefined();
    expect(conversation.problem.value).toMatchObject({ code: 'stopped', request_id: 'req_1' });
  });

  test('by showing other turns leaves nothing, even if more data arrives', async () => {
    const { conversation, ask, sent, write, shown } = rig();
    const asked = ask();
    await waitUntil(() => sent.length === 1);
    await write(chunk({ content: 'Good' }));
    await waitUntil(() => shown() === 'Good');
    conversation.load([]);
    await asked;
    expect([conversation.turns.value, conversation.running.value]).toEqual([[], undefined]);
  });
});

test('shows a refusal, and the request can be sent again', async () => {
  const { conversation, ask } = rig({ send: () => Promise.reject(REFUSED) });
  await ask();
  expect(conversation.problem.value).toEqual(REFUSED);
  expect(conversation.turns.value).toMatchObject([{ kind: 'user', text: 'Hello?' }]);
  conversation.load([]);
  expect([conversation.turns.value, conversation.problem.value]).toEqual([[], undefined]);
});

test('an error behind content keeps the content and has its bill', async () => {
  const { conversation, ask, sent, write, end } = rig();
  const asked = ask();
  await waitUntil(() => sent.length === 1);
  const error = {
    ...{ message: 'It broke.', code: 'provider_unavailable' },
    ...{ svc_tokens_debited: '7', svc_estimated: true },
  };
  await write(
    `${chunk({ content: 'Good' })}data: ${JSON.stringify({ error })}\n\ndata: [DONE]\n\n`,
  );
  await end();
  await asked;
  expect(conversation.turns.value[1]).toMatchObject({
    answer: {
      text: 'Good',
      bill: { svc_tokens_debited: '7', svc_estimated: true },
      problem: { message: 'It broke.' },
    },
    facts: { end: 'failed' },
  });
});

test('shows a broken connection as such', async () => {
  const { conversation, ask, sent, write, shown, cut } = rig();
  const asked = ask();
  await waitUntil(() => sent.length === 1);
  await write(chunk({ content: 'Good' }));
  await waitUntil(() => shown() === 'Good');
  await cut();
  await asked;
  expect(conversation.turns.value[1]).toMatchObject({
    answer: { text: 'Good', problem: { code: 'connection_broken' } },
    facts: { end: 'failed' },
  });
});
