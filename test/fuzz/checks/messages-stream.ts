// The grammar of a Messages stream, as the strictest published clients demand it. Reads a whole
// stream and fails at the first thing that is out of place; gives what a client would have.

import assert from 'node:assert/strict';
import type { Outcome } from '../../../src/core/generation.ts';
import type { AnswerHead } from '../../../src/wire/format.ts';
import { messageStart } from '../../support/message-start.ts';
import type { Shown } from './chat-stream.ts';
import { type Json, members } from './json.ts';

type Event = { readonly name: string; readonly data: ReturnType<typeof members> };

type Block = {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  content: string;
  signatures: number;
};

/** The delta of each kind of block, and the member that holds its text. */
const DELTAS: Readonly<Record<string, readonly [type: string, member: string]>> = {
  text: ['text_delta', 'text'],
  thinking: ['thinking_delta', 'thinking'],
  tool_use: ['input_json_delta', 'partial_json'],
};

const ERROR_TYPES = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'rate_limit_error',
  'request_too_large',
  'overloaded_error',
  'api_error',
];

/** `failed` where the stream was ended by `fail`. */
export function readMessagesStream(stream: string, head: AnswerHead, failed: boolean): Shown {
  const events = readRecords(stream).filter(({ name }) => name !== 'ping');
  const [start, ...rest] = events;
  assert.deepEqual(start?.data, messageStart(`msg_${head.id}`, head.model));
  if (failed) {
    const outcome = readError(rest.pop(), head);
    return { ...shown(readBlocks(rest, true)), finish: undefined, outcome };
  }
  assert.deepEqual(rest.pop(), { name: 'message_stop', data: { type: 'message_stop' } });
  const ending = readEnding(rest.pop());
  return { ...shown(readBlocks(rest, false)), ...ending };
}

function readRecords(stream: string): Event[] {
  assert.ok(stream.endsWith('\n\n'), 'the last record is whole');
  return stream
    .slice(0, -2)
    .split('\n\n')
    .map((record) => {
      const [, name, data] = record.match(/^event: ([a-z_]+)\ndata: (\{[^\r\n]*\})$/) ?? [];
      assert.ok(name !== undefined && data !== undefined, 'an event line and a data line a record');
      const value = members(JSON.parse(data) as Json);
      assert.equal(value['type'], name);
      return { name, data: value };
    });
}

/** Blocks strictly one after the other; the last may be open where an error ended the stream. */
function readBlocks(events: readonly Event[], mayStayOpen: boolean): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const { name, data } of events) {
    if (name === 'content_block_start') {
      assert.equal(open, undefined, 'one block is open at a time');
      assert.equal(data['index'], blocks.length, 'blocks are numbered from 0 without gaps');
      open = readBlockStart(data);
      assert.ok(
        open.type !== 'thinking' || blocks.at(-1)?.type !== 'thinking',
        'thinking in a row is one block',
      );
      blocks.push(open);
      continue;
    }
    assert.ok(open !== undefined, `${name} belongs to an open block`);
    assert.equal(data['index'], blocks.length - 1);
    if (name === 'content_block_stop') {
      checkClosed(open);
      open = undefined;
    } else {
      assert.equal(name, 'content_block_delta');
      readDelta(open, members(data['delta']));
    }
  }
  assert.ok(mayStayOpen || open === undefined, 'every block is closed');
  return blocks;
}

function readBlockStart(data: Event['data']): Block {
  assert.deepEqual(Object.keys(data), ['type', 'index', 'content_block']);
  const block = members(data['content_block']);
  const { id = '', name = '' } = block;
  const type = String(block['type']);
  const empty: Readonly<Record<string, object>> = {
    text: { type: 'text', text: '' },
    thinking: { type: 'thinking', thinking: '', signature: '' },
    tool_use: { type: 'tool_use', id, name, input: {} },
  };
  assert.deepEqual(block, empty[type], 'a block starts empty');
  if (type === 'tool_use') {
    assert.match(String(id), /^[A-Za-z0-9_-]+$/);
    assert.notEqual(name, '');
  }
  return { type, id: String(id), name: String(name), content: '', signatures: 0 };
}

function readDelta(block: Block, delta: Event['data']): void {
  assert.equal(block.signatures, 0, 'the signature is the last delta of its block');
  if (delta['type'] === 'signature_delta') {
    assert.equal(block.type, 'thinking');
    assert.ok(typeof delta['signature'] === 'string' && delta['signature'] !== '');
    block.signatures += 1;
    return;
  }
  const [type, member] = DELTAS[block.type] ?? ['', ''];
  assert.deepEqual(Object.keys(delta), ['type', member]);
  assert.equal(delta['type'], type, 'a delta is of the kind of its block');
  assert.equal(typeof delta[member], 'string');
  block.content += String(delta[member]);
}

function checkClosed(block: Block): void {
  assert.equal(block.signatures, block.type === 'thinking' ? 1 : 0, 'one signature a thinking');
}

function shown(blocks: readonly Block[]): Pick<Shown, 'reasoning' | 'text' | 'calls'> {
  const joined = (type: string): string =>
    blocks.map((block) => (block.type === type ? block.content : '')).join('');
  const calls = blocks
    .filter((block) => block.type === 'tool_use')
    .map(({ id, name, content }) => ({ id, name, input: content === '' ? '{}' : content }));
  return { reasoning: joined('thinking'), text: joined('text'), calls };
}

function readEnding(event: Event | undefined): Pick<Shown, 'finish' | 'outcome'> {
  assert.equal(event?.name, 'message_delta');
  const { delta, usage, ...others } = members(event?.data);
  assert.deepEqual(others, { type: 'message_delta' });
  const { stop_reason: reason, stop_details: details, ...rest } = members(delta);
  const refused = { type: 'refusal', category: null, explanation: null };
  if (details !== undefined) assert.deepEqual(details, refused);
  assert.deepEqual(rest, { stop_sequence: null });
  assert.ok(['end_turn', 'max_tokens', 'tool_use'].includes(String(reason)));
  const counts = members(usage);
  for (const key of [
    'input_tokens',
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
    'output_tokens',
  ]) {
    assert.ok(Number.isInteger(counts[key]) && Number(counts[key]) >= 0);
  }
  assert.ok(Number(counts['cache_creation_input_tokens']) <= Number(counts['input_tokens']));
  for (const key of ['svc_tokens_debited', 'svc_cost_usd', 'svc_balance_tokens']) {
    assert.equal(typeof counts[key], 'string');
  }
  assert.equal(typeof counts['svc_fallback_used'], 'boolean');
  return { finish: String(reason), outcome: counts['svc_outcome'] as Outcome };
}

function readError(event: Event | undefined, head: AnswerHead): Outcome | undefined {
  assert.equal(event?.name, 'error');
  const { error, ...others } = members(event?.data);
  assert.deepEqual(others, { type: 'error' });
  const { type, message, code, request_id: id, svc_outcome: outcome } = members(error);
  assert.ok(ERROR_TYPES.includes(String(type)));
  assert.ok(typeof message === 'string' && typeof code === 'string');
  assert.equal(id, head.requestId);
  return outcome as Outcome | undefined;
}
