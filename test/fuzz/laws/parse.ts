// Request bodies: any bytes are a refusal with our own text or a valid request, and unknown members
// change nothing.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GatewayError } from '../../../src/core/error.ts';
import type { GenerationRequest, JsonValue, Turn } from '../../../src/core/generation.ts';
import { parseBody } from '../../../src/wire/body.ts';
import { parseCount } from '../../../src/wire/messages/request.ts';
import { toBytes } from '../inputs/recordings.ts';
import {
  FORMATS,
  type FormatName,
  type Request,
  requestBytes,
  unknownMembers,
  validRequest,
} from '../inputs/requests.ts';
import { SECRET } from '../inputs/text.ts';
import { type Member, render, type Tree } from '../inputs/tree.ts';
import { property } from '../property.ts';

const REASONING = ['off', 'on', 'low', 'high', 'max'];

/** The request, or the refusal. Any other error is a failure of the law. */
function parse(format: FormatName, bytes: Uint8Array): GenerationRequest | GatewayError {
  try {
    return FORMATS[format].parse(parseBody(bytes));
  } catch (error) {
    assert.ok(error instanceof GatewayError, `not a refusal: ${String(error)}`);
    return error;
  }
}

/** A request that the generator made to be valid. */
export function parseValid({ format, body }: Request): GenerationRequest {
  const request = parse(format, toBytes(render(body)));
  assert.ok(!(request instanceof GatewayError), `refused: ${String(request)}`);
  return request;
}

function checkRefusal(error: GatewayError): void {
  assert.equal(error.code, 'invalid_request');
  const { message, param = '' } = error;
  assert.ok(!`${message}${param}`.includes(SECRET), "a refusal never has the caller's values");
  assert.match(param, /^[a-z_]*(\[\d+\])?([.][a-z_]+(\[\d+\])?)*$/);
  assert.match(message, /^\P{Cc}{1,300}$/u);
}

function checkRequest(request: GenerationRequest): void {
  assert.notEqual(request.model, '');
  checkTurns(request.turns);
  const { maxOutputTokens, temperature = 0, topP = 1, tools, toolChoice, endUser } = request;
  const { tokens } = maxOutputTokens ?? { tokens: 1 };
  assert.ok(Number.isSafeInteger(tokens) && tokens >= 1);
  assert.ok(temperature >= 0 && temperature <= 2 && topP > 0 && topP <= 1);
  for (const penalty of [request.frequencyPenalty ?? 0, request.presencePenalty ?? 0]) {
    assert.ok(penalty >= -2 && penalty <= 2);
  }
  assert.ok(request.stop.length <= 16 && !request.stop.includes(''));
  const names = new Set(tools.map((tool) => tool.name));
  assert.ok(names.size === tools.length && names.size <= 128 && !names.has(''));
  if (toolChoice !== undefined) assert.ok(tools.length > 0, 'a choice needs tools');
  if (toolChoice?.kind === 'tool') assert.ok(names.has(toolChoice.name));
  if (request.reasoning !== undefined) assert.ok(REASONING.includes(request.reasoning));
  if (endUser !== undefined) {
    assert.ok(Array.from(endUser).length <= 256 && !endUser.includes('\0'));
  }
  checkStrings(request);
  for (const member of Object.values(request)) assert.notEqual(member, undefined);
}

/** Every text can be written as UTF-8: no upstream and no database takes half a character. */
function checkStrings(value: unknown): void {
  if (typeof value === 'string') assert.ok(value.isWellFormed(), 'half a character');
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    assert.ok(key.isWellFormed());
    checkStrings(member as JsonValue);
  }
}

/** Every result stands right behind its call, and only the very last calls may have none. */
function checkTurns(turns: readonly Turn[]): void {
  let open: string[] = [];
  let isBehindCalls = false;
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'tool') {
      assert.ok(isBehindCalls, 'a result follows its calls');
      const at = open.indexOf(turn.toolCallId);
      assert.notEqual(at, -1, 'every result has a call');
      open.splice(at, 1);
      continue;
    }
    assert.deepEqual(open, [], 'every call has a result');
    isBehindCalls = false;
    if (turn.role === 'system') assert.ok(index > 0 && turn.text !== '');
    if (turn.role === 'user') checkParts(turn.parts);
    if (turn.role !== 'assistant') continue;
    open = turn.toolCalls.map((call) => call.id);
    isBehindCalls = open.length > 0;
    assert.ok(!open.includes('') && turn.toolCalls.every((call) => call.name !== ''));
    if (index === turns.length - 1) return;
  }
  assert.deepEqual(open, [], 'every call has a result');
}

function checkParts(parts: Extract<Turn, { role: 'user' }>['parts']): void {
  assert.ok(parts.length > 0, 'a user turn has something to say');
  for (const part of parts) {
    if (part.kind === 'image') assert.match(part.url, /^(https?:\/\/|data:)/i);
  }
}

function checkBytes({ format, bytes }: { format: FormatName; bytes: Uint8Array }): void {
  const request = parse(format, bytes);
  if (request instanceof GatewayError) checkRefusal(request);
  else checkRequest(request);
}

function checkValid(request: Request): void {
  const parsed = parseValid(request);
  checkRequest(parsed);
  if (request.format !== 'messages') return;
  const body = parseBody(toBytes(render(request.body)));
  assert.deepEqual(parseCount(body), parsed, 'a token count reads the same request');
}

type Extended = { readonly request: Request; readonly extras: readonly Member[] };

function checkUnknown({ request, extras }: Extended): void {
  const text = render(request.body, extras);
  // Answers repeat some members with all that is in them.
  const generation = (parsed: object) => ({ ...parsed, repeated: undefined });
  assert.deepEqual(
    generation(parse(request.format, toBytes(text))),
    generation(parseValid(request)),
  );
}

function checkOrder(request: Request): void {
  const body = reversed(request.body);
  assert.deepEqual(parse(request.format, toBytes(render(body))), parseValid(request));
}

function reversed(tree: Tree): Tree {
  if ('list' in tree) return { list: tree.list.map(reversed) };
  if (!('members' in tree)) return tree;
  return { members: tree.members.map(([key, value]) => [key, reversed(value)] as const).reverse() };
}

export const PARSER_PROPERTIES = [
  property(
    'requests: any bytes are a refusal or a request of the contract',
    fc.record({ format: fc.constantFrom('chat', 'messages', 'responses'), bytes: requestBytes }),
    checkBytes,
  ),
  property('requests: what clients send is read', validRequest, checkValid),
  property(
    'requests: unknown members change nothing',
    fc.record({ request: validRequest, extras: unknownMembers }),
    checkUnknown,
  ),
  property('requests: the order of members changes nothing', validRequest, checkOrder),
];
