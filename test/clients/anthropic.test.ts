// @anthropic-ai/sdk, three lines of it, against the executable.

import { describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import Anthropic0_60 from 'anthropic-0.60';
import Anthropic0_137 from 'anthropic-0.137';
import { HELLO, REASONING } from '../support/behaviours.ts';
import { messagesShape } from '../support/formats/messages.ts';
import { answerOf } from '../support/formats/shape.ts';
import { testLibraries } from './contract.ts';
import {
  CITY_SCHEMA,
  type Connection,
  field,
  type Library,
  PNG,
  type Reading,
  type Round,
  SDK_ERRORS,
  TOOLS,
  type Tool,
  textField,
  usageOf,
} from './library.ts';
import { MODELS, useClientRig } from './rig.ts';

type Line = {
  readonly name: string;
  readonly connect: (connection: Connection, more?: object) => Anthropic;
  readonly errors: Library['errors'];
  readonly runner: Runner;
};

/** Whether there is a tool runner, and whether it leaves its history to the server by itself. */
type Runner = 'none' | 'keeps its history' | 'leaves its history';

const ERRORS_1 = {
  ...SDK_ERRORS,
  413: 'ContentTooLargeError',
  503: 'ServiceUnavailableError',
};

const LINES: readonly Line[] = [
  line('@anthropic-ai/sdk 0.60', Anthropic0_60, { errors: SDK_ERRORS, runner: 'none' }),
  line('@anthropic-ai/sdk 0.137', Anthropic0_137, {
    errors: SDK_ERRORS,
    runner: 'keeps its history',
  }),
  line('@anthropic-ai/sdk 1', Anthropic, { errors: ERRORS_1, runner: 'leaves its history' }),
];

/** All are typed as the newest one: what is used here is the same in all of them. */
function line(name: string, library: unknown, facts: Pick<Line, 'errors' | 'runner'>): Line {
  const Client = library as typeof Anthropic;
  return {
    ...facts,
    name,
    connect: ({ url, key, maxRetries = 0, fetch }, more = {}) =>
      new Client({ baseURL: url, apiKey: key, maxRetries, ...(fetch && { fetch }), ...more }),
  };
}

const tools = TOOLS.map(({ name, description, schema }) => ({
  name,
  description,
  input_schema: schema,
}));

const user = (content = 'Hello?') => ({ role: 'user' as const, content });

const request = (model: string, more: object = {}) => ({
  model,
  max_tokens: 100,
  messages: [user()],
  ...more,
});

function library({ name, connect, errors, runner }: Line): Library {
  const options = ({ signal }: Connection) => (signal === undefined ? {} : { signal });
  return {
    name,
    format: 'messages',
    finish: { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' },
    errors,
    failure: (error) => ({
      name: error instanceof Error ? error.constructor.name : '',
      status: Number(field(error, 'status')) || null,
      code: textField(error, 'error', 'error', 'code'),
      message: String(field(error, 'message')),
      requestId: textField(error, 'requestID'),
    }),
    ways: [
      {
        name: 'create',
        streamed: false,
        ask: async (connection, model) =>
          readMessage(
            await connect(connection).messages.create(
              request(model, { tools }),
              options(connection),
            ),
          ),
      },
      {
        name: 'create, event by event',
        streamed: true,
        ask: async (connection, model) => {
          const body = { ...request(model, { tools }), stream: true as const };
          const stream = connect(connection).messages.create(body, options(connection));
          return readEvents(await Array.fromAsync(await stream));
        },
      },
      {
        name: 'stream, finalMessage',
        streamed: true,
        // The accumulator copies the counters that it knows; the bill is in the event.
        view: { debited: null },
        ask: async (connection, model) => {
          const body = request(model, { tools });
          const stream = connect(connection).messages.stream(body, options(connection));
          return readMessage(await stream.finalMessage());
        },
      },
    ],
    rounds: [
      { name: 'create, and the content sent back', replays: 'all', run: roundByHand(connect) },
      ...runnerRounds(connect, runner),
    ],
  };
}

/** What users do who need no runner: the content of the answer is the assistant's next turn. */
function roundByHand(connect: Line['connect']): Round['run'] {
  return async (connection, tool) => {
    const client = connect(connection);
    const first = await client.messages.stream(request('tool-round', { tools })).finalMessage();
    const results = first.content
      .filter((block) => block.type === 'tool_use')
      .map((use) => ({
        type: 'tool_result' as const,
        tool_use_id: use.id,
        content: tool(use.input as { city: string }),
      }));
    const messages = [
      user(),
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: results },
    ];
    const second = await client.messages.create(request('tool-round', { tools, messages }));
    return readMessage(second).text;
  };
}

const OWN_HISTORY = [
  { name: 'toolRunner', mode: { stream: false, thread: false }, requests: 2 },
  { name: 'toolRunner, streamed', mode: { stream: true, thread: false }, requests: 2 },
] as const;

/** There is no history at this server. The library learns that, and then sends all messages. */
const SERVER_HISTORY = [
  { name: 'toolRunner with a thread', mode: { stream: false }, requests: 3 },
  { name: 'toolRunner with a thread, streamed', mode: { stream: true }, requests: 3 },
] as const;

function runnerRounds(connect: Line['connect'], runner: Runner): Round[] {
  if (runner === 'none') return [];
  const left = runner === 'leaves its history' ? SERVER_HISTORY : [];
  return [...OWN_HISTORY, ...left].map(({ name, mode, requests }) => ({
    name,
    requests,
    replays: 'all',
    run: async (connection, tool) => {
      const body = { ...request('tool-round'), tools: [runnable(tool)], ...mode };
      const last = await connect(connection).beta.messages.toolRunner(body).runUntilDone();
      return readMessage(last).text;
    },
  }));
}

function runnable(tool: Tool) {
  return {
    type: 'custom' as const,
    name: 'get_weather',
    description: 'The weather of a city.',
    input_schema: CITY_SCHEMA,
    parse: (input: unknown) => input as { city: string },
    run: tool,
  };
}

function readMessage(message: Anthropic.Message | Anthropic.Beta.BetaMessage): Reading {
  const reading = { text: '', reasoning: '', calls: [] as Reading['calls'][number][] };
  for (const block of message.content) {
    if (block.type === 'text') reading.text += block.text;
    if (block.type === 'thinking') {
      reading.reasoning += block.thinking;
      expect(block.signature).not.toBe('');
    }
    if (block.type === 'tool_use') {
      const { id, name, input } = block;
      reading.calls.push({ id, name, json: JSON.stringify(input) });
    }
  }
  expect(message.stop_sequence).toBeNull();
  return {
    ...reading,
    finish: String(message.stop_reason),
    usage: readUsage(message.usage),
    debited: textField(message.usage, 'svc_tokens_debited'),
  };
}

/** The format counts the cached tokens apart from the others. */
function readUsage(usage: unknown): Reading['usage'] {
  const cached = field(usage, 'cache_read_input_tokens');
  const rest = field(usage, 'input_tokens');
  const input = typeof cached === 'number' && typeof rest === 'number' ? rest + cached : rest;
  return usageOf(input, cached, field(usage, 'output_tokens'));
}

/** What a user of the library does who reads the events without its help. */
function readEvents(events: readonly Anthropic.MessageStreamEvent[]): Reading {
  const calls: { id: string; name: string; json: string }[] = [];
  const joined = { text: '', reasoning: '', finish: '' };
  let usage: unknown;
  for (const event of events) {
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      calls.push({ id: event.content_block.id, name: event.content_block.name, json: '' });
    }
    if (event.type === 'message_delta') {
      joined.finish += event.delta.stop_reason;
      usage = event.usage;
    }
    if (event.type !== 'content_block_delta') continue;
    const { delta } = event;
    const call = calls.at(-1);
    if (delta.type === 'text_delta') joined.text += delta.text;
    if (delta.type === 'thinking_delta') joined.reasoning += delta.thinking;
    if (delta.type === 'input_json_delta' && call !== undefined) call.json += delta.partial_json;
  }
  const debited = textField(usage, 'svc_tokens_debited');
  return { ...joined, calls, usage: readUsage(usage), debited };
}

const rig = useClientRig();
testLibraries(LINES.map(library), rig);

describe.each(LINES.map((facts) => [facts.name, facts] as const))('%s', (_name, facts) => {
  const connect = (more: object = {}) => facts.connect(rig().account, more);

  test('an answer, field by field', async () => {
    const { data, request_id: requestId } = await connect()
      .messages.create(request('reasoning-and-tool'))
      .withResponse();
    const whole = messagesShape.whole('reasoning-and-tool', answerOf('reasoning-and-tool'));
    expect(data as unknown).toEqual(whole);
    expect(requestId).toStartWith('req_');
  });

  test('case 153: the helpers for text, thinking and events see the whole stream', async () => {
    const stream = connect().messages.stream(request('reasoning'));
    const seen = { text: '', thinking: '', signature: '', usage: {} as object };
    stream.on('text', (text) => {
      seen.text += text;
    });
    stream.on('thinking', (thinking) => {
      seen.thinking += thinking;
    });
    stream.on('signature', (signature) => {
      seen.signature += signature;
    });
    stream.on('streamEvent', (event) => {
      if (event.type === 'message_delta') seen.usage = event.usage;
    });
    expect(await stream.finalText()).toBe(HELLO);
    expect(seen).toEqual({
      text: HELLO,
      thinking: REASONING,
      signature: expect.stringMatching(/./),
      usage: {
        input_tokens: 6,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 4,
        output_tokens: 5,
        svc_tokens_debited: '16.4',
        svc_cost_usd: '0.0000164',
        svc_balance_tokens: expect.stringMatching(/^\d+(\.\d+)?$/),
        svc_fallback_used: false,
        svc_outcome: 'completed',
      },
    });
    expect(stream.request_id).toStartWith('req_');
  });

  test('an error in the middle of a stream has the bill', async () => {
    const stream = connect().messages.stream(request('cut'));
    const failed = await stream.finalMessage().catch((error: unknown) => error);
    expect(field(failed, 'error', 'error')).toMatchObject({
      svc_tokens_debited: expect.stringMatching(/^\d+(\.\d+)?$/),
      svc_outcome: 'upstream_failed',
    });
  });

  test('images and system prompts reach the model', async () => {
    await connect().messages.create({
      ...request('ok'),
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            { type: 'image', source: { type: 'url', url: 'https://images.example/a.png' } },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    });
    expect(rig().upstream.requests.at(-1)?.body['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: 'image_url', image_url: { url: 'https://images.example/a.png' } },
          { type: 'text', text: 'What is it?' },
        ],
      },
    ]);
  });

  test('case 16: models are listed, page by page, and found by slug', async () => {
    const listed = await Array.fromAsync(connect().models.list());
    expect(listed.map(({ id }) => id)).toEqual([...MODELS]);
    const model = await connect().models.retrieve('ok');
    expect(model).toMatchObject({ id: 'ok', type: 'model', display_name: 'ok' });
    expect(new Date(model.created_at).toISOString()).toStartWith(model.created_at.slice(0, -1));
    const missing = await connect()
      .models.retrieve('no-such-model')
      .catch((error: unknown) => field(error, 'status'));
    expect(missing).toBe(404);
  });

  test('case 3: tokens are counted, by the beta resource too', async () => {
    const { messages, beta } = connect();
    const body = { model: 'ok', messages: [user()] };
    const few = await messages.countTokens(body);
    const more = await messages.countTokens({ ...body, tools });
    expect(few).toEqual({ input_tokens: expect.any(Number) });
    expect(more.input_tokens).toBeGreaterThan(few.input_tokens);
    expect(field(await beta.messages.countTokens(body), 'input_tokens')).toBe(few.input_tokens);
  });

  test.each([
    ['bearer', (key: string) => ({ apiKey: null, authToken: key })],
    ['x-api-key', (key: string) => ({ defaultHeaders: { authorization: null, 'x-api-key': key } })],
  ])('case 4: a key sent as %s works', async (_form, settings) => {
    const message = await connect(settings(rig().account.key)).messages.create(request('ok'));
    expect(message.stop_reason).toBe('end_turn');
  });
});
