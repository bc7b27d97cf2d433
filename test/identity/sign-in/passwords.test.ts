import { expect, test } from 'bun:test';
import { createPasswords, requirePassword } from '../../../src/identity/sign-in/passwords.ts';
import { cpuTimer } from '../../support/cpu-time.ts';

/** To verify it takes more than 100 ms of the processor. */
const strongHash = createPasswords().customer.hash('correct horse battery');

const weak = () => createPasswords({ memoryCost: 8, timeCost: 1 }).customer;

test('a password is kept as argon2id with 64 MiB and three passes', async () => {
  const passwords = createPasswords().customer;
  const hash = await passwords.hash('correct horse battery');
  expect(hash).toStartWith('$argon2id$v=19$m=65536,t=3,');
  expect(await passwords.verify('correct horse battery', hash)).toBe(true);
  expect(await passwords.verify('correct horse batterx', hash)).toBe(false);
  expect(await passwords.verify(hash, hash)).toBe(false);
});

test.each([
  ['', 0],
  ['eleven char', 11],
  ['x'.repeat(257), 257],
  ['x'.repeat(1_000_000), 1_000_000],
])('a password of another length is refused unhashed: %#', async (password, length) => {
  const passwords = weak();
  const message = `A password has 12 to 256 characters; this one has ${length}.`;
  await expect(passwords.hash(password)).rejects.toThrow(message);
  const hash = await strongHash;
  const cpuMs = cpuTimer();
  expect(await passwords.verify(password, hash)).toBe(false);
  expect(cpuMs()).toBeLessThan(50);
});

test('12 and 256 characters are a password', () => {
  const long = `${Array.from({ length: 64 }, (_, at) => `${at} horses `).join('')}`;
  expect([12, 256].map((length) => requirePassword(long.slice(0, length)).length)).toEqual([
    12, 256,
  ]);
});

test.each([
  'passwordpassword',
  'Password1234!',
  'xxxxxxxxxxxxxxxx',
  'abcabcabcabcab',
  '123456789012',
  'QwertyUiop2024',
  'Administrator1',
  'P@ssw0rd12345',
  'letmein-letmein-',
])('a password that is easy to guess is refused when it is set: %s', async (password) => {
  expect(() => requirePassword(password)).toThrow('easy to guess');
  // A sign-in with it is like any other, so that it does not reveal whether the user exists.
  expect(await weak().hash(password)).toStartWith('$argon2id$');
});

test.each([
  'correct horse battery',
  'Tr0ub4dor&3 is weak',
  'my password is purple',
  'wq81-zz0-plum',
])('a password of other words is taken: %s', (password) => {
  expect(requirePassword(password)).toBe(password);
});

test('the spelling of a letter does not matter', async () => {
  const passwords = weak();
  const hash = await passwords.hash('cafe\u0301 au lait long');
  expect(await passwords.verify('caf\u00e9 au lait long', hash)).toBe(true);
});

test('a NUL does not end a password', async () => {
  const passwords = weak();
  const hash = await passwords.hash('correct horse\0battery');
  expect(await passwords.verify('correct horse\0', hash)).toBe(false);
  expect(await passwords.verify('correct horse\0batterx', hash)).toBe(false);
});

test('of more than forty that wait, the rest get a retry time; each of the others has its turn', async () => {
  const passwords = weak();
  const asked = Array.from({ length: 100 }, () => passwords.hash('correct horse battery'));
  const results = await Promise.allSettled(asked);
  const refused = results.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(100 - 42);
  expect(refused[0]).toMatchObject({
    reason: { code: 'too_many_attempts', retryAfterSeconds: 10 },
  });
  expect(await passwords.hash('correct horse battery')).toStartWith('$argon2id$');
});

test('a flood of one realm fills no place of the other one', async () => {
  const { customer, operator } = createPasswords({ memoryCost: 8, timeCost: 1 });
  const flood = Promise.allSettled(
    Array.from({ length: 100 }, () => customer.hash('correct horse battery')),
  );
  expect(await operator.hash('correct horse battery')).toStartWith('$argon2id$');
  const hashed = (await flood).filter(({ status }) => status === 'fulfilled');
  expect(hashed).toHaveLength(42);
});

test('a flood of strangers fills no place of an owner', async () => {
  const passwords = weak();
  const known = await passwords.hash('correct horse battery');
  const flood = Promise.allSettled(
    Array.from({ length: 100 }, () => passwords.hash('correct horse battery')),
  );
  await expect(passwords.hash('correct horse battery')).rejects.toMatchObject({
    code: 'too_many_attempts',
  });
  expect(await passwords.verify('correct horse battery', known, 'owner')).toBe(true);
  await flood;
});
