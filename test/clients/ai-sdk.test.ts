// The AI SDK, three majors of it, each with the providers that people point at a gateway, against
// the executable. The default model of the OpenAI provider speaks the Responses format.

import { describe, expect, test } from 'bun:test';
import * as ai5 from 'ai-5';
import { createAnthropic as createAnthropic5 } from 'ai-5-anthropic';
import { createOpenAICompatible as createCompatible5 } from 'ai-5-compatible';
import { createOpenAI as createOpenAI5 } from 'ai-5-openai';
import * as ai6 from 'ai-6';
import { createAnthropic as createAnthropic6 } from 'ai-6-anthropic';
import { createOpenAICompatible as createCompatible6 } from 'ai-6-compatible';
import { createOpenAI as createOpenAI6 } from 'ai-6-openai';
import * as ai7 from 'ai-7';
import { createAnthropic as createAnthropic7 } from 'ai-7-anthropic';
import { createOpenAICompatible as createCompatible7 } from 'ai-7-compatible';
import { createOpenAI as createOpenAI7 } from 'ai-7-openai';
import { HELLO, REASONING } from '../support/behaviours.ts';
import { testLibraries } from './contract.ts';
import {
  type Connection,
  field,
  type Library,
  PNG,
  type Reading,
  TOOLS,
  type Tool,
  textField,
  usageOf,
  type View,
} from './library.ts';
import { recordFetch, useClientRig } from './rig.ts';

type Ai = typeof ai7;
type ToolSet = ai7.ToolSet;
type StreamTextResult = ReturnType<typeof ai7.streamText>;
type Model = ReturnType<ReturnType<typeof createCompatible7>>;
type Connect = (connection: Connection, slug: string) => Model;

type Provider = Pick<Library, 'name' | 'format'> & {
  readonly ai: Ai;
  readonly connect: Connect;
  /** Whether `reasoning_content`, or a thinking block, is read. */
  readonly readsReasoning: boolean;
  /** What a major shows otherwise than the others. */
  readonly view: View;
  readonly options?: ProviderOptions;
  /** Its finish reason of a stream that broke, where it is not "error". */
  readonly broken?: string;
};

type ProviderOptions = NonNullable<Parameters<typeof ai7.generateText>[0]['providerOptions']>;

/**
 * What the Responses provider needs: whole items instead of references to stored ones, and thinking
 * from models whose names are not OpenAI's.
 */
const STATELESS: ProviderOptions = {
  openai: { store: false, forceReasoning: true, reasoningSummary: 'auto' },
};

const PROVIDERS: readonly Provider[] = [
  ...providers(5, [ai5, createCompatible5, createOpenAI5, createAnthropic5], {
    // It counts the cached tokens apart from the others, as the format does.
    usage: { input: 6, cached: 4, output: 5 },
    streamErrorCode: null,
  }),
  ...providers(6, [ai6, createCompatible6, createOpenAI6, createAnthropic6], {
    streamErrorCode: null,
  }),
  ...providers(7, [ai7, createCompatible7, createOpenAI7, createAnthropic7], {}),
];

/**
 * The majors are typed as the newest one: what is used here is the same in all of them. `view` is
 * what the provider of the Messages format shows otherwise.
 */
function providers(major: number, library: readonly unknown[], view: View): Provider[] {
  const [ai, createCompatible, createOpenAI, createAnthropic] = library as [
    Ai,
    typeof createCompatible7,
    typeof createOpenAI7,
    typeof createAnthropic7,
  ];
  const chat = { ai, format: 'chat' as const, view: {} };
  return [
    {
      ai,
      format: 'responses',
      name: `ai ${major}, openai responses`,
      view: {},
      // Major 5 asks only models of OpenAI to think.
      readsReasoning: major > 5,
      connect: (connection, slug) => createOpenAI(settings(connection))(slug) as Model,
      options: STATELESS,
      ...(major === 5 && { broken: 'unknown' }),
    },
    {
      ...chat,
      name: `ai ${major}, openai-compatible`,
      readsReasoning: true,
      connect: (connection, slug) =>
        createCompatible({ name: 'tollgate', ...settings(connection) })(slug),
    },
    {
      ...chat,
      name: `ai ${major}, openai`,
      readsReasoning: false,
      connect: (connection, slug) => createOpenAI(settings(connection)).chat(slug),
    },
    {
      ai,
      view,
      format: 'messages',
      name: `ai ${major}, anthropic`,
      readsReasoning: true,
      // With /v1, unlike the other clients of the format.
      connect: (connection, slug) => createAnthropic(settings(connection))(slug),
    },
  ];
}

function settings({ url, key, fetch }: Connection) {
  return {
    baseURL: `${url}/v1`,
    apiKey: key,
    ...(fetch && { fetch: fetch as typeof globalThis.fetch }),
  };
}

const STATUSES = [400, 401, 402, 403, 404, 413, 429, 503];

function library(provider: Provider): Library {
  const { ai, name, format, connect, readsReasoning } = provider;
  const view: View = { ...provider.view, ...(readsReasoning ? {} : { reasoning: 'none' }) };
  const request = (connection: Connection, slug: string) => ({
    model: connect(connection, slug),
    prompt: 'Hello?',
    maxOutputTokens: 100,
    maxRetries: connection.maxRetries ?? 0,
    tools: toolsOf(ai),
    ...(provider.options && { providerOptions: provider.options }),
    ...(connection.signal && { abortSignal: connection.signal }),
  });
  return {
    name,
    format,
    finish: { stop: 'stop', length: 'length', tool_calls: 'tool-calls' },
    errors: Object.fromEntries(STATUSES.map((status) => [status, 'AI_APICallError'])),
    failure: readFailure,
    // It does not read x-should-retry.
    asksAgainWhenTold: 2,
    ways: [
      {
        name: 'generateText',
        streamed: false,
        view,
        ask: async (connection, slug) => {
          const result = await ai.generateText(request(connection, slug));
          // The body is not kept by all majors; the header says the same.
          const debited = textField(result.response.headers, 'x-svc-tokens-debited');
          return readResult(result, debited);
        },
      },
      {
        name: 'streamText',
        streamed: true,
        view,
        ask: async (connection, slug) => {
          const ignore = () => {};
          const asked = { ...request(connection, slug), includeRawChunks: true, onError: ignore };
          return readStream(ai.streamText(asked));
        },
      },
    ],
    rounds: [
      {
        name: 'generateText',
        replays: readsReasoning ? 'all' : 'none',
        run: async (connection, tool) => {
          const result = await ai.generateText({
            ...request(connection, 'tool-round'),
            tools: toolsOf(ai, tool),
            stopWhen: ai.stepCountIs(3),
          });
          return result.text;
        },
      },
      {
        name: 'streamText',
        replays: readsReasoning ? 'all' : 'none',
        run: async (connection, tool) => {
          const result = ai.streamText({
            ...request(connection, 'tool-round'),
            tools: toolsOf(ai, tool),
            stopWhen: ai.stepCountIs(3),
          });
          return await result.text;
        },
      },
    ],
  };
}

/** Both tools; the first one is run by the library where there is something to run. */
function toolsOf(ai: Ai, run?: Tool): ToolSet {
  const [weather, time] = TOOLS;
  return {
    get_weather: {
      description: weather.description,
      inputSchema: ai.jsonSchema(weather.schema),
      ...(run && { execute: async (input: unknown) => run(input as { city: string }) }),
    },
    get_time: { description: time.description, inputSchema: ai.jsonSchema(time.schema) },
  };
}

type Result = {
  readonly text: string;
  readonly reasoningText: string | undefined;
  readonly toolCalls: readonly unknown[];
  readonly finishReason: string;
  readonly usage: unknown;
};

function readResult(result: Result, debited: string | null): Reading {
  const { usage } = result;
  return {
    text: result.text,
    reasoning: result.reasoningText ?? '',
    calls: result.toolCalls.map((call) => ({
      id: String(field(call, 'toolCallId')),
      name: String(field(call, 'toolName')),
      json: JSON.stringify(field(call, 'input')),
    })),
    finish: result.finishReason,
    usage: usageOf(
      field(usage, 'inputTokens'),
      // Its place in the newer majors and in the older one.
      field(usage, 'inputTokenDetails', 'cacheReadTokens') ?? field(usage, 'cachedInputTokens'),
      field(usage, 'outputTokens'),
    ),
    debited,
  };
}

/** Errors and aborts are parts of the stream here; a reader who looks at the text alone misses them. */
async function readStream(stream: StreamTextResult): Promise<Reading> {
  let raw: unknown;
  let debited: string | null = null;
  for await (const part of stream.fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'abort') throw new Error('aborted');
    if (part.type !== 'raw') continue;
    raw = part.rawValue;
    debited =
      textField(raw, 'svc_tokens_debited') ??
      textField(raw, 'usage', 'svc_tokens_debited') ??
      textField(raw, 'response', 'usage', 'svc_tokens_debited') ??
      debited;
  }
  const [text, reasoningText, toolCalls, finishReason, usage] = await Promise.all([
    stream.text,
    stream.reasoningText,
    stream.toolCalls,
    stream.finishReason,
    stream.usage,
  ]);
  return readResult({ text, reasoningText, toolCalls, finishReason, usage }, debited);
}

/** Some providers wrap the error of a stream. */
function messageOf(error: unknown): string {
  return String(field(error, 'message') ?? field(error, 'error', 'message'));
}

function readFailure(error: unknown) {
  const body = textField(error, 'responseBody');
  return {
    name: String(field(error, 'name')),
    status: Number(field(error, 'statusCode')) || null,
    code:
      textField(body === null ? error : JSON.parse(body).error, 'code') ??
      textField(error, 'error', 'code'),
    message: messageOf(error),
    requestId: textField(error, 'responseHeaders', 'x-request-id'),
  };
}

// What it prints about models that it does not know is of no use here.
Reflect.set(globalThis, 'AI_SDK_LOG_WARNINGS', false);

const rig = useClientRig();
testLibraries(PROVIDERS.map(library), rig);

describe.each(PROVIDERS.map((provider) => [provider.name, provider] as const))(
  '%s',
  (_name, { ai, connect, format, broken = 'error' }) => {
    test.concurrent.each(['cut', 'error-in-stream'])(
      'case 177: %s: who reads the text alone sees it in the finish reason',
      async (slug) => {
        const errors: unknown[] = [];
        const stream = ai.streamText({
          model: connect(rig().account, slug),
          prompt: 'Hello?',
          maxOutputTokens: 100,
          maxRetries: 0,
          includeRawChunks: true,
          onError: ({ error }) => {
            errors.push(messageOf(error));
          },
        });
        expect(await stream.text).toBe(HELLO);
        expect(String(await stream.finishReason)).toBe(broken);
        // Responses has two events for it, which the newer majors both report.
        const stopped = expect.stringContaining('stopped before its answer');
        expect(errors).toEqual(errors.map(() => stopped));
        expect(errors).not.toBeEmpty();
        const parts = await Array.fromAsync(stream.fullStream);
        const raw = parts.findLast((part) => part.type === 'raw');
        expect(field(raw, 'rawValue', 'error')).toMatchObject({
          svc_tokens_debited: expect.stringMatching(/^\d+(\.\d+)?$/),
          svc_outcome: 'upstream_failed',
        });
      },
    );

    test('images and system prompts reach the model', async () => {
      const image = { type: 'image' as const, image: PNG, mediaType: 'image/png' };
      const text = { type: 'text' as const, text: 'What is it?' };
      await ai.generateText({
        model: connect(rig().account, 'ok'),
        system: 'Be brief.',
        messages: [{ role: 'user', content: [text, image] }],
        maxOutputTokens: 100,
      });
      expect(rig().upstream.requests.at(-1)?.body['messages']).toEqual([
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            text,
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          ],
        },
      ]);
    });

    if (format !== 'chat') return;
    test('an object is asked for in JSON mode', async () => {
      const { object } = await ai.generateObject({
        model: connect(rig().account, 'echo'),
        prompt: 'Hello?',
        schema: ai.jsonSchema({ type: 'object', properties: { model: { type: 'string' } } }),
      });
      expect(object).toMatchObject({
        model: 'echo',
        response_format: { type: 'json_object' },
      });
    });
  },
);

test.each([
  ['ai 6', ai6 as unknown as Ai, createOpenAI6],
  ['ai 7', ai7, createOpenAI7],
] as const)('%s refers to thinking by default, which is put back', async (_name, ai, create) => {
  const { fetch, bodies } = recordFetch();
  const model = create(settings({ ...rig().account, fetch }))('tool-round') as Model;
  const tools = toolsOf(ai, () => 'sunny');
  const stopWhen = ai.stepCountIs(3);
  const { text } = await ai.generateText({ model, prompt: 'Weather?', tools, stopWhen });
  expect(text).toBe('It is sunny.');
  expect(bodies.at(-1)?.['input']).toMatchObject([
    { role: 'user' },
    { type: 'item_reference', id: expect.stringMatching(/^rs_/) },
    { type: 'function_call' },
    { type: 'function_call_output' },
  ]);
  expect(rig().upstream.requests.at(-1)?.body['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', reasoning_content: REASONING },
    { role: 'tool' },
  ]);
});
