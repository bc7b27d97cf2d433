import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isFailure } from '../../src/core/failure.ts';
import { Fold } from '../../src/core/fold.ts';
import type { Answer } from '../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../src/core/profile.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { answerDemo } from '../../src/upstream/demo.ts';
import { chatDialect } from '../../src/wire/upstream/chat/dialect.ts';

const weatherTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['celsius', 'fahrenheit'] },
        days: { type: 'integer', minimum: 2 },
        exact: { type: ['null', 'boolean'] },
        tags: { type: 'array', minItems: 1, items: { type: 'string' } },
        where: { type: 'object', properties: { lat: { default: 1.5 } }, required: ['lat'] },
        never: { type: 'string' },
      },
      required: ['city', 'unit', 'days', 'exact', 'tags', 'where'],
    },
  },
};
const timeTool = { type: 'function', function: { name: 'get_time' } };
const hello = { role: 'user', content: 'Say hello to the world' };
const NOTICE = "This is Tollgate's built-in demonstration model; no language model is behind it.";
const usage = { include_usage: true };

async function answerWhole(body: object): Promise<Answer> {
  const response = answerDemo(JSON.stringify({ model: 'demo-chat', ...body }));
  const answer = chatDialect(DEFAULT_PROFILE.chat).response(await response.text());
  if (isFailure(answer)) throw new Error(answer.detail);
  return answer;
}

async function answerStreamed(body: object): Promise<Answer> {
  const fold = new Fold();
  const decoder = chatDialect(DEFAULT_PROFILE.chat).stream((event) => fold.push(event));
  const text = JSON.stringify({ model: 'demo-chat', ...body, stream: true, stream_options: usage });
  for await (const bytes of answerDemo(text, 0).body ?? []) {
    expect(decoder.feed(bytes)).toBeUndefined();
  }
  expect(decoder.end()).toBeUndefined();
  return fold.answer();
}

describe('demo-chat', () => {
  test('says what it is and quotes the start of the last message', async () => {
    expect(await answerWhole({ messages: [hello] })).toEqual({
      reasoning: '',
      text: `${NOTICE} Your request has one message, and the last one begins: “Say hello to the world”`,
      toolCalls: [],
      finish: 'stop',
      usage: { ...NO_USAGE, inputTokens: 6, outputTokens: 40, basis: 'reported' },
      rawUsage:
        '{"prompt_tokens":6,"completion_tokens":40,"total_tokens":46,"completion_tokens_details":{"reasoning_tokens":0}}',
    });
  });

  test('quotes no more than eighty characters, whole ones', async () => {
    const { text } = await answerWhole({ messages: [{ role: 'user', content: '😀'.repeat(100) }] });
    expect(text).toEndWith(`“${'😀'.repeat(80)}”`);
  });

  test('calls the first tool with the required members of its schema', async () => {
    const answer = await answerWhole({ messages: [hello], tools: [weatherTool, timeTool] });
    expect(answer).toMatchObject({ text: '', finish: 'tool_calls' });
    expect(answer.toolCalls.map(({ name }) => name)).toEqual(['get_weather']);
    expect(JSON.parse(answer.toolCalls[0]?.arguments ?? '')).toEqual({
      city: 'example',
      unit: 'celsius',
      days: 2,
      exact: true,
      tags: ['example'],
      where: { lat: 1.5 },
    });
  });

  test('calls the forced tool, and none on request', async () => {
    const tools = [weatherTool, timeTool];
    const forced = { type: 'function', function: { name: 'get_time' } };
    const call = await answerWhole({ messages: [hello], tools, tool_choice: forced });
    expect(call.toolCalls).toEqual([{ id: 'call_demo_1', name: 'get_time', arguments: '{}' }]);
    const text = await answerWhole({ messages: [hello], tools, tool_choice: 'none' });
    expect(text).toMatchObject({ toolCalls: [], finish: 'stop' });
  });

  test('answers in words after a tool result, and calls again in the next turn with another id', async () => {
    const result = { role: 'tool', tool_call_id: 'call_demo_1', content: 'sunny' };
    const turn = { role: 'assistant', content: null, tool_calls: [] };
    const tools = [timeTool];
    const answer = await answerWhole({ messages: [hello, turn, result], tools });
    expect(answer).toMatchObject({
      text: `${NOTICE} A tool result of 5 characters came back.`,
      toolCalls: [],
    });
    const next = await answerWhole({ messages: [hello, turn, result, hello], tools });
    expect(next.toolCalls[0]?.id).toBe('call_demo_4');
  });

  test('answers a JSON object when asked for one', async () => {
    const { text } = await answerWhole({
      messages: [hello],
      response_format: { type: 'json_object' },
    });
    expect(JSON.parse(text)).toMatchObject({ demonstration: true, messages: 1 });
  });

  test('keeps to max_tokens and to stop sequences', async () => {
    const cut = await answerWhole({ messages: [hello], max_tokens: 3 });
    expect(cut).toMatchObject({ text: 'This is Toll', finish: 'length' });
    expect(cut.usage).toMatchObject({ outputTokens: 3 });
    const stopped = await answerWhole({ messages: [hello], stop: ['no language', ' built-in'] });
    expect(stopped).toMatchObject({ text: "This is Tollgate's", finish: 'stop' });
  });

  test('refuses what is no request', async () => {
    for (const body of ['', '{', '[]', '{"messages":1}']) {
      const response = answerDemo(body);
      expect(response.status).toBe(400);
      expect(chatDialect(DEFAULT_PROFILE.chat).failure(400, await response.text()).class).toBe(
        'bad_request',
      );
    }
  });
});

describe('demo-reasoner', () => {
  const model = 'demo-reasoner';

  test('reasons first, by default', async () => {
    const answer = await answerWhole({ model, messages: [hello] });
    expect(answer.reasoning).not.toBe('');
    expect(answer.text).toStartWith(NOTICE);
    const reasoningTokens = Math.ceil(answer.reasoning.length / 4);
    expect(answer.usage).toMatchObject({ reasoningTokens });
    const off = await answerWhole({ model, messages: [hello], thinking: { type: 'disabled' } });
    expect(off.reasoning).toBe('');
  });
});

test('streamed and whole are the same answer', async () => {
  const request = fc.record(
    {
      model: fc.constantFrom('demo-chat', 'demo-reasoner'),
      messages: fc.array(fc.constantFrom(hello, { role: 'tool', content: 'x  y\n' }), {
        minLength: 1,
      }),
      tools: fc.subarray([weatherTool, timeTool]),
      max_tokens: fc.integer({ min: 1, max: 90 }),
      stop: fc.subarray(['is', 'model', ' ']),
      response_format: fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
    },
    { requiredKeys: ['model', 'messages'] },
  );
  await fc.assert(
    fc.asyncProperty(request, async (body) => {
      expect(await answerStreamed(body)).toEqual(await answerWhole(body));
    }),
    { numRuns: 100 },
  );
});

test('a reader that leaves ends the stream', async () => {
  const body = JSON.stringify({ model: 'demo-chat', messages: [hello], stream: true });
  const reader = answerDemo(body, 3_600_000).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"role":"assistant"');
  const pending = reader?.read();
  await reader?.cancel();
  expect(await pending).toEqual({ done: true, value: undefined });
});
