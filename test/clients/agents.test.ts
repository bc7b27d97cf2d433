// The OpenAI Agents SDK, which speaks the Responses format, against the executable.

import { describe, expect, test } from 'bun:test';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { HELLO, REASONING } from '../support/behaviours.ts';
import { CITY_SCHEMA, field } from './library.ts';
import { recordFetch, useClientRig } from './rig.ts';

// Traces would go to OpenAI.
setTracingDisabled(true);

const rig = useClientRig();

const schema = { ...CITY_SCHEMA, required: ['city'], additionalProperties: false as const };

/** Thinking is asked for, so that it comes back with the call that it led to. */
const modelSettings = { reasoning: { summary: 'auto' as const } };

/** Runs an agent to its end, with what it sent. */
async function run(agent: Agent, stream: boolean, input = 'Weather?') {
  const { url, key } = rig().account;
  const recording = recordFetch();
  const openAIClient = new OpenAI({
    ...{ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, fetch: recording.fetch },
  });
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) });
  if (!stream) return { result: await runner.run(agent, input), recording };
  const result = await runner.run(agent, input, { stream: true });
  await result.completed;
  return { result, recording };
}

function weather(cities: unknown[]) {
  return tool({
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: schema,
    strict: true,
    execute: async (input) => {
      cities.push(field(input, 'city'));
      return 'sunny';
    },
  });
}

describe.each([
  ['whole', false],
  ['streamed', true],
])('%s', (_name, stream) => {
  test('answers', async () => {
    const { result } = await run(new Agent({ name: 'A', model: 'ok' }), stream);
    expect(result.finalOutput).toBe(HELLO);
    const { usage } = result.state;
    expect([usage.inputTokens, usage.outputTokens]).toEqual([10, 5]);
  });

  test('runs a tool, and gives the thinking back with its call', async () => {
    const cities: unknown[] = [];
    const tools = [weather(cities)];
    const agent = new Agent({ name: 'A', model: 'tool-round', modelSettings, tools });
    const { result, recording } = await run(agent, stream);
    expect({ output: result.finalOutput, cities }).toEqual({
      ...{ output: 'It is sunny.', cities: ['Paris'] },
    });
    expect(recording.bodies.at(-1)?.['input']).toMatchObject([
      { role: 'user', content: 'Weather?' },
      { type: 'reasoning', summary: [{ text: REASONING }] },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
    ]);
    expect(rig().upstream.requests.at(-1)?.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', reasoning_content: REASONING },
      { role: 'tool', content: 'sunny' },
    ]);
  });

  test('hands over to another agent', async () => {
    const other = new Agent({ name: 'Other', model: 'ok' });
    const { recording } = await run(
      new Agent({ name: 'A', model: 'ok', handoffs: [other] }),
      stream,
    );
    expect(recording.bodies.at(-1)?.['tools']).toMatchObject([{ name: 'transfer_to_Other' }]);
    expect(recording.statuses).toEqual([200]);
  });

  test('an answer cut by its length is an error, and its end says why', async () => {
    const agent = new Agent({ name: 'A', model: 'finish-length' });
    const failed = await run(agent, stream).catch((error: unknown) => String(error));
    expect(failed).toContain(stream ? 'response.incomplete' : 'incomplete');
  });

  test('a refusal is an error with its code', async () => {
    const failed = await run(new Agent({ name: 'A', model: 'no-such-model' }), stream).catch(
      (error: unknown) => field(error, 'code'),
    );
    expect(failed).toBe('model_not_found');
  });

  test('an upstream that breaks off is an error', async () => {
    const failed = await run(new Agent({ name: 'A', model: 'cut' }), stream).catch(
      (error: unknown) => String(error),
    );
    expect(failed).toContain(stream ? 'response.failed' : 'not available at the moment');
  });
});
