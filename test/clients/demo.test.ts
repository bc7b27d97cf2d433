// The built-in demonstration models, which need no upstream, for the newest library of each format:
// text, thinking and a tool round. The executable starts as `scripts/start` leaves it.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { CITY_SCHEMA } from './library.ts';

let demo: Gateway;
let caller: TestAccount;

const description = 'The weather of a city.';
const user = (content = 'Hello?') => ({ role: 'user' as const, content });

const chatRequest = (model: string) => ({ model, messages: [user()] });

const messagesRequest = (model: string, more: object = {}) => ({
  model,
  max_tokens: 100,
  messages: [user()],
  ...more,
});

beforeAll(async () => {
  demo = await startGateway();
  caller = await demo.createAccount({ plan: 'pro' });
});

afterAll(() => demo[Symbol.asyncDispose]());

test.concurrent('openai: text, thinking and a tool round', async () => {
  const client = new OpenAI({ baseURL: `${caller.url}/v1`, apiKey: caller.key });
  const [text, thinking] = await Promise.all([
    client.chat.completions.stream(chatRequest('demo')).finalChatCompletion(),
    client.chat.completions.create(chatRequest('demo-reasoner')),
  ]);
  expect(text.model).toBe('demo-chat');
  expect(text.choices[0]?.message.content).toContain('Hello?');
  expect(Number(Reflect.get(text, 'svc_tokens_debited'))).toBeGreaterThan(0);
  expect(thinking.choices[0]?.message).toMatchObject({
    content: expect.stringContaining('Hello?'),
    reasoning_content: expect.stringMatching(/./),
  } as object);

  const asked: unknown[] = [];
  const runner = client.chat.completions.runTools({
    model: 'demo-reasoner',
    messages: [user('Weather?')],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description,
          parameters: CITY_SCHEMA,
          parse: JSON.parse,
          function: (input: object) => asked.push(input) && 'sunny',
        },
      },
    ],
    stream: true,
  });
  expect(await runner.finalContent()).toContain('5 characters');
  expect(asked).toEqual([{ city: 'example' }]);
});

test.concurrent('@anthropic-ai/sdk: text, thinking and a tool round', async () => {
  const client = new Anthropic({ baseURL: caller.url, apiKey: caller.key });
  const thinking = { type: 'disabled' as const };
  const [text, thoughtful, silent] = await Promise.all([
    client.messages.stream(messagesRequest('demo')).finalMessage(),
    client.messages.stream(messagesRequest('demo-reasoner')).finalMessage(),
    client.messages.create(messagesRequest('demo-reasoner', { thinking })),
  ]);
  const types = (message: Anthropic.Message) => message.content.map((block) => block.type);
  expect([text, thoughtful, silent].map(types)).toEqual([['text'], ['thinking', 'text'], ['text']]);

  const tools = [{ name: 'get_weather', description, input_schema: CITY_SCHEMA }];
  const first = await client.messages
    .stream(messagesRequest('demo-reasoner', { tools }))
    .finalMessage();
  const use = first.content.find((block) => block.type === 'tool_use');
  expect(first.stop_reason).toBe('tool_use');
  expect(use?.input).toEqual({ city: 'example' });
  const result = { type: 'tool_result' as const, tool_use_id: use?.id ?? '', content: 'sunny' };
  const second = await client.messages.create({
    model: 'demo-reasoner',
    max_tokens: 100,
    tools,
    messages: [
      user(),
      { role: 'assistant', content: first.content },
      { role: 'user', content: [result] },
    ],
  });
  expect(second.stop_reason).toBe('end_turn');
  expect(JSON.stringify(second.content)).toContain('5 characters');
});
