// Sets of networks and the walk through proxies, compared with models that are too simple to be
// wrong: one compares bit by bit, the other lists the hops.

import { expect, test } from 'bun:test';
import { isIP } from 'node:net';
import fc from 'fast-check';
import {
  clientAddress,
  createNetworkSet,
  normaliseAddress,
  normaliseNetwork,
} from '../../src/identity/address.ts';
import { cpuTimer } from '../support/cpu-time.ts';

/** An address as its bits; few of them are random, so that networks meet addresses. */
type Bits = readonly boolean[];

const bits = (length: 32 | 128): fc.Arbitrary<Bits> =>
  fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }).chain((random) =>
    fc.constantFrom(0, 4, length - 12).map((at) => {
      const all = new Array<boolean>(length).fill(false);
      // No IPv6 address here is an IPv4 one in disguise.
      if (length === 128) all[2] = true;
      all.splice(at === 0 && length === 128 ? 4 : at, 12, ...random);
      return all;
    }),
  );

const family = fc.constantFrom(32, 128).chain((length) =>
  fc.record({
    bits: bits(length as 32 | 128),
    prefix: fc.oneof(fc.integer({ min: 0, max: length }), fc.constant(length)),
  }),
);

type Network = { readonly bits: Bits; readonly prefix: number };

function written(of: Bits, spelling = 0): string {
  if (of.length === 32) {
    const text = groups(of, 8).join('.');
    return spelling === 1 ? `::ffff:${text}` : spelling === 2 ? ` ${text}%eth0 ` : text;
  }
  const hex = groups(of, 16).map((group) => group.toString(16));
  if (spelling === 1) return `[${hex.map((group) => group.padStart(4, '0')).join(':')}]`;
  if (spelling === 2) return `${hex.join(':').toUpperCase()}%eth0`;
  return hex.join(':');
}

function groups(of: Bits, size: number): number[] {
  return Array.from({ length: of.length / size }, (_, at) =>
    of.slice(at * size, at * size + size).reduce((sum, bit) => sum * 2 + (bit ? 1 : 0), 0),
  );
}

function holds({ bits: network, prefix }: Network, address: Bits): boolean {
  if (network.length !== address.length) return false;
  return network.slice(0, prefix).every((bit, at) => bit === address[at]);
}

const networkText = ({ bits: of, prefix }: Network): string => `${written(of)}/${prefix}`;

test('a set holds an address exactly if the first bits of one of its networks are its own', () => {
  const spelling = fc.nat({ max: 2 });
  fc.assert(
    fc.property(fc.array(family, { maxLength: 8 }), family, spelling, (networks, one, how) => {
      const set = createNetworkSet(networks.map(networkText));
      const expected = networks.some((network) => holds(network, one.bits));
      expect(set.contains(written(one.bits, how))).toBe(expected);
    }),
    { numRuns: 3_000 },
  );
});

test('one spelling of a network stands for all: another address in it gives the same', () => {
  fc.assert(
    fc.property(family, family, (network, other) => {
      if (network.bits.length !== other.bits.length) return;
      const { prefix } = network;
      const inside = [...network.bits.slice(0, prefix), ...other.bits.slice(prefix)];
      const one = normaliseNetwork(networkText(network));
      expect(one).toBeDefined();
      expect(normaliseNetwork(networkText({ bits: inside, prefix }))).toBe(one);
      expect(normaliseNetwork(one ?? '')).toBe(one);
    }),
  );
});

test('an address is what the platform takes for one, zones and brackets aside', () => {
  const piece = fc.constantFrom(
    '::',
    ':',
    ':',
    '0',
    '1',
    'ffff',
    'FfFf',
    '10000',
    '1.2.3.4',
    '.',
    'g',
  );
  const group = fc.constantFrom('0', 'a1', 'ffff', '1.2.3.4', '');
  const text = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
    fc.array(group, { minLength: 6, maxLength: 9 }).map((pieces) => pieces.join(':')),
  );
  fc.assert(
    fc.property(text, (address) => {
      expect(normaliseAddress(address) !== undefined).toBe(isIP(address) !== 0);
      // The platform's URLs do not take every address whose end is written as IPv4.
      if (isIP(address) !== 6 || address.includes('.')) return;
      const spelled = new URL(`http://[${address}]`).hostname.slice(1, -1);
      if (!spelled.startsWith('::ffff:')) expect(normaliseAddress(address)).toBe(spelled);
    }),
    { numRuns: 5_000 },
  );
});

/** The walk as it is described: from the right, one hop for each proxy that is trusted. */
function walk(socket: string, hops: readonly string[], trusted: (address: string) => boolean) {
  let at = normaliseAddress(socket) ?? socket;
  for (const hop of hops.toReversed().slice(0, 32)) {
    if (!trusted(at)) return at;
    if (hop.trim() === '') continue;
    const bare = hop
      .trim()
      .replace(/^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/, '$1')
      .replace(/^(\[.*\]):\d{1,5}$/, '$1');
    const next = normaliseAddress(bare);
    if (next === undefined) return 'unknown';
    at = next;
  }
  return at;
}

const hop = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('10.0.0.1', '::ffff:10.0.0.2', '10.0.0.3:8080') },
  { weight: 2, arbitrary: fc.constantFrom('203.0.113.7', '[2001:db8::1]:443', '2001:db8::2%1') },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', 'unknown', '10.0.0.1:123456', '::1::', '%') },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }).filter((text) => !text.includes(',')) },
);

test('the client is the right-most hop that no trusted proxy is, for any rest of the header', () => {
  const set = createNetworkSet(['10.0.0.0/8', '2001:db8::2']);
  fc.assert(
    fc.property(hop, fc.array(hop, { minLength: 1, maxLength: 40 }), (socket, hops) => {
      const expected = walk(socket, hops, set.contains);
      expect(clientAddress(socket, hops.join(','), set)).toBe(expected);
    }),
    { numRuns: 3_000 },
  );
});

test('a header with thousands of hops takes no longer than one with a few', () => {
  const set = createNetworkSet(['10.0.0.0/8']);
  const trusted = `${'10.0.0.1,'.repeat(100_000)}10.0.0.2`;
  const empty = ','.repeat(1_000_000);
  const long = `${'1'.repeat(1_000_000)}, 10.0.0.9`;
  const cpuMs = cpuTimer();
  for (let round = 0; round < 20; round += 1) {
    expect(clientAddress('10.0.0.1', trusted, set)).toBe('10.0.0.1');
    expect(clientAddress('10.0.0.1', empty, set)).toBe('10.0.0.1');
    expect(clientAddress('10.0.0.1', long, set)).toBe('unknown');
  }
  expect(cpuMs()).toBeLessThan(1_000);
});

test('an address is looked for among 10,000 networks in some microseconds', () => {
  const networks = Array.from({ length: 10_000 }, (_, at) => {
    const tail = `${at >> 8}.${at & 255}.${(at * 7) & 255}`;
    return at % 2 === 0 ? `11.${tail}/${24 + (at % 9)}` : `2001:db8:${at.toString(16)}::/48`;
  });
  const set = createNetworkSet(networks);
  const asked = ['11.0.2.1', '203.0.113.7', '2001:db8:1::1', '2001:db9::1', '::ffff:11.0.2.1'];
  const cpuMs = cpuTimer();
  const rounds = 2_000;
  for (let round = 0; round < rounds; round += 1) for (const each of asked) set.contains(each);
  const microseconds = (cpuMs() * 1_000) / (rounds * asked.length);
  expect(asked.map(set.contains)).toEqual([true, false, true, false, true]);
  expect(microseconds).toBeLessThan(50);
});
