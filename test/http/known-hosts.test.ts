// The host names under which the operator's pages and metrics answer: tables of hosts and peers.

import { expect, test } from 'bun:test';
import { createKnownHosts } from '../../src/http/known-hosts.ts';

const hosts = createKnownHosts(['127.0.0.1', 'Console.example.', 'FD00:0::1', 'gateway.example']);

const KNOWN = [
  'localhost',
  'localhost:3000',
  'LOCALHOST.:80',
  '127.0.0.1',
  '127.0.0.1:3001',
  '127.9.8.7:1',
  '[::1]',
  '[::1]:3001',
  '[0:0:0:0:0:0:0:1]:3001',
  '[::ffff:127.0.0.1]:3001',
  '[::1%25lo]:3001',
  'console.example:443',
  'gateway.example.',
  '[fd00::1]:3001',
];

const UNKNOWN = [
  'rebind.evil.example',
  'rebind.evil.example:3001',
  'localhost.evil.example',
  'evil.localhost',
  'localhost..',
  'localhost, rebind.evil.example',
  'user@localhost',
  'evil/localhost',
  'localhost:80:80',
  '127.0.0.1.evil.example',
  '128.0.0.1',
  '[::2]:3001',
  '[fd00::2]',
  'xgateway.example',
  '.',
];

test.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', ''])('from %p', (peer) => {
  expect(KNOWN.filter((host) => !hosts.isKnown(host, peer))).toEqual([]);
  expect(UNKNOWN.filter((host) => hosts.isKnown(host, peer))).toEqual([]);
  // HTTP/1.0 needs no Host, and a browser always sends one.
  expect([null, ''].map((host) => hosts.isKnown(host, peer))).toEqual([true, true]);
});

test('other machines may use any name they know', () => {
  for (const peer of ['10.0.0.1', '172.17.0.1', '2001:db8::1']) {
    expect([...KNOWN, ...UNKNOWN].filter((host) => !hosts.isKnown(host, peer))).toEqual([]);
  }
});
