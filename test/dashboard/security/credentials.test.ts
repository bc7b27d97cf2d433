// Password guessing: every password gets the same cheap response, an address that
// is known gets the same response as an unknown one, and throttling locks out no owner.

import { Database as Connection } from 'bun:sqlite';
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Customer,
  newEmail,
  newPassword,
  openSignUp,
  signUp,
} from '../../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway } from '../../support/gateway.ts';
import { type Mailbox, openMailbox } from '../../support/mailbox.ts';
import { type ApiAnswer, openApi } from '../../support/session.ts';

setDefaultTimeout(60_000);

let mailbox: Mailbox;
let gateway: Gateway;

beforeAll(async () => {
  mailbox = await openMailbox();
  gateway = await startGateway({
    // So that a request can come from anywhere, as one from behind a proxy does.
    environment: { ...openSignUp(mailbox), TRUSTED_PROXIES: '127.0.0.1' },
  });
});
closeAtEnd(() => [mailbox, gateway]);

let networks = 0;
/** A network without earlier attempts. */
const newNetwork = () => `198.51.${Math.floor(++networks / 250)}.${networks % 250}`;

const ask = (path: string, body: unknown, from = newNetwork()): Promise<ApiAnswer> =>
  openApi(gateway.url, 'customer').send('POST', path, body, { 'x-forwarded-for': from });

const logIn = (email: unknown, password: unknown, from?: string) =>
  ask('/auth/login', { email, password }, from);

const withoutIds = ({ status, text, headers }: ApiAnswer) => ({
  status,
  text: text.replace(/req_\w+/g, 'req'),
  headers: [...headers.keys()].filter((name) => name !== 'content-length').sort(),
});

describe('malformed credentials (B-164)', () => {
  const odd: [string, unknown, unknown][] = [
    ['an array for the address', ['a@example.com'], 'password password'],
    ['an object for the password', 'a@example.com', { $ne: '' }],
    ['a number for the password', 'a@example.com', 1],
    ['nothing', undefined, undefined],
    ['an empty password', 'a@example.com', ''],
    ['257 characters', 'a@example.com', 'a'.repeat(257)],
    ['a hundred thousand characters', 'a@example.com', 'a'.repeat(100_000)],
    ['line breaks in the address', 'a@example.com\r\nbcc: b@example.com', 'password password'],
    ['a NUL in the address', 'a\0@example.com', 'password password'],
  ];
  test.each(odd)('%s is refused', async (_what, email, password) => {
    const { status } = await logIn(email, password);
    expect(status).toBeOneOf([400, 401, 413]);
  });

  test('a NUL or another spelling in the password is one wrong password', async () => {
    const someone = await signUp(gateway, mailbox);
    for (const password of [
      `${someone.password}\0`,
      ` ${someone.password}`,
      someone.password.toUpperCase(),
    ]) {
      expect((await logIn(someone.email, password)).status).toBe(401);
    }
    expect((await logIn(someone.email.toUpperCase(), someone.password)).status).toBe(200);
  });

  test('a mail that is asked for goes to one address, as it was given', async () => {
    const before = mailbox.mails.length;
    const { status } = await ask('/auth/signup', {
      email: 'a@example.com\r\nbcc: b@example.com',
      password: newPassword(),
    });
    expect(status).toBe(400);
    expect(mailbox.mails).toHaveLength(before);
  });
});

test('what is stored of a password opens nothing (B-165)', async () => {
  const someone = await signUp(gateway, mailbox);
  using database = new Connection(gateway.databasePath, { readonly: true });
  const rows = database.query<{ password: string }, []>('SELECT password FROM sign_in_users').all();
  expect(rows.length).toBeGreaterThan(0);
  for (const { password } of rows) {
    expect(password).toStartWith('$argon2id$v=19$m=65536,t=3,p=1$');
    expect((await logIn(someone.email, password)).status).toBe(401);
  }
});

describe('a known address and an unknown one are answered alike (B-166)', () => {
  let known: Customer;
  beforeAll(async () => {
    known = await signUp(gateway, mailbox);
  });

  const asked: [string, (email: string) => [string, object]][] = [
    ['signing in', (email) => ['/auth/login', { email, password: newPassword() }]],
    ['signing up', (email) => ['/auth/signup', { email, password: newPassword() }]],
    ['a forgotten password', (email) => ['/auth/password/forgot', { email }]],
  ];

  test.each(asked)('when %s', async (_what, of) => {
    const answers = [await ask(...of(known.email)), await ask(...of(newEmail()))];
    const [first, second] = answers.map(withoutIds);
    expect(first).toEqual(second);
  });

  test.each(asked)('in time, when %s', async (_what, of) => {
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let turn = 0; turn < 7; turn += 1) {
      for (const kind of ['known', 'unknown'] as const) {
        const startedAt = performance.now();
        await ask(...of(kind === 'known' ? known.email : newEmail()));
        times[kind].push(performance.now() - startedAt);
      }
    }
    // The same hashing is done for both. Where it is left out, one takes a tenth of the other.
    const [knownMs, unknownMs] = [median(times.known), median(times.unknown)];
    const isAlike = knownMs / unknownMs > 0.3 && knownMs / unknownMs < 3.3;
    expect(isAlike || Math.abs(knownMs - unknownMs) < NOISE_MS).toBe(true);
  });
});

/** Far less than a hash takes. */
const NOISE_MS = 40;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

describe('who fails often is slowed down (B-167)', () => {
  test('from one network that has many addresses, after ten tries at one account', async () => {
    const someone = await signUp(gateway, mailbox);
    const statuses: number[] = [];
    for (let turn = 0; turn < 13; turn += 1) {
      const from = `2001:db8:77:1::${turn.toString(16)}`;
      statuses.push((await logIn(someone.email, newPassword(), from)).status);
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429, 429]);
    const right = await logIn(someone.email, someone.password, '2001:db8:77:1::ffff');
    expect(right.status).toBe(429);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('from everywhere, and the owner is let in from where they have been before', async () => {
    const home = newNetwork();
    const someone = await signUp(gateway, mailbox);
    expect((await logIn(someone.email, someone.password, home)).status).toBe(200);
    const statuses: number[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      statuses.push((await logIn(someone.email, newPassword())).status);
    }
    expect(statuses).toContain(429);
    expect((await logIn(someone.email, someone.password, home)).status).toBe(200);
  });

  test('and an address that a client makes up is believed from no one but a trusted proxy', async () => {
    await using direct = await startGateway({ environment: openSignUp(mailbox) });
    const session = openApi(direct.url, 'customer');
    const email = newEmail();
    const statuses: number[] = [];
    for (let turn = 0; turn < 11; turn += 1) {
      const body = { email, password: newPassword() };
      const made = { 'x-forwarded-for': newNetwork() };
      statuses.push((await session.send('POST', '/auth/login', body, made)).status);
    }
    expect(statuses.at(-1)).toBe(429);
  });
});
