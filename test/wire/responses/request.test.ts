// What a Responses request may not refer to, because nothing is stored, and what is left out of it.

import { expect, test } from 'bun:test';
import { GatewayError } from '../../../src/core/error.ts';
import { parseResponses } from '../../../src/wire/responses/request.ts';

const user = { role: 'user', content: 'Hello?' };

function parsed(more: Readonly<Record<string, unknown>>) {
  const value = { model: 'swift-1', input: [user], ...more };
  return parseResponses({ value, text: JSON.stringify(value) });
}

/** The parameter that a refusal names, and its text. */
function refusalOf(
  more: Readonly<Record<string, unknown>>,
): readonly [param: string, text: string] {
  try {
    parsed(more);
  } catch (error) {
    if (error instanceof GatewayError) return [error.param ?? '', error.message];
    throw error;
  }
  throw new Error('it was accepted');
}

test.each([
  ['previous_response_id', { previous_response_id: 'resp_1' }],
  ['conversation', { conversation: 'conv_1' }],
  ['prompt', { prompt: { id: 'pmpt_1' } }],
  ['background', { background: true }],
  ['input[1]', { input: [user, { type: 'item_reference', id: 'msg_1' }, user] }],
  ['input[1]', { input: [user, { id: 'msg_1' }, user] }],
  ['input[1]', { input: [user, { type: 'compaction', encrypted_content: 'x' }, user] }],
  ['input[1]', { input: [user, { type: 'context_compaction', encrypted_content: 'x' }] }],
  ['input[1]', { input: [user, { type: 'compaction_trigger' }] }],
  ['tool_choice', { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }],
])('%s refers to what is not stored or not run here', (param, more) => {
  expect(refusalOf(more)[0]).toBe(param);
});

test('an answer with citations comes back as one without', () => {
  const answer = (annotations: readonly object[]) => {
    const content = [{ type: 'output_text', text: 'One.', annotations, logprobs: [] }];
    return parsed({ input: [user, { type: 'message', role: 'assistant', content }, user] }).turns;
  };
  const range = { start_index: 0, end_index: 3 };
  const citation = { type: 'url_citation', ...range, url: 'https://example.com', title: 'a' };
  expect(answer([citation])).toEqual(answer([]));
});

test('a refused reference names the setting that clients need', () => {
  const [, text] = refusalOf({ input: [{ type: 'item_reference', id: 'fc_1' }] });
  expect(text).toContain('store set to false');
});

test('references to reasoning, and items and tools of the vendor are left out', () => {
  const { turns, tools } = parsed({
    input: [
      user,
      { type: 'item_reference', id: 'rs_1' },
      { type: null, id: 'rs_2' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'constructor' },
      { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'text' },
    ],
    tools: [{ type: 'function', name: 'read' }, { type: 'web_search' }, { type: 'tool_search' }],
  });
  expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(tools.map(({ name }) => name)).toEqual(['read']);
});

test.each([{}, { call_id: null }])('a result without a call is text of the user: %p', (more) => {
  const result = { type: 'function_call_output', name: 'inbox', output: 'Mail.', ...more };
  const { turns } = parsed({ input: [user, result] });
  const { parts } = Object(turns[1]);
  expect([turns[1]?.role, parts.length]).toEqual(['user', 1]);
  expect(parts[0].text).toEndWith('\nMail.');
});

test('tools of a namespace have one name, and their calls too', () => {
  const read = { type: 'function', name: 'read', parameters: { type: 'object' } };
  const { turns, tools } = parsed({
    input: [
      { type: 'additional_tools', tools: [{ type: 'namespace', name: 'files', tools: [read] }] },
      user,
      { type: 'function_call', call_id: 'c', name: 'read', namespace: 'files', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] },
    ],
  });
  expect(tools).toMatchObject([
    { name: 'files__read', inNamespace: { namespace: 'files', name: 'read' } },
  ]);
  expect(turns[1]).toMatchObject({ toolCalls: [{ id: 'c', name: 'files__read' }] });
});

test('two tools that would share one name are refused, and a repeated one counts once', () => {
  const read = { type: 'function', name: 'read' };
  const space = (name: string) => ({ type: 'namespace', name, tools: [read] });
  expect(parsed({ tools: [space('files'), space('files')] }).tools).toHaveLength(1);
  const twins = [space('files__'), { type: 'function', name: 'files__read' }];
  for (const other of twins) expect(refusalOf({ tools: [space('files'), other] })[0]).toBe('tools');
});

test.each([
  ['files', 'read', 'files__read'],
  ['files__', 'read', 'files__read'],
  ['files', 'files__read', 'files__read'],
  ['file', 'files_read', 'file__files_read'],
  ['search', 'search', 'search__search'],
])('the tool of the namespace %s and the name %s is %s', (namespace, name, whole) => {
  const tool = { type: 'function', name };
  // A tool without a namespace may have its name.
  const { tools, turns } = parsed({
    tools: [
      { type: 'namespace', name: namespace, tools: [tool] },
      { type: 'function', name: 'search' },
    ],
    input: [
      user,
      { type: 'function_call', call_id: 'c', name, namespace, arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ],
  });
  expect(tools).toMatchObject([
    { name: whole, inNamespace: { namespace, name } },
    { name: 'search' },
  ]);
  expect(turns[1]).toMatchObject({ toolCalls: [{ name: whole }] });
});

test('a choice allows no more tools than a request may have', () => {
  const read = { type: 'function', name: 'read' };
  const choice = (count: number) => ({
    tools: [read],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: Array(count).fill(read) },
  });
  expect(parsed(choice(128)).tools).toHaveLength(1);
  expect(refusalOf(choice(129))[0]).toBe('tool_choice');
});

test('an answer repeats up to 262,144 characters of the request, ignored members included', () => {
  const repeatedOf = (length: number) => {
    const metadata = { long: 'x'.repeat(length) };
    return parsed({ metadata, tools: [{ type: 'web_search' }], temperature: 1 }).repeated;
  };
  expect(repeatedOf(261_000)).toMatchObject({ tools: [{ type: 'web_search' }], temperature: 1 });
  expect(repeatedOf(262_144)).toEqual({ text: { format: { type: 'text' } } });
});
