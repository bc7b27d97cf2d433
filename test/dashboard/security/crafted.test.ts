// Requests that no browser sends: slow bodies, invalid hosts, made-up JSON members, and origins
// with our name but another scheme.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  addOperator,
  type Customer,
  createOperator,
  newEmail,
  newPassword,
  openSignUp,
  signUp,
} from '../../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway } from '../../support/gateway.ts';
import { type Mailbox, openMailbox } from '../../support/mailbox.ts';
import { openConnection } from '../../support/raw.ts';
import { type ApiSession, openApi, PREFIXES } from '../../support/session.ts';

setDefaultTimeout(30_000);

const OURS = 'https://gate.example';

let mailbox: Mailbox;
let gateway: Gateway;
let customer: Customer;

beforeAll(async () => {
  mailbox = await openMailbox();
  gateway = await startGateway({ environment: { ...openSignUp(mailbox), BASE_URL: OURS } });
  customer = await signUp(gateway, mailbox);
});
closeAtEnd(() => [mailbox, gateway]);

/** Sends a request but for the end of its body; `end` sends that and answers with the status. */
async function beginSlowly({ url, realm, cookie }: ApiSession, path: string, body: object) {
  const connection = await openConnection(url);
  const text = JSON.stringify(body);
  await connection.write(
    [
      `POST ${PREFIXES[realm]}/api${path} HTTP/1.1`,
      `Host: ${new URL(url).host}`,
      `Origin: ${url}`,
      `Cookie: ${cookie()}`,
      'Content-Type: application/json',
      `Content-Length: ${text.length}`,
      '',
      text.slice(0, -1),
    ].join('\r\n'),
  );
  return {
    async end(): Promise<number | undefined> {
      await connection.write(text.slice(-1));
      const answer = await connection.answer();
      connection.destroy();
      return answer?.status;
    },
  };
}

/** Once the server has seen what was begun before: another connection's answer comes after it. */
async function untilSeen(url: string): Promise<void> {
  for (let each = 0; each < 3; each += 1) await (await fetch(`${url}/dashboard/api/x`)).text();
}

describe('a body that comes slowly', () => {
  test('is accepted while the session is valid', async () => {
    const slow = await beginSlowly(customer.session, '/keys', { name: 'slow' });
    await untilSeen(gateway.url);
    expect(await slow.end()).toBe(200);
  });

  test('does nothing for a session that ended during the request', async () => {
    const { session } = await signUp(gateway, mailbox);
    const slow = await beginSlowly(session, '/keys', { name: 'slow' });
    await untilSeen(gateway.url);
    await session.send('POST', '/auth/logout');
    expect(await slow.end()).toBe(401);
  });

  test('creates no operator for one who was removed during the request', async () => {
    const operator = await createOperator(gateway);
    await addOperator(gateway, newEmail(), newPassword());
    const slow = await beginSlowly(operator.session, '/operators', { email: newEmail() });
    await untilSeen(gateway.operatorUrl());
    await gateway.run('operator', 'remove', operator.email);
    expect(await slow.end()).toBe(401);
  });
});

describe('a host that is none', () => {
  test.each(['[', '%', 'x:99999999', '..', 'a b', 'a@b'])(
    'is no fault of ours: %p',
    async (host) => {
      const connection = await openConnection(gateway.url);
      await connection.write(`GET /dashboard/api/auth/session HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      const answer = await connection.answer();
      connection.destroy();
      expect(answer?.status ?? 400).toBeLessThan(500);
    },
  );

  const PAGES = ['/', '/models', '/models?language=de', '/docs', '/docs/search?q=key'];

  test.each([...PAGES, '/dashboard', '/dashboard/assets/none.js'])(
    'fails no page and leaves no error in the log: %s',
    async (path) => {
      for (const host of ['[', '%', 'x:99999']) {
        const connection = await openConnection(gateway.url);
        await connection.write(
          `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\n\r\n`,
        );
        const answer = await connection.answer();
        connection.destroy();
        expect([host, (answer?.status ?? 400) < 500]).toEqual([host, true]);
      }
      expect(gateway.output()).not.toContain('cannot be parsed');
      expect(gateway.output()).not.toContain('could not be shown');
    },
  );
});

describe('a page', () => {
  const logOut = (headers: Record<string, string>) =>
    openApi(gateway.url, 'customer').send('POST', '/auth/logout', {}, headers);

  test('of the configured address is ours, and one of its name over plain HTTP is not', async () => {
    const host = 'gate.example';
    expect((await logOut({ host, origin: OURS })).status).toBe(204);
    const plain = await logOut({ host, origin: 'http://gate.example' });
    expect([plain.status, plain.json['error']]).toEqual([
      403,
      expect.objectContaining({ code: 'cross_origin' }),
    ]);
  });

  test('of the address that was asked is ours', async () => {
    expect((await logOut({ origin: gateway.url })).status).toBe(204);
  });

  test.each(['null', '', 'https://gate.example.evil.example', 'https://gate.example:444', 'x'])(
    'from %p is not',
    async (origin) => {
      expect((await logOut({ origin, host: 'gate.example' })).status).toBe(403);
    },
  );
});

test.each(['<script>', 'tg-AAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'a\u0000b', 'x'.repeat(5_000)])(
  'a member that has a made-up name is refused without it',
  async (name) => {
    const answer = await customer.session.send('POST', '/keys', { [name]: 1 });
    expect([answer.status, answer.json['error']]).toEqual([
      400,
      {
        code: 'invalid_request',
        message: 'The body is not valid.',
        request_id: expect.any(String),
      },
    ]);
  },
);
