// The openai library, four majors of it, against the executable.

import { describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import OpenAI4 from 'openai-4';
import OpenAI5 from 'openai-5';
import OpenAI6 from 'openai-6';
import { chatShape } from '../support/formats/chat.ts';
import { answerOf } from '../support/formats/shape.ts';
import { testLibraries } from './contract.ts';
import {
  CITY_SCHEMA,
  type Connection,
  field,
  type Library,
  openaiFailure,
  PNG,
  type Reading,
  SDK_ERRORS,
  TOOLS,
  type Tool,
  textField,
  usageOf,
} from './library.ts';
import { MODELS, useClientRig } from './rig.ts';

type Completions = OpenAI['chat']['completions'];

type Major = {
  readonly name: string;
  readonly connect: (connection: Connection) => OpenAI;
  /** Where the accumulator and the tool runner are. */
  readonly helpers: (client: OpenAI) => Completions;
  /** Whether the tool runner gives fields back that the library does not know. */
  readonly givesUnknownBack: boolean;
};

const inChat = (client: OpenAI) => client.chat.completions;
const inBeta = (client: OpenAI) => field(client.beta, 'chat', 'completions') as Completions;

const MAJORS: readonly Major[] = [
  major('openai 4', OpenAI4, { helpers: inBeta, givesUnknownBack: true }),
  major('openai 5', OpenAI5, { helpers: inChat, givesUnknownBack: true }),
  major('openai 6', OpenAI6, { helpers: inChat, givesUnknownBack: false }),
  major('openai 7', OpenAI, { helpers: inChat, givesUnknownBack: false }),
];

/** The majors are typed as the newest one: what is used here is the same in all of them. */
function major(
  name: string,
  library: unknown,
  facts: Pick<Major, 'helpers' | 'givesUnknownBack'>,
): Major {
  const Client = library as typeof OpenAI;
  return {
    ...facts,
    name,
    connect: ({ url, key, maxRetries = 0, fetch }) =>
      new Client({ baseURL: `${url}/v1`, apiKey: key, maxRetries, ...(fetch && { fetch }) }),
  };
}

const tools = TOOLS.map(({ name, description, schema }) => ({
  type: 'function' as const,
  function: { name, description, parameters: schema },
}));

const user = (content = 'Hello?') => ({ role: 'user' as const, content });

function library({ name, connect, helpers, givesUnknownBack }: Major): Library {
  const request = (model: string) => ({ model, messages: [user()], tools });
  const options = ({ signal }: Connection) => (signal === undefined ? {} : { signal });
  return {
    name,
    format: 'chat',
    finish: { stop: 'stop', length: 'length', tool_calls: 'tool_calls' },
    errors: SDK_ERRORS,
    failure: openaiFailure,
    ways: [
      {
        name: 'create',
        streamed: false,
        ask: async (connection, model) =>
          readCompletion(
            await connect(connection).chat.completions.create(request(model), options(connection)),
          ),
      },
      {
        name: 'create, chunk by chunk',
        streamed: true,
        ask: async (connection, model) => {
          const body = { ...request(model), stream: true as const };
          const stream = connect(connection).chat.completions.create(body, options(connection));
          return readChunks(await Array.fromAsync(await stream));
        },
      },
      {
        name: 'stream, finalChatCompletion',
        streamed: true,
        // The accumulator keeps the last value of a field that it does not know.
        view: { reasoning: 'last piece' },
        ask: async (connection, model) => {
          const completions = helpers(connect(connection));
          const stream = completions.stream(request(model), options(connection));
          return readCompletion(await stream.finalChatCompletion());
        },
      },
    ],
    rounds: [
      {
        name: 'runTools',
        replays: givesUnknownBack ? 'all' : 'none',
        run: (connection, tool) =>
          finalContent(helpers(connect(connection)).runTools(runnerBody(tool))),
      },
      {
        name: 'runTools, streamed',
        replays: givesUnknownBack ? 'last piece' : 'none',
        run: (connection, tool) =>
          finalContent(
            helpers(connect(connection)).runTools({ ...runnerBody(tool), stream: true }),
          ),
      },
    ],
  };
}

async function finalContent(runner: {
  readonly finalContent: () => Promise<string | null>;
}): Promise<string> {
  return String(await runner.finalContent());
}

function runnerBody(tool: Tool) {
  return {
    model: 'tool-round',
    messages: [user('Weather?')],
    tools: [
      {
        type: 'function' as const,
        function: {
          name: 'get_weather',
          description: 'The weather of a city.',
          parameters: CITY_SCHEMA,
          parse: JSON.parse,
          function: tool,
        },
      },
    ],
  };
}

function readCompletion(completion: OpenAI.ChatCompletion): Reading {
  const [choice] = completion.choices;
  const { usage } = completion;
  return {
    text: choice?.message.content ?? '',
    reasoning: textField(choice?.message, 'reasoning_content') ?? '',
    calls: (choice?.message.tool_calls ?? []).map((call) => ({
      id: call.id,
      name: String(field(call, 'function', 'name')),
      json: String(field(call, 'function', 'arguments')),
    })),
    finish: String(choice?.finish_reason),
    usage: usageOf(
      usage?.prompt_tokens,
      usage?.prompt_tokens_details?.cached_tokens,
      usage?.completion_tokens,
    ),
    debited: textField(completion, 'svc_tokens_debited') ?? textField(usage, 'svc_tokens_debited'),
  };
}

/** What a user of the library does who reads the chunks without its help. */
function readChunks(chunks: readonly OpenAI.ChatCompletionChunk[]): Reading {
  const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta ?? []);
  const calls: { id: string; name: string; json: string }[] = [];
  for (const part of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const call = calls[part.index] ?? { id: '', name: '', json: '' };
    calls[part.index] = {
      id: call.id + (part.id ?? ''),
      name: call.name + (part.function?.name ?? ''),
      json: call.json + (part.function?.arguments ?? ''),
    };
  }
  const last = chunks.at(-1);
  const usages = chunks.flatMap((chunk) => chunk.usage ?? []);
  expect(usages.length).toBeLessThanOrEqual(1);
  return {
    text: deltas.map((delta) => delta.content ?? '').join(''),
    reasoning: deltas.map((delta) => textField(delta, 'reasoning_content') ?? '').join(''),
    calls,
    finish: chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? []).join(' '),
    usage: usageOf(
      usages[0]?.prompt_tokens,
      usages[0]?.prompt_tokens_details?.cached_tokens,
      usages[0]?.completion_tokens,
    ),
    debited: textField(last, 'svc_tokens_debited'),
  };
}

const rig = useClientRig();
testLibraries(MAJORS.map(library), rig);

describe.each(MAJORS.map((facts) => [facts.name, facts] as const))('%s', (_name, facts) => {
  const connect = (more: Partial<Connection> = {}) => facts.connect({ ...rig().account, ...more });

  test('an answer, field by field', async () => {
    const { data, request_id: requestId } = await connect()
      .chat.completions.create({ model: 'reasoning-and-tool', messages: [user()] })
      .withResponse();
    const whole = chatShape.whole('reasoning-and-tool', answerOf('reasoning-and-tool'));
    expect(data as unknown).toEqual(whole);
    expect(requestId).toStartWith('req_');
  });

  test('case 187: the accumulator hands the whole bill on', async () => {
    const stream = facts.helpers(connect()).stream({ model: 'ok', messages: [user()] });
    expect(await stream.finalChatCompletion()).toMatchObject({
      model: 'ok',
      svc_tokens_debited: '16.4',
      svc_cost_usd: '0.0000164',
      svc_balance_tokens: expect.stringMatching(/^\d+(\.\d+)?$/),
      svc_fallback_used: false,
      svc_outcome: 'completed',
    } as object);
  });

  test('an error in the middle of a stream has the bill', async () => {
    const stream = facts.helpers(connect()).stream({ model: 'cut', messages: [user()] });
    const failed = await stream.finalChatCompletion().catch((error: unknown) => error);
    expect(field(failed, 'error')).toMatchObject({
      svc_tokens_debited: expect.stringMatching(/^\d+(\.\d+)?$/),
      svc_outcome: 'upstream_failed',
    });
  });

  test('the tool runner adds the usage of its requests up', async () => {
    const runner = facts.helpers(connect()).runTools(runnerBody(() => 'sunny'));
    expect(await runner.totalUsage()).toMatchObject({ prompt_tokens: 20, completion_tokens: 10 });
  });

  test('case 71: a strict tool and an answer cut by its length', async () => {
    const body = runnerBody(() => 'sunny');
    const [tool] = body.tools;
    const strict = tool && [{ ...tool, function: { ...tool.function, strict: true } }];
    const runner = facts
      .helpers(connect())
      .runTools({ ...body, model: 'finish-length', tools: strict ?? [], stream: true });
    const failed = await runner.finalContent().catch((error: unknown) => String(error));
    expect(failed).toContain('length limit was reached');
  });

  test('images, system prompts and JSON mode reach the model', async () => {
    const messages = [
      // A prompt that names JSON reaches the model as it is.
      { role: 'system' as const, content: 'Be brief. Answer in JSON.' },
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: 'What is it?' },
          { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
    ];
    const mode = { response_format: { type: 'json_object' as const } };
    await connect().chat.completions.create({ model: 'ok', messages, ...mode });
    expect(rig().upstream.requests.at(-1)?.body).toMatchObject({ messages, ...mode });
  });

  test('case 16: models are listed, page by page, and found by slug', async () => {
    const listed = await Array.fromAsync(connect().models.list());
    expect(listed.map(({ id }) => id)).toEqual([...MODELS]);
    const model = await connect().models.retrieve('ok');
    expect(model).toMatchObject({ id: 'ok', object: 'model', owned_by: 'tollgate' });
    expect(model.created).toBeNumber();
    const missing = await connect()
      .models.retrieve('no-such-model')
      .catch((error: unknown) => field(error, 'code'));
    expect(missing).toBe('model_not_found');
  });
});
