// Which schemas the Messages format accepts, and what a server with structured output receives.

import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../../src/core/generation.ts';
import { takesSchema } from '../../../../src/wire/upstream/messages/answer-schema.ts';
import { written } from './support.ts';

const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const reference = { $ref: '#/$defs/a' };

describe('takes', () => {
  test.each<[name: string, schema: JsonObject]>([
    [
      'plain values',
      closed({ a: { type: 'string', description: 'A.' }, b: { type: ['null', 'integer'] } }),
    ],
    ['lists', closed({ a: { type: 'array', items: closed({}), minItems: 1 } })],
    [
      'choices',
      closed({ a: { enum: ['x', null] }, b: { anyOf: [{ const: 1 }, { type: 'null' }] } }),
    ],
    ['formats', closed({ a: { type: 'string', format: 'date-time' } })],
    ['references', closed({ a: reference, b: reference }, { $defs: { a: closed({}) } })],
    ['members of any name', closed({ minimum: { type: 'number' }, $ref: { type: 'string' } })],
    ['a list at its root', { type: 'array', items: { type: 'string' } }],
  ])('%s', (_name, schema) => expect(takesSchema(schema)).toBe(true));
});

describe('leaves to the prompt', () => {
  test.each<[name: string, schema: JsonObject]>([
    ['an open object', { type: 'object', properties: {} }],
    ['an object open by its word', closed({}, { additionalProperties: { type: 'string' } })],
    ['an open object inside', closed({ a: { type: ['object', 'null'] } })],
    ['bounds', closed({ a: { type: 'number', minimum: 0 } })],
    ['lengths', closed({ a: { type: 'string', maxLength: 3 } })],
    ['more than one entry', closed({ a: { type: 'array', items: {}, minItems: 2 } })],
    ['objects to choose from', closed({ a: { enum: [{}] } })],
    ['other formats', closed({ a: { type: 'string', format: 'regex' } })],
    ['unknown words', closed({ a: { not: {} } })],
    ['recursion', closed({ a: reference }, { $defs: { a: closed({ a: reference }) } })],
    ['a reference to itself', { $ref: '#' }],
    ['a reference to nothing', closed({ a: reference })],
    ['a reference to elsewhere', closed({ a: { $ref: 'https://example.com/a' } })],
    ['what is no schema', closed({ a: true })],
    ['a long chain of references', closed({ a: { $ref: '#/$defs/d0' } }, { $defs: chain(10_000) })],
  ])('%s', (_name, schema) => expect(takesSchema(schema)).toBe(false));
});

function chain(length: number): JsonObject {
  const links = Array.from({ length }, (_, index) => [
    `d${index}`,
    { $ref: `#/$defs/d${index + 1}` },
  ]);
  return Object.fromEntries([...links, [`d${length}`, { type: 'null' }]]);
}

describe('a server with the switch', () => {
  const schema = closed({ a: { type: 'string' } });
  const asked = (given: JsonObject, jsonSchema: 'send' | 'both') =>
    written(
      { json: true, schema: { name: 'a', schema: given, strict: true }, reasoning: 'high' },
      { jsonSchema, thinkingSwitch: 'adaptive' },
    );

  test('is sent the schema beside the effort, and no instruction', () => {
    expect(asked(schema, 'send')).toMatchObject({
      output_config: { effort: 'high', format: { type: 'json_schema', schema } },
    });
    expect(asked(schema, 'send')).not.toHaveProperty('system');
  });

  test('gets a schema that it would refuse in the prompt', () => {
    const body = asked({ type: 'object' }, 'send');
    expect(body).toMatchObject({ output_config: { effort: 'high' } });
    expect(body).not.toHaveProperty('output_config.format');
    expect(body['system']).toEndWith('\n{"type":"object"}');
  });

  test('whose models see nothing of it gets it both ways', () => {
    const body = asked(schema, 'both');
    expect(body).toHaveProperty('output_config.format.schema', schema);
    expect(body['system']).toEndWith(`\n${JSON.stringify(schema)}`);
  });
});
