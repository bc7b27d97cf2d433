// Tools that are no functions and thinking that is hidden, with the libraries of the vendors that have
// them, against the executable.

import { beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Behaviour, HELLO, play } from '../support/behaviours.ts';
import { catalogOf, UPSTREAM_KEY } from '../support/catalog.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { type Piece, USAGE } from '../support/render.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const INPUT = '*** Begin Patch\n+say "hi" \\o/ 😀\n*** End Patch';
const GRAMMAR = { syntax: 'lark' as const, definition: 'start: /.+/' };

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream({
    patches: callsOnce('patch', JSON.stringify({ input: INPUT })),
    shells: callsOnce('bash', '{"command":"ls"}'),
  });
  const shared = { api_key: UPSTREAM_KEY, cool_down_seconds: 0 };
  const sites = [
    { id: 'chat', dialect: 'chat', base_url: upstream.baseUrl },
    { id: 'claude', dialect: 'messages', base_url: upstream.messagesBaseUrl, profile: 'anthropic' },
    { id: 'other', dialect: 'messages', base_url: upstream.messagesBaseUrl, profile: 'messages' },
  ];
  const models = sites.flatMap(({ id }) =>
    ['patches', 'shells', 'reasoning'].map((model) => {
      return { slug: `${model}-${id}`, served_by: [{ upstream: id, model }] };
    }),
  );
  const upstreams = sites.map((site) => ({ ...site, ...shared }));
  gateway = await startGateway({ catalog: catalogOf({ upstreams, models }) });
  account = await gateway.createAccount();
});

closeAtEnd(() => [upstream, gateway]);

/** Calls this tool, its arguments in pieces of three characters, and ends after its result. */
function callsOnce(name: string, json: string): Behaviour {
  const parts = json.match(/[\s\S]{1,3}/g) ?? [];
  const call: Piece[] = [
    { tool: 0, id: 'call_1', name, json: '' },
    ...parts.map((part) => ({ tool: 0, json: part })),
  ];
  return (exchange) => {
    const isDone = exchange.request.text.includes('Done: ');
    const pieces = isDone ? [{ text: 'Fine.' }] : call;
    return play({ pieces, finish: isDone ? 'stop' : 'tool_calls', usage: USAGE })(exchange);
  };
}

const lastBody = () => upstream.requests.at(-1)?.body ?? {};

describe.each(['patches-chat', 'patches-claude'])('a custom tool of openai, by %s', (model) => {
  const connect = () => new OpenAI({ baseURL: `${account.url}/v1`, apiKey: account.key });
  const tools: OpenAI.ChatCompletionTool[] = [
    {
      type: 'custom',
      custom: {
        name: 'patch',
        description: 'Patches.',
        format: { type: 'grammar', grammar: GRAMMAR },
      },
    },
  ];
  const asked = { role: 'user' as const, content: 'Patch it.' };
  const called = { id: 'call_1', type: 'custom' as const, custom: { name: 'patch', input: INPUT } };

  test('is called with its text, whole', async () => {
    const completion = await connect().chat.completions.create({ model, messages: [asked], tools });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [called] },
    });
    expect(JSON.stringify(lastBody()['tools'])).toContain('lark grammar:\\nstart: /.+/');
  });

  test('is called with its text, streamed', async () => {
    const stream = await connect().chat.completions.create({
      ...{ model, messages: [asked], tools },
      stream: true,
    });
    let input = '';
    const starts: object[] = [];
    for await (const chunk of stream) {
      for (const call of chunk.choices[0]?.delta.tool_calls ?? []) {
        if (call.id !== undefined) starts.push(call);
        input += call.custom?.input ?? '';
      }
    }
    expect(input).toBe(INPUT);
    expect(starts).toEqual([{ index: 0, ...called, custom: { name: 'patch', input: '' } }]);
  });

  test('takes its result in the next turn', async () => {
    const completion = await connect().chat.completions.create({
      model,
      tools,
      messages: [
        asked,
        { role: 'assistant', content: null, tool_calls: [called] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done: ok' },
      ],
    });
    expect(completion.choices[0]?.message.content).toBe('Fine.');
    expect(upstream.requests.at(-1)?.text).toContain('Begin Patch');
  });

  test('is one of the allowed tools', async () => {
    const f = { type: 'function' as const, function: { name: 'f' } };
    const allowed = [{ type: 'custom', custom: { name: 'patch' } }];
    await connect().chat.completions.create({
      ...{ model, messages: [asked], tools: [...tools, f] },
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: allowed } },
    });
    const body = lastBody();
    expect(body['tools']).toHaveLength(1);
    expect(JSON.stringify(body['tool_choice'])).toMatch(/required|any/);
  });
});

test('thinking that a client of openai excludes is charged and not in the answer', async () => {
  const client = new OpenAI({ baseURL: `${account.url}/v1`, apiKey: account.key });
  const body = {
    model: 'reasoning-chat',
    messages: [{ role: 'user' as const, content: 'Why?' }],
    reasoning: { effort: 'low', exclude: true },
  };
  const whole = await client.chat.completions.create(body);
  const chunks = await Array.fromAsync(
    await client.chat.completions.create({ ...body, stream: true }),
  );
  expect(JSON.stringify([whole, chunks])).not.toContain('reasoning_content');
  expect(whole.choices[0]?.message.content).toBe(HELLO);
  expect(whole.usage?.completion_tokens).toBe(5);
  expect(lastBody()['reasoning_effort']).toBe('low');
});

describe('a typed tool of @anthropic-ai/sdk', () => {
  const connect = () => new Anthropic({ baseURL: account.url, apiKey: account.key });
  const tools: Anthropic.ToolUnion[] = [
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 900 },
    { type: 'memory_20250818', name: 'memory', cache_control: { type: 'ephemeral' } },
  ];
  const asked = { role: 'user' as const, content: 'List it.' };
  const NAMES = ['bash', 'str_replace_based_edit_tool', 'memory'];

  test.each(['claude', 'other', 'chat'])(
    'is called by the upstream %s, round by round',
    async (id) => {
      const request = { model: `shells-${id}`, max_tokens: 100, tools };
      const first = await connect()
        .messages.stream({ ...request, messages: [asked] })
        .finalMessage();
      const [use] = first.content;
      expect(use).toMatchObject({ type: 'tool_use', name: 'bash', input: { command: 'ls' } });
      expect(first.stop_reason).toBe('tool_use');
      const second = await connect().messages.create({
        ...request,
        messages: [
          asked,
          { role: 'assistant', content: first.content },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'Done: a.txt' }],
          },
        ],
      });
      expect(second.content as object[]).toEqual([{ type: 'text', text: 'Fine.' }]);
    },
  );

  test('is sent as declared where the upstream knows it, and else as a function', async () => {
    const offered = async (id: string) => {
      const request = { model: `shells-${id}`, max_tokens: 100, messages: [asked], tools };
      await connect().messages.create(request);
      return lastBody()['tools'] as Record<string, unknown>[];
    };
    expect(await offered('claude')).toEqual([
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 900 },
      { type: 'memory_20250818', name: 'memory', cache_control: { type: 'ephemeral' } },
    ]);
    const functions = await offered('other');
    expect(functions.map(({ name }) => name)).toEqual(NAMES);
    expect(functions[0]).toMatchObject({ input_schema: { properties: { restart: {} } } });
    const chat = await offered('chat');
    expect(chat.map((tool) => (tool['function'] as { name: string }).name)).toEqual(NAMES);
  });

  test('hidden thinking is a block with a signature and no text, streamed and whole', async () => {
    const request = {
      model: 'reasoning-chat',
      max_tokens: 100,
      messages: [asked],
      thinking: { type: 'adaptive' as const, display: 'omitted' as const },
    };
    const thought = { type: 'thinking', thinking: '', signature: expect.stringMatching(/./) };
    const whole = await connect().messages.create(request);
    const streamed = await connect().messages.stream(request).finalMessage();
    expect(whole.content[0] as object).toEqual(thought);
    expect(streamed.content[0] as object).toEqual(thought);
    expect(whole.usage.output_tokens).toBe(5);
  });
});
