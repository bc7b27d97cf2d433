// Which addresses and names are not on the public Internet.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isPrivateAddress, isPrivateHost } from '../../src/core/private-address.ts';

const PRIVATE = ['10.1.2.3', '127.0.0.1', '169.254.1.1', '172.16.0.1', '192.168.4.5', '100.64.0.1'];
const PUBLIC = ['1.1.1.1', '93.184.215.14', '172.32.0.1', '100.128.0.1', '198.20.0.1', '11.0.0.1'];

const hexOf = (v4: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

/** Ways in which an address contains an IPv4 one that is public if that is. */
const FORMS: readonly ((v4: string) => string)[] = [
  (v4) => v4,
  (v4) => `::ffff:${v4}`,
  (v4) => `[::ffff:${v4}]`,
  (v4) => `64:ff9b::${v4}`,
  (v4) => `64:ff9b::${hexOf(v4)}`,
  (v4) => String(v4.split('.').reduce((all, part) => all * 256 + Number(part), 0)),
];

test('an IPv4 address is judged alike in every form', () => {
  const form = fc.constantFrom(...FORMS);
  fc.assert(
    fc.property(form, fc.constantFrom(...PRIVATE), fc.constantFrom(...PUBLIC), (write, a, b) => {
      expect([write(a), isPrivateAddress(write(a))]).toEqual([write(a), true]);
      expect([write(b), isPrivateAddress(write(b))]).toEqual([write(b), false]);
    }),
  );
});

test.each([
  '::',
  '::1',
  '::10.0.0.1',
  '::ffff:0:10.0.0.1',
  '2002:a00:1::1',
  '2001:0:1::1',
  '2::1',
  'fc00::1',
  'fdff::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
])('%s is private', (address) => expect(isPrivateAddress(address)).toBe(true));

test.each(['2606:4700::1111', '2a00:1450::1', '2001:4860:4860::8888', 'a.example', ''])(
  '%s is not',
  (address) => expect(isPrivateAddress(address)).toBe(false),
);

test('names without a dot and special-use names are private', () => {
  for (const name of ['localhost', 'a.localhost.', 'printer.local', 'x.internal', 'intranet']) {
    expect([name, isPrivateHost(name)]).toEqual([name, true]);
  }
  for (const name of ['a.example', 'localhost.example', 'internal.example']) {
    expect([name, isPrivateHost(name)]).toEqual([name, false]);
  }
});
