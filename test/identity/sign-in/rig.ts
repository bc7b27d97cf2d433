// Sign-in over one real database file: a clock that only the test moves, mails in a list, and a
// browser that keeps its cookies.

import { expect } from 'bun:test';
import { DEFAULT_SERVICE } from '../../../src/core/service.ts';
import { createMailWriter } from '../../../src/dashboard/texts/mail-writer.ts';
import type { SignUpMode } from '../../../src/identity/sign-in/dependencies.ts';
import type { SendMail } from '../../../src/identity/sign-in/mails.ts';
import { createPasswords } from '../../../src/identity/sign-in/passwords.ts';
import { createSignIn } from '../../../src/identity/sign-in/sign-in.ts';
import type { Visit } from '../../../src/identity/signed-in.ts';
import { auditEvents } from '../../../src/store/tables.ts';
import { newDatabase } from '../../support/database.ts';
import { createIdentity } from '../fixtures.ts';

export const EMAIL = 'a@example.com';
export const PASSWORD = 'correct horse battery';
export const SECRET = 'a secret of the tests that is long enough';

/** The error of a refusal. */
export const refused = (code: string) => expect.objectContaining({ code });

export type Mail = Parameters<SendMail>[0];

export const writeMail = createMailWriter({ service: () => DEFAULT_SERVICE, isLogged: false });

export type Rig = Awaited<ReturnType<typeof createRig>>;

export async function createRig(
  directory: string,
  mode: SignUpMode = 'open',
  passwords = createPasswords({ memoryCost: 8, timeCost: 1 }).customer,
) {
  const database = await newDatabase(directory);
  const identity = createIdentity(database);
  const mails: Mail[] = [];
  const deletions: string[] = [];
  const troubles: unknown[] = [];
  /** What a test has happen in the middle of something. */
  const between = { deletion: async () => {} };
  const { accounts, keys, clock, randomBytes } = identity;
  const signIn = createSignIn({
    service: () => DEFAULT_SERVICE,
    ...{ database, accounts, keys, clock, randomBytes, mode, secret: SECRET },
    passwords: { customer: passwords, operator: passwords },
    mail: (mail) => mails.push(mail),
    writeMail,
    pages: {
      customer: () => 'https://gateway.example/dashboard',
      operator: () => 'https://console.example/operator',
    },
    onDeletion: async (accountId) => {
      deletions.push(accountId);
      await between.deletion();
    },
    onTrouble: (_message, error) => troubles.push(error),
  });

  /** The token of the last mail to this address, once it has been sent. */
  async function mailedToken(to: string): Promise<string> {
    await signIn.settled();
    const link = mails.findLast((mail) => mail.to === to)?.link;
    return new URL(link ?? 'missing:').searchParams.get('token') ?? '';
  }

  return {
    ...identity,
    database,
    signIn,
    mails,
    deletions,
    between,
    troubles,
    mailedToken,
    /** The actions of the audit trail, oldest first. */
    trail: async () =>
      (await database.db.select().from(auditEvents).all()).map((event) => event.action),
    /** Signs up, verifies, and leaves a signed-in browser. */
    async customer(email: string, browser = createBrowser()) {
      await signIn.customer.signUp({ email, password: PASSWORD }, browser.visit());
      const token = await mailedToken(email);
      const outcome = await signIn.customer.verifyEmail(
        { token, password: PASSWORD },
        browser.visit(),
      );
      browser.take(outcome.cookies);
      return browser;
    },
  };
}

/** With one customer, who is signed in. */
export async function openCustomer(directory: string) {
  const rig = await createRig(directory);
  const browser = await rig.customer(EMAIL);
  const { customer } = rig.signIn;
  return {
    ...rig,
    browser,
    customer,
    customerOf: rig.customer,
    async me(at = browser) {
      const who = await customer.read(at.visit().headers);
      if (who === undefined) throw new Error('no session');
      return who;
    },
  };
}

export function createBrowser(address = '203.0.113.7') {
  const cookies = new Map<string, string>();
  return {
    cookies,
    take(lines: readonly string[]): void {
      for (const line of lines) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (/Max-Age=0\b/.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
    },
    visit(from = address): Visit {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      return { headers: new Headers({ cookie, 'user-agent': 'Browser/1.0' }), address: from };
    },
  };
}
