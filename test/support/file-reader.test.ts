// The model for agent runs finds the file-reading tool of each agent.

import { expect, test } from 'bun:test';
import { noteAnswer, noteText, noteThinking, readNote } from './file-reader.ts';
import type { RecordedRequest } from './upstream.ts';

const PATH = '/project/note-1.txt';

function asked(body: Record<string, unknown>): RecordedRequest {
  const text = JSON.stringify(body);
  return { text, body, earlier: 0 } as RecordedRequest;
}

const question = { role: 'user', content: `Read the file ${PATH} and tell me its word.` };
const text = { type: 'string' };
const other = { type: 'function', function: { name: 'write', parameters: {} } };
const tool = (name: string, parameters: unknown) => [
  other,
  { type: 'function', function: { name, parameters } },
];

/** What the model calls, and with which arguments. */
function calls(tools: unknown): unknown {
  const { pieces, finish } = readNote(asked({ messages: [question], tools }));
  const thinking = pieces.map((piece) => ('reasoning' in piece ? piece.reasoning : '')).join('');
  const json = pieces.map((piece) => ('json' in piece ? piece.json : '')).join('');
  const name = pieces.map((piece) => ('name' in piece ? piece.name : '')).join('');
  expect([finish, thinking]).toEqual(['tool_calls', noteThinking(PATH)]);
  return [name, JSON.parse(json)];
}

test.each<[tools: unknown, called: unknown]>([
  [
    tool('Read', { properties: { limit: { type: 'number' }, path: text }, required: ['path'] }),
    ['Read', { path: PATH }],
  ],
  [
    tool('read_files', {
      properties: {
        files: { type: 'array', items: { properties: { path: text }, required: ['path'] } },
      },
      required: ['files'],
    }),
    ['read_files', { files: [{ path: PATH }] }],
  ],
  [
    [{ name: 'read_file', input_schema: { properties: { file: text }, required: ['file'] } }],
    ['read_file', { file: PATH }],
  ],
])('calls the tool that reads files: %#', (tools, called) => {
  expect(calls(tools)).toEqual(called);
});

test('answers with the word once it is there', () => {
  const result = { role: 'tool', tool_call_id: 'call_1', content: noteText('willow') };
  const { pieces, finish } = readNote(
    asked({ messages: [question, result], tools: tool('Read', {}) }),
  );
  expect([pieces, finish]).toEqual([[{ text: noteAnswer('willow') }], 'stop']);
});

test('answers without a call where there is no such tool', () => {
  expect(readNote(asked({ messages: [question] })).finish).toBe('stop');
  expect(readNote(asked({ messages: [question], tools: [other] })).finish).toBe('stop');
});
