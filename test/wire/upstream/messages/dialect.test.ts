// The URL and headers of a Messages upstream, by its profile.

import { expect, test } from 'bun:test';
import { DEFAULT_PROFILE, type MessagesProfile } from '../../../../src/core/profile.ts';
import { messagesDialect } from '../../../../src/wire/upstream/messages/dialect.ts';

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
  expect({ path: dialect.path, headers: dialect.headers(key) }).toEqual({
    path: '/v1/messages',
    headers,
  });
});
