// Which requests may read the metrics: a table of source address and credentials.

import { describe, expect, test } from 'bun:test';
import { createOperatorAccess } from '../../src/http/operator-access.ts';

const TOKEN = 'a-token-of-the-operator-0123456789abcdef';
const KEY = `sk-${'a'.repeat(48)}`;

type Row = readonly [address: string, headers: Record<string, string>, isOperator: boolean];

function expectRows(access: ReturnType<typeof createOperatorAccess>, rows: readonly Row[]): void {
  const seen = rows.map(([address, headers]) => [
    address,
    headers,
    access.isOperator(new Headers(headers), address),
  ]);
  expect(seen).toEqual(rows.map((row) => [...row]));
}

describe('without a token', () => {
  const access = createOperatorAccess({ token: undefined, isPublished: false });

  test('accepts requests from this machine without a proxy', () => {
    expectRows(access, [
      ['127.0.0.1', {}, true],
      ['127.8.9.1', {}, true],
      ['::1', {}, true],
      ['::ffff:127.0.0.1', {}, true],
      ['192.0.2.1', {}, false],
      ['10.0.0.1', {}, false],
      ['::ffff:10.0.0.1', {}, false],
      ['fe80::1', {}, false],
      ['', {}, false],
      ['nonsense', {}, false],
      ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, false],
      ['127.0.0.1', { 'x-forwarded-for': '' }, false],
      ['127.0.0.1', { 'X-Forwarded-Proto': 'https' }, false],
      ['127.0.0.1', { 'x-forwarded-host': 'gateway.example' }, false],
      ['127.0.0.1', { 'x-real-ip': '192.0.2.1' }, false],
      ['::1', { forwarded: 'for=192.0.2.1' }, false],
      ['::1', { via: '1.1 proxy' }, false],
      ['192.0.2.1', { authorization: `Bearer ${KEY}` }, false],
      ['192.0.2.1', { authorization: 'Bearer ' }, false],
      ['192.0.2.1', { authorization: 'Bearer undefined' }, false],
    ]);
  });

  test('accepts no request where a proxy on this machine lets strangers through', () => {
    const published = createOperatorAccess({ token: undefined, isPublished: true });
    expectRows(published, [
      ['127.0.0.1', {}, false],
      ['::1', {}, false],
    ]);
  });

  test('a refusal names the setting', () => {
    expect(access.hint).toContain('METRICS_TOKEN');
  });
});

describe('with a token', () => {
  const access = createOperatorAccess({ token: TOKEN, isPublished: true });

  test('accepts it from any address, and no other request', () => {
    expectRows(access, [
      ['192.0.2.1', { authorization: `Bearer ${TOKEN}` }, true],
      ['192.0.2.1', { authorization: `bearer   ${TOKEN}` }, true],
      ['127.0.0.1', { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '192.0.2.1' }, true],
      ['127.0.0.1', {}, false],
      ['127.0.0.1', { authorization: TOKEN }, false],
      ['127.0.0.1', { authorization: `Basic ${TOKEN}` }, false],
      ['127.0.0.1', { authorization: `Bearer ${TOKEN}x` }, false],
      ['127.0.0.1', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, false],
      ['127.0.0.1', { authorization: `Bearer ${TOKEN} x` }, false],
      ['127.0.0.1', { authorization: 'Bearer ' }, false],
      ['127.0.0.1', { authorization: `Bearer ${KEY}` }, false],
      ['127.0.0.1', { 'x-api-key': TOKEN }, false],
    ]);
  });

  test('the hint does not say the token', () => {
    expect(access.hint).not.toContain(TOKEN);
  });
});
