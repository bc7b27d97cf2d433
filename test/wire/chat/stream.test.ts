import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { Stream } from 'openai/streaming';
import { GatewayError, invalidRequest } from '../../../src/core/error.ts';
import { Fold } from '../../../src/core/fold.ts';
import type { GenerationEvent, Receipt } from '../../../src/core/generation.ts';
import { chatFormat } from '../../../src/wire/chat/format.ts';
import type { AnswerHead } from '../../../src/wire/format.ts';
import { parseEvents } from '../../support/sse.ts';
import { eventSequence, HEAD, RECEIPT, USAGE_JSON } from './fixtures.ts';

const ENVELOPE = {
  id: 'chatcmpl-abc123',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'swift-1',
};

const BILL = {
  svc_tokens_debited: '12.5',
  svc_cost_usd: '0.0000125',
  svc_balance_tokens: '987.5',
  svc_fallback_used: true,
  svc_outcome: 'completed',
};

function chunk(delta: object, finishReason: string | null = null): object {
  return {
    ...ENVELOPE,
    system_fingerprint: 'fp_tollgate',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
  };
}

const ROLE = chunk({ role: 'assistant', content: '' });

function stream(
  events: readonly GenerationEvent[],
  head: AnswerHead = HEAD,
  receipt: Receipt = RECEIPT,
): string {
  const encoder = chatFormat.stream(head);
  return (
    encoder.start() + events.map((event) => encoder.push(event)).join('') + encoder.finish(receipt)
  );
}

/** The JSON of every event; fails unless the text ends with one `[DONE]` and a blank line. */
function payloads(text: string): unknown[] {
  expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
  const events = parseEvents(text);
  expect(events.filter((event) => event.event !== '')).toEqual([]);
  expect(events.at(-1)?.json).toBeUndefined();
  return events.slice(0, -1).map((event) => {
    if (event.json === undefined) throw new Error('[DONE] came before the end');
    return event.json;
  });
}

describe('a chat stream', () => {
  test('has the text of a custom call, without an event for what adds none', () => {
    const head = { ...HEAD, customTools: ['patch'] };
    const text = stream(
      [
        { kind: 'tool-start', index: 0, id: 'call_1', name: 'patch' },
        { kind: 'tool-delta', index: 0, json: '{"in' },
        { kind: 'tool-delta', index: 0, json: 'put": "a\\' },
        { kind: 'tool-start', index: 1, id: 'call_2', name: 'patch' },
        { kind: 'tool-delta', index: 0, json: 'nb"' },
        { kind: 'tool-delta', index: 0, json: '}' },
        { kind: 'finish', reason: 'tool_calls' },
      ],
      head,
    );
    const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
    const start = { type: 'custom', custom: { name: 'patch', input: '' } };
    expect(payloads(text).slice(1, -2)).toEqual([
      call(0, { id: 'call_1', ...start }),
      call(0, { custom: { input: 'a' } }),
      call(1, { id: 'call_2', ...start }),
      call(0, { custom: { input: '\nb' } }),
    ]);
  });

  test('says role, reasoning, text and reason once each, and ends with usage and bill', () => {
    const text = stream([
      { kind: 'reasoning-delta', text: 'Hm.' },
      { kind: 'text-delta', text: 'Hel' },
      { kind: 'text-delta', text: '' },
      { kind: 'text-delta', text: 'lo.' },
      { kind: 'finish', reason: 'stop' },
      { kind: 'usage', usage: RECEIPT.usage },
    ]);
    expect(payloads(text)).toEqual([
      ROLE,
      chunk({ reasoning_content: 'Hm.' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo.' }),
      chunk({}, 'stop'),
      { ...ENVELOPE, choices: [], usage: USAGE_JSON, ...BILL },
    ]);
  });

  test('names each tool call once, and gives a call without arguments an empty object', () => {
    const text = stream([
      { kind: 'tool-start', index: 0, id: 'call_1', name: 'f"' },
      { kind: 'tool-start', index: 1, id: 'call_2', name: 'g' },
      { kind: 'tool-delta', index: 0, json: '{"a"' },
      { kind: 'tool-delta', index: 1, json: '' },
      { kind: 'tool-delta', index: 0, json: ':1}' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
    const call = (index: number, more: object): object =>
      chunk({ tool_calls: [{ index, ...more }] });
    const start = (id: string, name: string): object => ({
      id,
      type: 'function',
      function: { name, arguments: '' },
    });
    expect(payloads(text)).toEqual([
      ROLE,
      call(0, start('call_1', 'f"')),
      call(1, start('call_2', 'g')),
      call(0, { function: { arguments: '{"a"' } }),
      call(0, { function: { arguments: ':1}' } }),
      call(1, { function: { arguments: '{}' } }),
      chunk({}, 'tool_calls'),
      { ...ENVELOPE, choices: [], usage: USAGE_JSON, ...BILL },
    ]);
  });

  test('without usage still ends with the bill, which is not a chunk then', () => {
    const head = { ...HEAD, includeUsage: false };
    expect(payloads(stream([{ kind: 'finish', reason: 'stop' }], head))).toEqual([
      ROLE,
      chunk({}, 'stop'),
      { ...ENVELOPE, object: 'chat.completion.billing', choices: [], ...BILL },
    ]);
  });

  test('ends for its length when the balance stopped it', () => {
    const receipt: Receipt = { ...RECEIPT, outcome: 'stopped_balance' };
    expect(payloads(stream([{ kind: 'text-delta', text: 'Hel' }], HEAD, receipt))).toEqual([
      ROLE,
      chunk({ content: 'Hel' }),
      chunk({}, 'length'),
      { ...ENVELOPE, choices: [], usage: USAGE_JSON, ...BILL, svc_outcome: 'stopped_balance' },
    ]);
  });

  test('keeps a silent connection alive with a chunk that says nothing', () => {
    const events = parseEvents(chatFormat.stream(HEAD).heartbeat());
    expect<unknown>(events.map((event) => event.json)).toEqual([chunk({})]);
  });

  test('fails with one error event, the bill in it where there is one, and never a reason', () => {
    const error = new GatewayError('provider_unavailable', { message: 'It broke.' });
    const body = {
      message: 'It broke.',
      type: 'overloaded_error',
      code: 'provider_unavailable',
      request_id: 'req_1',
    };
    const failed: Receipt = { ...RECEIPT, outcome: 'upstream_failed' };
    expect(payloads(chatFormat.stream(HEAD).fail(error, failed))).toEqual([
      {
        error: {
          ...body,
          svc_tokens_debited: '12.5',
          svc_cost_usd: '0.0000125',
          svc_balance_tokens: '987.5',
          svc_outcome: 'upstream_failed',
        },
      },
    ]);
    expect(payloads(chatFormat.stream(HEAD).fail(error, undefined))).toEqual([{ error: body }]);
    const named = payloads(chatFormat.stream(HEAD).fail(invalidRequest('n', 'x'), undefined));
    expect(named).toMatchObject([{ error: { param: 'n' } }]);
  });
});

type Chunk = {
  readonly choices: readonly {
    readonly delta: {
      readonly role?: string;
      readonly content?: string;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly type?: string;
        readonly function: { readonly name?: string; readonly arguments: string };
      }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: unknown;
};

/** Adds chunks up the way clients do: every member of a delta is appended to what was there. */
function addUp(chunks: readonly Chunk[]) {
  const total = { role: '', content: '', reasoning: '', reason: '' };
  const calls: { id: string; type: string; name: string; arguments: string }[] = [];
  const usages: unknown[] = [];
  for (const { choices, usage } of chunks) {
    if (usage !== undefined) usages.push(usage);
    for (const { delta, finish_reason } of choices) {
      total.role += delta.role ?? '';
      total.content += delta.content ?? '';
      total.reasoning += delta.reasoning_content ?? '';
      total.reason += finish_reason ?? '';
      for (const part of delta.tool_calls ?? []) {
        const call = calls[part.index] ?? { id: '', type: '', name: '', arguments: '' };
        call.id += part.id ?? '';
        call.type += part.type ?? '';
        call.name += part.function.name ?? '';
        call.arguments += part.function.arguments;
        calls[part.index] = call;
      }
    }
  }
  return { ...total, calls, usages };
}

describe('any chat stream', () => {
  test('adds up to exactly what the whole answer says', () => {
    fc.assert(
      fc.property(eventSequence, fc.array(fc.nat({ max: 20 })), (events, silences) => {
        const encoder = chatFormat.stream(HEAD);
        const fold = new Fold();
        let text = encoder.start();
        events.forEach((event, index) => {
          if (silences.includes(index)) text += encoder.heartbeat();
          text += encoder.push(event);
          fold.push(event);
        });
        text += encoder.finish(RECEIPT);

        const whole = JSON.parse(chatFormat.response(HEAD, fold.answer(), RECEIPT));
        const { message, finish_reason } = whole.choices[0];
        expect(addUp(payloads(text) as Chunk[])).toEqual({
          role: 'assistant',
          content: message.content ?? '',
          reasoning: message.reasoning_content ?? '',
          reason: finish_reason,
          calls: (message.tool_calls ?? []).map(
            (call: {
              id: string;
              type: string;
              function: { name: string; arguments: string };
            }) => ({
              id: call.id,
              type: call.type,
              ...call.function,
            }),
          ),
          usages: [whole.usage],
        });
      }),
    );
  });

  test('has one event for each delta that says something, and no line feeds inside', () => {
    fc.assert(
      fc.property(eventSequence, (events) => {
        const encoder = chatFormat.stream(HEAD);
        for (const event of events) {
          const written = encoder.push(event);
          if (written === '') continue;
          expect(written.startsWith('data: {')).toBe(true);
          expect(written.indexOf('\n')).toBe(written.length - 2);
          expect(written).not.toInclude('\r');
        }
      }),
    );
  });

  test('is read by a published client as the whole answer', async () => {
    const events: GenerationEvent[] = [
      { kind: 'reasoning-delta', text: 'Hm.' },
      { kind: 'text-delta', text: 'Look:' },
      { kind: 'tool-start', index: 0, id: 'call_1', name: 'f' },
      { kind: 'tool-delta', index: 0, json: '{"a":' },
      { kind: 'tool-delta', index: 0, json: '1}' },
      { kind: 'tool-start', index: 1, id: 'call_2', name: 'g' },
      { kind: 'finish', reason: 'tool_calls' },
    ];
    const sse = Stream.fromSSEResponse(new Response(stream(events)), new AbortController());
    const read = ChatCompletionStream.fromReadableStream(sse.toReadableStream());
    const completion = await read.finalChatCompletion();
    expect(completion.choices[0]?.message).toMatchObject({
      role: 'assistant',
      content: 'Look:',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
        { id: 'call_2', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    });
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
    expect(completion.usage as unknown).toEqual(USAGE_JSON);
  });
});
