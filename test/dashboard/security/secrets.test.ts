// Everything that is secret, used once over the socket, and then looked for: in every byte of the
// database, in the log, and in later responses to the pages.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  createOperator,
  newPassword,
  openSignUp,
  signIn,
  signUp,
  tokenOf,
} from '../../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway } from '../../support/gateway.ts';
import { type Mailbox, openMailbox } from '../../support/mailbox.ts';
import { codeOf } from '../../support/one-time-code.ts';
import { type ApiSession, openApi } from '../../support/session.ts';
import { CUSTOMER_ROUTES, pathOf } from './routes.ts';

setDefaultTimeout(30_000);

let mailbox: Mailbox;
let gateway: Gateway;
const secrets = new Map<string, string>();
let session: ApiSession;

beforeAll(async () => {
  mailbox = await openMailbox();
  gateway = await startGateway({
    environment: { ...openSignUp(mailbox), LOG_LEVEL: 'debug' },
  });
  const operator = await createOperator(gateway);
  secrets.set("the operator's password", operator.password);
  secrets.set("the operator's cookie", secretOf(operator.session));
  const customer = await signUp(gateway, mailbox);
  session = customer.session;
  secrets.set('the password', customer.password);
  secrets.set('the token of the mail', tokenOf(await mailbox.linkTo(customer.email)));
  secrets.set('the cookie', secretOf(session));
  const { json: key } = await session.send('POST', '/keys', { name: 'a key' });
  secrets.set('a key', String(key['key']));
  const { json: rotated } = await session.send('POST', `/keys/${String(key['id'])}/rotate`);
  secrets.set('a replacement', String((rotated['created'] as { key: string }).key));
  const { json: start } = await session.send('POST', '/auth/two-factor');
  const secret = String(start['secret']);
  secrets.set('the secret of the second factor', secret);
  const code = codeOf(secret, Date.now());
  const { json: confirmed } = await session.send('POST', '/auth/two-factor/confirm', { code });
  for (const [index, recovery] of (confirmed['codes'] as string[]).entries()) {
    secrets.set(`recovery code ${index}`, recovery);
  }
  secrets.set('the cookie after that', secretOf(session));
  await openApi(gateway.url, 'customer').send('POST', '/auth/password/forgot', {
    email: customer.email,
  });
  const mails = await mailbox.mailsTo(customer.email, 2);
  await session.send('POST', '/auth/step-up', { password: 'a wrong password of mine' });
  secrets.set('a wrong password', 'a wrong password of mine');
  const reset = (await mailbox.mailsTo(customer.email, mails.length)).find(({ links }) =>
    links.some((link) => link.includes('reset')),
  );
  if (reset?.links[0] !== undefined) secrets.set('the token of a reset', tokenOf(reset.links[0]));
  const failed = await openApi(gateway.url, 'customer').send('POST', '/auth/signup', {
    email: 'someone.else@example.com',
    password: newPassword(),
  });
  expect(failed.status).toBe(200);
});
closeAtEnd(() => [mailbox, gateway]);

/** The random part of the session's cookie. */
function secretOf(who: ApiSession): string {
  const value = /__Host-tollgate(?:-operator)?=([^;]+)/.exec(who.cookie())?.[1] ?? '';
  return decodeURIComponent(value).split('.')[0] ?? '';
}

const found = (text: string) =>
  [...secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => name);

test('there is something to look for', () => {
  expect(secrets.size).toBeGreaterThan(15);
  for (const [, secret] of secrets) expect(secret.length).toBeGreaterThan(8);
  expect([...secrets.keys()]).toContain('the token of a reset');
});

test('no byte of the database holds a secret', () => {
  const folder = join(gateway.directory, 'data');
  const files = readdirSync(folder).filter((name) => name.startsWith('tollgate.db'));
  expect(files).toContain('tollgate.db');
  const leaks = files.flatMap((name) =>
    found(readFileSync(join(folder, name)).toString('latin1')).map(
      (secret) => `${name}: ${secret}`,
    ),
  );
  expect(leaks).toEqual([]);
});

test('the log holds no secret, and no body of any request', () => {
  expect(found(gateway.output())).toEqual([]);
  expect(gateway.output()).not.toContain('someone.else@example.com');
});

test('no secret is returned to a page again', async () => {
  const leaks: string[] = [];
  for (const route of CUSTOMER_ROUTES.filter(({ method }) => method === 'GET')) {
    if (route.path === '/feed') continue;
    const { text } = await session.get(pathOf(route));
    leaks.push(...found(text).map((name) => `${route.path}: ${name}`));
  }
  expect(leaks).toEqual([]);
});

test('a key is shown by its first seven characters and its last four', async () => {
  const { json } = await session.get('/keys');
  for (const { masked } of json['data'] as { readonly masked: string }[]) {
    expect(masked).toMatch(/^sk-\w{4}…\w{4}$/);
  }
});

test('files beside the database that hold a secret are for their owner alone', () => {
  const folder = join(gateway.directory, 'data');
  for (const name of readdirSync(folder).filter((file) => /secret|key|token/.test(file))) {
    expect([name, statSync(join(folder, name)).mode & 0o077]).toEqual([name, 0]);
  }
});

test('responses with a secret are not cacheable', async () => {
  const { headers } = await session.send('POST', '/keys', {});
  expect(headers.get('cache-control')).toBe('no-store');
  const again = await signIn(gateway, await signUp(gateway, mailbox));
  expect((await again.get('/auth/session')).headers.get('cache-control')).toBe('no-store');
});
