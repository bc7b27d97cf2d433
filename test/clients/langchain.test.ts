// LangChain's chat models against the executable. Never with `streaming: true` and `invoke`,
// which fetches a tokenizer from the network.

import { expect, test } from 'bun:test';
import { ChatAnthropic } from '@langchain/anthropic';
import {
  type AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { testLibraries } from './contract.ts';
import {
  type Connection,
  field,
  type Library,
  PNG,
  type Reading,
  SDK_ERRORS,
  TOOLS,
  textField,
  usageOf,
  type View,
} from './library.ts';
import { useClientRig } from './rig.ts';

type Model = ChatOpenAI | ChatAnthropic;

type Facts = Pick<Library, 'name' | 'format' | 'finish' | 'errors'> & {
  readonly connect: (connection: Connection, slug: string) => Model;
  readonly read: (message: AIMessageChunk) => Reading;
  readonly codePath: readonly string[];
  readonly replays: 'all' | 'none';
  readonly view?: View;
  readonly streamedView: View;
};

const ERRORS = {
  context_length_exceeded: 'ContextOverflowError',
  ...SDK_ERRORS,
};

const CHAT: Facts = {
  name: '@langchain/openai',
  format: 'chat',
  finish: { stop: 'stop', length: 'length', tool_calls: 'tool_calls' },
  errors: ERRORS,
  connect: ({ url, key, maxRetries = 0, fetch }, model) =>
    new ChatOpenAI({
      model,
      apiKey: key,
      maxRetries,
      configuration: { baseURL: `${url}/v1`, ...(fetch && { fetch }) },
    }),
  read: (message) => ({
    ...readMessage(message),
    reasoning: textField(message.additional_kwargs, 'reasoning_content') ?? '',
    finish: String(message.response_metadata['finish_reason']),
  }),
  codePath: ['code'],
  replays: 'none',
  streamedView: { debitedWithoutUsage: null },
};

const RESPONSES: Facts = {
  name: '@langchain/openai, Responses',
  format: 'responses',
  finish: { stop: 'completed', length: 'max_output_tokens', tool_calls: 'completed' },
  errors: ERRORS,
  connect: ({ url, key, maxRetries = 0, fetch }, model) =>
    new ChatOpenAI({
      ...{ model, apiKey: key, maxRetries, useResponsesApi: true },
      // Its own setting is for models of OpenAI alone.
      modelKwargs: { reasoning: { summary: 'auto' } },
      configuration: { baseURL: `${url}/v1`, ...(fetch && { fetch }) },
    }),
  read: (message) => ({
    ...readMessage(message),
    reasoning: message.contentBlocks
      .map((block) => (block.type === 'reasoning' ? textField(block, 'reasoning') : ''))
      .join(''),
    finish: String(
      textField(message.response_metadata, 'incomplete_details', 'reason') ??
        message.response_metadata['status'],
    ),
  }),
  codePath: ['code'],
  replays: 'all',
  // It keeps the counts of a whole answer alone.
  view: { debited: null },
  streamedView: {},
};

const MESSAGES: Facts = {
  name: '@langchain/anthropic',
  format: 'messages',
  finish: { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' },
  errors: ERRORS,
  connect: ({ url, key, maxRetries = 0, fetch }, model) =>
    new ChatAnthropic({
      model,
      apiKey: key,
      maxRetries,
      maxTokens: 100,
      anthropicApiUrl: url,
      ...(fetch && { clientOptions: { fetch } }),
    }),
  read: (message) => ({
    ...readMessage(message),
    reasoning: Array.isArray(message.content)
      ? message.content.map((block) => textField(block, 'thinking') ?? '').join('')
      : '',
    finish: String(message.additional_kwargs['stop_reason']),
  }),
  codePath: ['error', 'error', 'code'],
  replays: 'all',
  // It reads the prompt's counts from message_start alone, where they are not known yet.
  streamedView: { usage: { input: 0, cached: 0, output: 5 }, debited: null },
};

function readMessage(message: AIMessageChunk): Omit<Reading, 'reasoning' | 'finish'> {
  return {
    text: message.text,
    calls: (message.tool_calls ?? []).map(({ id = '', name, args }) => ({
      id,
      name,
      json: JSON.stringify(args),
    })),
    usage: usageOf(
      field(message, 'usage_metadata', 'input_tokens'),
      field(message, 'usage_metadata', 'input_token_details', 'cache_read'),
      field(message, 'usage_metadata', 'output_tokens'),
    ),
    debited: textField(message.response_metadata, 'usage', 'svc_tokens_debited'),
  };
}

const tools = TOOLS.map(({ name, description, schema }) => ({
  type: 'function' as const,
  function: { name, description, parameters: schema },
}));

async function streamed(
  model: Model,
  input: Parameters<Model['invoke']>[0],
  connection: Connection,
): Promise<AIMessageChunk> {
  const stream = await model.bindTools(tools).stream(input, options(connection));
  const chunks = await Array.fromAsync(stream);
  return chunks.reduce((whole, chunk) => whole.concat(chunk));
}

const options = ({ signal }: Connection) => (signal === undefined ? {} : { signal });

function library(given: Facts): Library {
  const { connect, read, codePath, replays, view = {}, streamedView, ...facts } = given;
  return {
    ...facts,
    failure: (error) => {
      // An error of its own keeps the one of the client library as its cause.
      const source = field(error, 'cause') ?? error;
      return {
        name: error instanceof Error ? error.constructor.name : '',
        status: Number(field(source, 'status')) || null,
        code: textField(source, ...codePath),
        message: String(field(error, 'message')),
        requestId: textField(source, 'requestID'),
      };
    },
    ways: [
      {
        name: 'invoke',
        streamed: false,
        view,
        ask: async (connection, slug) => {
          const model = connect(connection, slug).bindTools(tools);
          return read(await model.invoke('Hello?', options(connection)));
        },
      },
      {
        name: 'stream',
        streamed: true,
        view: streamedView,
        ask: async (connection, slug) =>
          read(await streamed(connect(connection, slug), 'Hello?', connection)),
      },
    ],
    rounds: [
      {
        name: 'invoke, and the message sent back',
        replays,
        run: async (connection, tool) => {
          const model = connect(connection, 'tool-round').bindTools(tools);
          const messages = [new HumanMessage('Weather?')];
          const first = await model.invoke(messages);
          return (await model.invoke([...messages, first, ...resultsOf(first, tool)])).text;
        },
      },
      {
        name: 'stream, and the chunks sent back as one',
        replays,
        run: async (connection, tool) => {
          const model = connect(connection, 'tool-round');
          const messages = [new HumanMessage('Weather?')];
          const first = await streamed(model, messages, connection);
          const history = [...messages, first, ...resultsOf(first, tool)];
          return (await streamed(model, history, connection)).text;
        },
      },
    ],
  };
}

function resultsOf(message: AIMessageChunk, tool: (input: { city: string }) => string) {
  return (message.tool_calls ?? []).map(
    ({ id = '', args }) =>
      new ToolMessage({ tool_call_id: id, content: tool(args as { city: string }) }),
  );
}

const rig = useClientRig();
testLibraries([CHAT, RESPONSES, MESSAGES].map(library), rig);

test.each([CHAT, RESPONSES, MESSAGES])(
  '$name: images and system prompts reach the model',
  async (facts) => {
    const url = `data:image/png;base64,${PNG}`;
    const text = { type: 'text', text: 'What is it?' };
    const image = { type: 'image_url', image_url: { url } };
    await facts
      .connect(rig().account, 'ok')
      .invoke([new SystemMessage('Be brief.'), new HumanMessage({ content: [text, image] })]);
    expect(rig().upstream.requests.at(-1)?.body['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [text, image] },
    ]);
  },
);

test('an object is asked for in JSON mode', async () => {
  const model = new ChatOpenAI({
    model: 'echo',
    apiKey: rig().account.key,
    configuration: { baseURL: `${rig().account.url}/v1` },
  });
  const asked = model.withStructuredOutput(
    { type: 'object', properties: { model: { type: 'string' } } },
    { method: 'jsonMode' },
  );
  expect(await asked.invoke('Hello?')).toMatchObject({
    model: 'echo',
    response_format: { type: 'json_object' },
  });
});
