// The URL and headers of a Messages upstream, by its profile.

import { expect, test } from 'bun:test';
import { DEFAULT_PROFILE, type MessagesProfile } from '../../../../src/core/profile.ts';
import { messagesDialect } from '../../../../src/wire/upstream/messages/dialect.ts';
import { CALL, written } from './support.ts';

const json = { 'content-type': 'application/json' };
const versioned = { ...json, 'anthropic-version': '2023-06-01' };

const ROWS: [
  name: string,
  profile: Partial<MessagesProfile>,
  key: string,
  headers: Record<string, string>,
][] = [
  ['a key', {}, 'k', { ...versioned, 'x-api-key': 'k' }],
  ['a bearer', { credential: 'bearer' }, 'k', { ...versioned, authorization: 'Bearer k' }],
  ['no key', {}, '', versioned],
  ['no bearer', { credential: 'bearer' }, '', versioned],
  ['a version', { version: '2026-10-21' }, '', { ...json, 'anthropic-version': '2026-10-21' }],
];

test.each(ROWS)('the headers with %s', (_name, profile, key, headers) => {
  const dialect = messagesDialect({ ...DEFAULT_PROFILE.messages, ...profile });
  expect({ path: dialect.path(CALL), headers: dialect.headers(key) }).toEqual({
    path: '/v1/messages',
    headers,
  });
});

const VERTEX = { address: 'vertex', version: 'vertex-2023-10-16' } as const;

test.each([
  ['claude-opus-5-5@20261001', false, '/claude-opus-5-5@20261001:rawPredict'],
  ['claude-opus-5-5@20261001', true, '/claude-opus-5-5@20261001:streamRawPredict'],
  ['a/../b:c?d#e', true, '/a%2F..%2Fb%3Ac%3Fd%23e:streamRawPredict'],
])('the path of %s at Vertex, stream: %p', (model, stream, path) => {
  const dialect = messagesDialect({ ...DEFAULT_PROFILE.messages, ...VERTEX });
  expect(dialect.path({ ...CALL, model, stream })).toBe(path);
});

test('the body for Vertex has the version in place of the model', () => {
  const dialect = messagesDialect({ ...DEFAULT_PROFILE.messages, ...VERTEX });
  expect(dialect.headers('')).toEqual(json);
  const { model: _, ...rest } = written({});
  expect(written({}, VERTEX)).toEqual({ ...rest, anthropic_version: 'vertex-2023-10-16' });
});
