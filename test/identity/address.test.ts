// Spellings of addresses and networks, and which hop of a request counts.

import { describe, expect, test } from 'bun:test';
import {
  clientAddress,
  createNetworkSet,
  normaliseAddress,
  normaliseNetwork,
} from '../../src/identity/address.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  [' 203.0.113.7 ', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['010.0.0.1', undefined],
  ['203.0.113.7:443', undefined],
  ['203.0.113', undefined],
  ['unknown', undefined],
  ['203.0.113.7%eth0', '203.0.113.7'],
  ['[203.0.113.7%25eth0]', '203.0.113.7'],
  ['%eth0', undefined],
  ['', undefined],
])('the address %p is %p', (text, expected) => {
  expect(normaliseAddress(text)).toBe(expected);
});

test.each([
  ['203.0.113.7', '203.0.113.7/32'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['10.255.2.3/9', '10.128.0.0/9'],
  ['10.1.2.3/0', '0.0.0.0/0'],
  ['2001:db8::1', '2001:db8::1/128'],
  ['2001:DB8:1:ffff::1/49', '2001:db8:1:8000::/49'],
  ['::1/0', '::/0'],
  ['::ffff:203.0.113.7/120', '203.0.113.0/24'],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0/', undefined],
  ['10.0.0.0/-1', undefined],
  ['2001:db8::/129', undefined],
  ['::ffff:203.0.113.7/95', undefined],
  ['example.com', undefined],
])('the network %p is %p', (text, expected) => {
  expect(normaliseNetwork(text)).toBe(expected);
});

test('a set of networks contains its addresses in every spelling, and nothing else', () => {
  const set = createNetworkSet(['10.0.0.0/8', '203.0.113.7', '2001:db8::/32']);
  const inside = ['10.9.9.9', '::ffff:10.9.9.9', '203.0.113.7', '2001:db8:ffff::1', 'fe80::1'];
  expect(inside.map(set.contains)).toEqual([true, true, true, true, false]);
  const outside = ['11.0.0.0', '203.0.113.8', '2001:db9::1', 'not an address', ''];
  expect(outside.map(set.contains)).toEqual([false, false, false, false, false]);
  expect(createNetworkSet([]).contains('10.0.0.1')).toBe(false);
});

describe('the client address', () => {
  const trusted = createNetworkSet(['10.0.0.0/8', '::1']);
  test.each<[string, string, string | null, string]>([
    ['no header', '203.0.113.7', null, '203.0.113.7'],
    ['a stranger who sends the header', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['a trusted proxy without the header', '10.0.0.1', null, '10.0.0.1'],
    ['one trusted proxy', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['an IPv4-mapped proxy', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['hops that the client made up', '10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['two trusted proxies', '::1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['trusted hops alone', '::1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['a hop with a port', '10.0.0.1', '198.51.100.1:5123', '198.51.100.1'],
    ['an IPv6 hop with a port', '10.0.0.1', '[2001:db8::1]:5123', '2001:db8::1'],
    ['a hop with a zone id', '10.0.0.1', 'fe80::1%eth0', 'fe80::1'],
    ['an IPv4 hop with a zone id', '10.0.0.1', '198.51.100.1%eth0', '198.51.100.1'],
    ['a hop with a zone id and a port', '10.0.0.1', '[fe80::1%25eth0]:5123', 'fe80::1'],
    ['junk at the right', '10.0.0.1', '198.51.100.1, junk', 'unknown'],
    ['junk behind a trusted hop', '10.0.0.1', '198.51.100.1, junk, 10.0.0.2', 'unknown'],
    ['octal at the right', '10.0.0.1', '0306.51.100.1', 'unknown'],
    ['an empty header', '10.0.0.1', ' ', '10.0.0.1'],
    ['an empty hop at the right', '10.0.0.1', '1.1.1.1, 198.51.100.1, ', '198.51.100.1'],
  ])('%s', (_name, socket, header, expected) => {
    expect(clientAddress(socket, header, trusted)).toBe(expected);
  });
});
