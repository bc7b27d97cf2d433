// The openai library's Responses calls, four majors of it, against the executable.

import { describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import OpenAI4 from 'openai-4';
import OpenAI5 from 'openai-5';
import OpenAI6 from 'openai-6';
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
  type View,
} from './library.ts';
import { useClientRig } from './rig.ts';

type Connect = (connection: Connection) => OpenAI;
type Input = OpenAI.Responses.ResponseInput;

/** The accumulator of older majors knows no answer that was cut: it never sees its end. */
const UNENDED: View = { cut: { finish: 'in_progress', usage: null, debited: null } };

const MAJORS: readonly (readonly [name: string, connect: Connect, accumulated: View])[] = [
  ['openai 4', connectTo(OpenAI4), UNENDED],
  ['openai 5', connectTo(OpenAI5), UNENDED],
  ['openai 6', connectTo(OpenAI6), {}],
  ['openai 7', connectTo(OpenAI), {}],
];

/** The majors are typed as the newest one: what is used here is the same in all of them. */
function connectTo(library: unknown): Connect {
  const Client = library as typeof OpenAI;
  return ({ url, key, maxRetries = 0, fetch }) =>
    new Client({ baseURL: `${url}/v1`, apiKey: key, maxRetries, ...(fetch && { fetch }) });
}

type Required<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];
type Response = Omit<OpenAI.Responses.Response, 'output_text'>;

/** The members of a response that its type requires; the library adds `output_text`. */
const REQUIRED: Readonly<Record<Required<Response>, true>> = {
  ...{ id: true, object: true, access_programs: true, created_at: true, error: true, model: true },
  ...{ incomplete_details: true, instructions: true, metadata: true, output: true, tools: true },
  ...{ parallel_tool_calls: true, temperature: true, tool_choice: true, top_p: true },
};

const tools = TOOLS.map(({ name, description, schema }) => ({
  ...{ type: 'function' as const, name, description, parameters: schema, strict: null },
}));

/** Without it, no thinking is shown. */
const reasoning = { summary: 'auto' as const };

function library([name, connect, accumulated]: (typeof MAJORS)[number]): Library {
  const request = (model: string) => ({ model, input: 'Hello?', tools, reasoning });
  const options = ({ signal }: Connection) => (signal === undefined ? {} : { signal });
  return {
    name,
    format: 'responses',
    finish: { stop: 'completed', length: 'max_output_tokens', tool_calls: 'completed' },
    errors: SDK_ERRORS,
    failure: openaiFailure,
    ways: [
      {
        name: 'create',
        streamed: false,
        ask: async (connection, model) =>
          readResponse(
            await connect(connection).responses.create(request(model), options(connection)),
          ),
      },
      {
        name: 'create, event by event',
        streamed: true,
        ask: async (connection, model) => {
          const body = { ...request(model), stream: true as const };
          const stream = await connect(connection).responses.create(body, options(connection));
          return readEvents(await Array.fromAsync(stream));
        },
      },
      {
        name: 'stream, finalResponse',
        streamed: true,
        view: accumulated,
        ask: async (connection, model) => {
          const { responses } = connect(connection);
          const stream = responses.stream(request(model), options(connection));
          return readResponse(await stream.finalResponse());
        },
      },
    ],
    rounds: [
      {
        name: 'create, and the output sent back',
        replays: 'all',
        run: (connection, tool) =>
          runRound(tool, (input) => connect(connection).responses.create(roundBody(input))),
      },
      {
        name: 'stream, and the output sent back',
        replays: 'all',
        run: (connection, tool) =>
          runRound(tool, (input) => {
            return connect(connection).responses.stream(roundBody(input)).finalResponse();
          }),
      },
    ],
  };
}

function roundBody(input: Input) {
  const [weather] = tools;
  return { model: 'tool-round', input, tools: weather ? [weather] : [], reasoning };
}

/** What a program does that calls the tools itself: all items go back, and the outputs. */
async function runRound(
  tool: Tool,
  ask: (input: Input) => Promise<OpenAI.Responses.Response>,
): Promise<string> {
  const input: Input = [{ role: 'user', content: 'Weather?' }];
  const { output } = await ask(input);
  const outputs = output.flatMap((item) =>
    item.type === 'function_call'
      ? [
          {
            type: 'function_call_output' as const,
            call_id: item.call_id,
            output: tool(JSON.parse(item.arguments)),
          },
        ]
      : [],
  );
  return textOf(await ask([...input, ...(output as Input), ...outputs]));
}

function textOf({ output }: OpenAI.Responses.Response): string {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  return parts.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
}

function readResponse(response: OpenAI.Responses.Response): Reading {
  const { output, usage, status, incomplete_details: incomplete } = response;
  const summaries = output.flatMap((item) => (item.type === 'reasoning' ? item.summary : []));
  return {
    text: textOf(response),
    reasoning: summaries.map(({ text }) => text).join(''),
    calls: output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ id: item.call_id, name: item.name, json: item.arguments }]
        : [],
    ),
    finish: String(incomplete?.reason ?? status),
    usage: usageOf(
      usage?.input_tokens,
      usage?.input_tokens_details.cached_tokens,
      usage?.output_tokens,
    ),
    debited: textField(usage, 'svc_tokens_debited'),
  };
}

/** What a user of the library does who reads the deltas without its help. */
function readEvents(events: readonly OpenAI.Responses.ResponseStreamEvent[]): Reading {
  expect(events.map((event) => field(event, 'sequence_number'))).toEqual([...events.keys()]);
  const joined = (type: string): string =>
    events.map((event) => (event.type === type ? textField(event, 'delta') : '')).join('');
  const added = events.flatMap((event) =>
    event.type === 'response.output_item.added' && event.item.type === 'function_call'
      ? [event.item]
      : [],
  );
  const last = events.at(-1);
  const response = field(last, 'response') as OpenAI.Responses.Response;
  return {
    ...readResponse(response),
    text: joined('response.output_text.delta'),
    reasoning: joined('response.reasoning_summary_text.delta'),
    calls: added.map(({ id, call_id, name }) => ({
      ...{ id: call_id, name },
      json: events
        .map((event) =>
          event.type === 'response.function_call_arguments.delta' && event.item_id === id
            ? event.delta
            : '',
        )
        .join(''),
    })),
  };
}

const rig = useClientRig();
testLibraries(MAJORS.map(library), rig);

describe.each(MAJORS)('%s', (_name, connectMajor) => {
  const connect = () => connectMajor(rig().account);

  test('an error in the middle of a stream has the bill', async () => {
    const stream = await connect().responses.create({
      model: 'cut',
      input: 'Hello?',
      stream: true,
    });
    const events: unknown[] = [];
    const failed = await (async () => {
      for await (const event of stream) events.push(event);
    })().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Error);
    const bill = { svc_tokens_debited: expect.stringMatching(/^\d+(\.\d+)?$/) };
    expect(field(events.at(-1), 'response')).toMatchObject({
      ...{ status: 'failed', error: { code: 'provider_unavailable' }, usage: bill },
    });
  });

  test('images, instructions and a schema reach the model', async () => {
    const url = `data:image/png;base64,${PNG}`;
    const schema = { ...CITY_SCHEMA, additionalProperties: false };
    const { output_parsed: parsed, text } = await connect().responses.parse({
      model: 'echo',
      instructions: 'Be brief.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is it?' },
            { type: 'input_image', image_url: url, detail: 'auto' },
          ],
        },
      ],
      text: { format: { type: 'json_schema', name: 'city', schema, strict: true } },
    });
    expect(parsed).toMatchObject({
      messages: [
        { role: 'system', content: expect.stringContaining('Be brief.') },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
      response_format: { type: 'json_object' },
    });
    // LangChain parses by the format that comes back.
    expect(text?.format).toMatchObject({ type: 'json_schema', name: 'city', schema });
  });

  test('the end of an answer repeats the request once, and has all members of its type', async () => {
    const sent = {
      ...{ instructions: 'Be brief.', metadata: { run: '7' }, max_output_tokens: 50 },
      ...{ temperature: 0.5, top_p: 0.9, parallel_tool_calls: false },
      ...{ tools, tool_choice: { type: 'function' as const, name: 'get_weather' }, reasoning },
      ...{ text: { verbosity: 'low' as const } },
    };
    const end = { ...sent, text: { format: { type: 'text' }, ...sent.text } };
    const body = { ...sent, model: 'ok', input: 'Hello?' };
    const whole = await connect().responses.create(body);
    expect(whole).toMatchObject(end);
    const streamed = connect().responses.create({ ...body, stream: true });
    const events = await Array.fromAsync(await streamed);
    const responses = events.flatMap((event) => ('response' in event ? [event.response] : []));
    expect(responses.at(-1)).toMatchObject(end);
    expect(JSON.stringify(events).split(sent.instructions)).toHaveLength(2);
    for (const response of [whole, ...responses]) {
      expect(Object.keys(response)).toEqual(expect.arrayContaining(Object.keys(REQUIRED)));
    }
    // What is stored for a repeat of the request holds no prompt.
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const kept = await connect().responses.create(body, { headers });
    expect(kept).toMatchObject({ ...end, instructions: null, tools: [] });
  });

  test('a response is not stored: none is found by its id', async () => {
    const { id } = await connect().responses.create({ model: 'ok', input: 'Hello?', store: true });
    const missing = await connect()
      .responses.retrieve(id)
      .catch((error: unknown) => field(error, 'status'));
    expect(missing).toBe(404);
    const chained = await connect()
      .responses.create({ model: 'ok', input: 'And?', previous_response_id: id })
      .catch((error: unknown) => ({
        param: field(error, 'param'),
        status: field(error, 'status'),
      }));
    expect(chained).toEqual({ param: 'previous_response_id', status: 400 });
  });
});
