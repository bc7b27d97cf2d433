// The instructions a model gets about the form of its answer.

import { describe, expect, test } from 'bun:test';
import {
  formatInstruction,
  saysJson,
  saysSchema,
  withInstruction,
} from '../../src/core/answer-format.ts';
import type { GenerationRequest } from '../../src/core/generation.ts';
import { requestWith, user } from '../support/request.ts';

const OBJECT = 'Answer with one JSON object and nothing else: no text around it, no code fence.';
const MATCHING = 'Answer with JSON and nothing else: no text around it, no code fence.';
const SCHEMA = { type: 'object', properties: { a: { const: '"é"' } } };
const TEXT = '{"type":"object","properties":{"a":{"const":"\\"é\\""}}}';

const request = (more: Partial<GenerationRequest>): GenerationRequest =>
  requestWith({ json: true, ...more });

describe('the instruction', () => {
  test.each([
    ['of a request that wants any text', { json: false }, ''],
    ['of one that wants an object', {}, OBJECT],
    [
      'of one with a schema',
      { schema: { name: 'a', schema: SCHEMA } },
      `${MATCHING} It must match this JSON schema:\n${TEXT}`,
    ],
    [
      'of one whose schema has a purpose',
      { schema: { name: 'a', description: 'For maps.', schema: SCHEMA, strict: true } },
      `${MATCHING} It must match this JSON schema:\nFor maps.\n${TEXT}`,
    ],
    [
      'of one whose prompt has the schema',
      { schema: { name: 'a', schema: SCHEMA }, saysSchema: true },
      MATCHING,
    ],
  ])('%s', (_name, more, expected) => {
    expect(formatInstruction(request(more))).toBe(expected);
  });

  test('stands behind the system prompt, and alone where there is none', () => {
    expect(withInstruction(request({ system: 'Be brief.' })).system).toBe(`Be brief.\n\n${OBJECT}`);
    expect(withInstruction(request({ system: ' ' })).system).toBe(OBJECT);
  });
});

test.each<[name: string, more: Partial<GenerationRequest>, expected: boolean]>([
  ['the system prompt', { system: 'Write json.' }, true],
  ['the first turn', { turns: [user('As Json, please')] }, true],
  ['neither', { system: 'Be brief.' }, false],
  ['a later turn alone', { turns: [user('Hi'), user('JSON')] }, false],
  ['no turn at all', { turns: [] }, false],
  ['a first turn of tools', { turns: [{ role: 'system', text: 'JSON' }] }, true],
])('whether the head says "JSON": %s', (_name, more, expected) => {
  expect(saysJson(request(more))).toBe(expected);
});

test.each<[name: string, more: Partial<GenerationRequest>, expected: boolean]>([
  ['the system prompt', { system: `Match ${TEXT}!` }, true],
  ['the first turn, spaced', { turns: [user(JSON.stringify(SCHEMA, null, 2))] }, true],
  ['neither', { system: 'Match the schema.' }, false],
  ['another one', { system: TEXT.replace('object', 'array') }, false],
  ['a later turn alone', { turns: [user('Hi'), user(TEXT)] }, false],
  ['a prompt too long to be searched', { system: `${' '.repeat(131_072)}${TEXT}` }, false],
])('whether the head says the schema: %s', (_name, more, expected) => {
  expect(saysSchema({ name: 'a', schema: SCHEMA }, request(more))).toBe(expected);
});
