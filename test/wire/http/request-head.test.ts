import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { requestHeadWriter } from '../../../src/wire/http/request-head.ts';

const REQUEST = {
  target: '/v1/chat',
  host: 'a.example:8080',
  userAgent: 'tollgate/1',
  headers: {},
};

test('a head, whole', () => {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-1' };
  expect(requestHeadWriter({ ...REQUEST, host: '[::1]:81', headers })?.(12)).toBe(
    [
      'POST /v1/chat HTTP/1.1',
      'host: [::1]:81',
      'content-length: 12',
      'content-type: application/json',
      'authorization: Bearer sk-1',
      'user-agent: tollgate/1',
      'accept: */*',
      'accept-encoding: identity',
      'connection: keep-alive',
      '',
      '',
    ].join('\r\n'),
  );
});

test.each([
  ['a line end in a value', { headers: { a: 'b\r\nc: d' } }],
  ['a line feed in a value', { headers: { a: 'b\nc' } }],
  ['a NUL in a value', { headers: { a: 'b\0' } }],
  ['a letter outside ASCII', { headers: { a: 'ü' } }],
  ['a space before a value', { headers: { a: ' b' } }],
  ['a colon in a name', { headers: { 'a:b': 'c' } }],
  ['an empty name', { headers: { '': 'c' } }],
  ['a space in a target', { target: '/a b' }],
  ['a line end in a target', { target: '/a\r\nb: c' }],
  ['a target without a slash', { target: 'a' }],
  ['a line end in a host', { host: 'a\r\nb: c' }],
  ['a line end in a user agent', { userAgent: 'a\r\nb: c' }],
  ['no host', { host: '' }],
])('%s is not written', (_name, change) => {
  expect(requestHeadWriter({ ...REQUEST, ...change })).toBeUndefined();
});

test('no value makes a line of its own', () => {
  const text = fc.string({ unit: fc.constantFrom(...'\r\n\0 :aü\t') });
  fc.assert(
    fc.property(text, text, (name, value) => {
      const head = requestHeadWriter({ ...REQUEST, headers: { [name]: value } })?.(12);
      if (head !== undefined) expect(head.split(/[\r\n]+/)).toHaveLength(9);
    }),
  );
});
