// The texts of the mails in every language, and which language a mail has.

import { describe, expect, test } from 'bun:test';
import { DEFAULT_SERVICE, LANGUAGES, type Language } from '../../../src/core/service.ts';
import { createMailWriter } from '../../../src/dashboard/texts/mail-writer.ts';
import {
  alreadySignedUpMail,
  changedMail,
  deletedMail,
  deletionMail,
  type Letter,
  resetMail,
  runawayMail,
  verificationMail,
} from '../../../src/identity/sign-in/mails.ts';
import { temporaryDirectory } from '../../support/database.ts';
import { createRig, EMAIL, openCustomer, PASSWORD } from './rig.ts';

const PAGES = 'https://gateway.example/dashboard';
const AT = Date.UTC(2026, 11, 3, 7, 5, 59);
const NAME = "it's <b> {x}";
const SERVICE = { ...DEFAULT_SERVICE, name: 'Acme <AI> & Sons', supportEmail: 'help@acme.example' };
const COST = { spent: '1234.001501', busiestHour: '12.5' };

/** With the values that all languages write alike. */
const LETTERS: Readonly<Record<string, readonly [Letter, ...string[]]>> = {
  verification: [verificationMail(PAGES, 'token'), `${PAGES}/verify?token=token`],
  'already signed up': [alreadySignedUpMail(PAGES), `${PAGES}/sign-in`, `${PAGES}/forgot`],
  reset: [resetMail(PAGES, 'token'), `${PAGES}/reset?token=token`],
  'password of a customer': [changedMail('password', 'customer')],
  'password of an operator': [changedMail('password', 'operator')],
  'second factor': [changedMail('second factor', 'customer')],
  'paused key': [
    runawayMail(PAGES, { name: NAME, masked: 'sk-tg-…abcd', pausedAt: AT }, COST),
    ...[`${PAGES}/keys`, NAME, 'sk-tg-…abcd', '403 key_paused', 'UTC'],
  ],
  'paused key without a name': [
    runawayMail(PAGES, { name: null, masked: 'sk-tg-…abcd', pausedAt: AT }, COST),
    ...[`${PAGES}/keys`, 'sk-tg-…abcd'],
  ],
  deletion: [deletionMail(PAGES, AT), `${PAGES}/sign-in`],
  deleted: [deletedMail()],
};

const writeMail = createMailWriter({ service: () => SERVICE, isLogged: false });

const write = (letter: Letter, language: Language) =>
  writeMail(letter, new Headers({ 'accept-language': language }));

describe.each(Object.entries(LETTERS))('the mail: %s', (_, [letter, ...values]) => {
  test('is another text in each language, links aside', async () => {
    const mails = await Promise.all(LANGUAGES.map((language) => write(letter, language)));
    const lines = mails.flatMap(({ subject, text }) => [
      ...new Set([subject, ...text.split('\n')].filter((line) => !/^(https:|$)/.test(line))),
    ]);
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line, at) => lines.indexOf(line) !== at)).toEqual([]);
  });

  test.each(LANGUAGES)(
    'has its values, and each link on a line of its own, in %s',
    async (name) => {
      const { subject, text, link } = await write(letter, name);
      const lines = text.split('\n');
      const links = values.filter((value) => value.startsWith('https:'));
      expect(lines.filter((line) => line.includes('https:'))).toEqual(links);
      expect([undefined, links[0]]).toContain(link);
      for (const value of [...values, SERVICE.name, SERVICE.supportEmail]) {
        expect(text).toContain(value);
      }
      expect(subject).not.toContain('\n');
      expect(text.replace(NAME, '')).not.toMatch(/[{}]/);
      if (name !== 'en') expect(text.replace(NAME, '')).not.toMatch(/["']/);
    },
  );
});

test.each([
  ['en', '1,234.001501', '12.5', '2026-12-03 07:05', '2026-12-03'],
  ['de', '1.234,001501', '12,5', '03.12.2026, 07:05', '03.12.2026'],
  ['zh', '1,234.001501', '12.5', '2026年12月3日 07:05', '2026年12月3日'],
] as const)('amounts and times are those of %s', async (language, ...[spent, hour, time, day]) => {
  const [paused] = LETTERS['paused key'] ?? [deletedMail()];
  const { text } = await write(paused, language);
  for (const value of [spent, hour, time]) expect(text).toContain(value);
  expect((await write(deletionMail(PAGES, AT), language)).text).toContain(day);
});

describe('the language of a mail', () => {
  const directory = temporaryDirectory();
  const GERMAN = 'Bestätigen Sie Ihre E-Mail-Adresse';
  const CHINESE = '请确认您的邮箱地址';

  const visitIn = (headers: Record<string, string>) => ({
    ...{ headers: new Headers(headers), address: '203.0.113.7' },
  });

  test('is that of the pages: the chosen one, else the best accepted one', async () => {
    const { signIn, mails } = await createRig(directory);
    const subjectFor = async (headers: Record<string, string>) => {
      const email = `a${mails.length}@example.com`;
      await signIn.customer.signUp({ email, password: PASSWORD }, visitIn(headers));
      await signIn.settled();
      return mails.at(-1)?.subject;
    };
    const choice = { cookie: 'tollgate_language=zh', 'accept-language': 'de' };
    expect(await subjectFor({})).toBe('Confirm your e-mail address');
    expect(await subjectFor({ 'accept-language': 'fr, de-AT;q=0.8, en;q=0.1' })).toBe(GERMAN);
    expect(await subjectFor(choice)).toBe(CHINESE);
  });

  test('is that of the request for every mail that answers one', async () => {
    const { signIn, mails, me, customer, ...rig } = await openCustomer(directory);
    const german = visitIn({ 'accept-language': 'de' });
    const before = mails.length;
    await customer.signUp({ email: EMAIL, password: PASSWORD }, german);
    await customer.forgotPassword(EMAIL, german);
    const given = { current: PASSWORD, password: PASSWORD };
    rig.browser.take(await customer.changePassword(await me(), given, german));
    await customer.askDeletion(await me(), german);
    await signIn.settled();
    const subjects = mails.slice(before).map(({ subject }) => subject);
    expect(subjects.toSorted()).toEqual([
      'Ihr Konto wird gelöscht',
      'Ihr Passwort wurde geändert',
      'Neues Passwort wählen',
      'Sie haben bereits ein Konto',
    ]);
  });

  test('is the first on offer without a request, and where the request accepts none', async () => {
    const service = () => ({ ...SERVICE, languages: ['zh', 'de'] as const });
    const first = createMailWriter({ service, isLogged: false });
    expect((await first(deletedMail())).subject).toBe('您的账户已删除');
    const english = new Headers({ 'accept-language': 'en' });
    expect((await first(deletedMail(), english)).subject).toBe('您的账户已删除');
  });

  test('is English in the log of a server without a mail server', async () => {
    const logged = createMailWriter({ service: () => SERVICE, isLogged: true });
    const german = new Headers({ 'accept-language': 'de' });
    expect((await logged(deletedMail(), german)).subject).toBe('Your account was deleted');
  });
});
