// The texts of the mails: plain text, each link on a line of its own. The page behind a link asks
// before it acts, so that programs that follow links change nothing.

import type { Service } from '../../core/service.ts';
import type { Realm } from '../signed-in.ts';

/** Sends one plain text to one address. Never rejects or blocks: failures are retried and logged. */
export type SendMail = (mail: {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The link in the text, if any: logged by a server without a mail server. */
  readonly link?: string;
  /** The address has no account yet. */
  readonly isSignUp?: boolean;
}) => void;

export type Mail = Omit<Parameters<SendMail>[0], 'to'>;

/** How the language of a mail writes texts, amounts and times. */
export type MailLanguage = {
  readonly t: (message: string, values?: Readonly<Record<string, string>>) => string;
  /** A decimal, with every digit. */
  readonly amount: (decimal: string) => string;
  /** In UTC. */
  readonly date: (atMs: number) => string;
  readonly dateTime: (atMs: number) => string;
};

/** A mail that has no language yet. */
export type Letter = (language: MailLanguage, service: Service) => Mail;

/** In the language of the request that the mail answers; without one, in the first on offer. */
export type WriteMail = (letter: Letter, headers?: Headers) => Promise<Mail>;

type Words = {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly link?: string;
};

/** Ends a mail with the name of the service, and its address for questions. */
function letter(write: (language: MailLanguage) => Words): Letter {
  return (language, { name, supportEmail: email }) => {
    const { t } = language;
    const { paragraphs, ...facts } = write(language);
    const sender =
      email === undefined
        ? t('This mail was sent by {name}.', { name })
        : t('This mail was sent by {name}. Questions: {email}', { name, email });
    return { ...facts, text: `${[...paragraphs, sender].join('\n\n')}\n` };
  };
}

export function verificationMail(pages: string, token: string): Letter {
  const link = `${pages}/verify?token=${token}`;
  const write = letter(({ t }) => ({
    subject: t('Confirm your e-mail address'),
    paragraphs: [
      t('You signed up with this e-mail address.'),
      `${t('To confirm your address, open this page and enter the password you chose:')}\n${link}`,
      t(
        'The link works once and expires after 30 minutes. If you did not sign up, ignore this mail: no account is created.',
      ),
    ],
    link,
  }));
  return (...reader) => ({ ...write(...reader), isSignUp: true });
}

export function alreadySignedUpMail(pages: string): Letter {
  const link = `${pages}/sign-in`;
  return letter(({ t }) => ({
    subject: t('You already have an account'),
    paragraphs: [
      t(
        'You tried to sign up with this e-mail address, which already has an account. Nothing was changed.',
      ),
      `${t('To sign in:')}\n${link}`,
      `${t('If you have forgotten your password:')}\n${pages}/forgot`,
      t('If this was not you, ignore this mail.'),
    ],
    link,
  }));
}

export function resetMail(pages: string, token: string): Letter {
  const link = `${pages}/reset?token=${token}`;
  return letter(({ t }) => ({
    subject: t('Choose a new password'),
    paragraphs: [
      t('You asked to reset the password for this e-mail address.'),
      `${t('To choose a new password, open this page:')}\n${link}`,
      t(
        'The link works once and expires after 30 minutes. If this was not you, ignore this mail: your password stays the same.',
      ),
    ],
    link,
  }));
}

export function changedMail(what: 'password' | 'second factor', realm: Realm): Letter {
  return letter(({ t }) => {
    const subject =
      what === 'password'
        ? t('Your password was changed')
        : t('Two-factor authentication was turned off');
    return {
      subject,
      paragraphs: [
        t('{what}.', { what: subject }),
        t(
          'If this was not you, reset your password now with "{forgot}", check your sessions, and contact {realm, select, customer {the operator} other {another operator}}.',
          { forgot: t('Forgot your password?'), realm },
        ),
      ],
    };
  });
}

/** Amounts are in service tokens. */
export function runawayMail(
  pages: string,
  key: { readonly name: string | null; readonly masked: string; readonly pausedAt: number },
  { spent, busiestHour }: Readonly<Record<'spent' | 'busiestHour', string>>,
): Letter {
  const link = `${pages}/keys`;
  const { name, masked } = key;
  return letter(({ t, amount, dateTime }) => ({
    subject: t('An API key was paused'),
    paragraphs: [
      t('The API key {key} was paused at {at} UTC, because its spend is far above its habit.', {
        key: name === null ? masked : t('"{name}" ({masked})', { name, masked }),
        at: dateTime(key.pausedAt),
      }),
      t(
        'It spent {spent} service tokens within ten minutes. Its busiest hour of the last 28 days, or that of your account if the key is new, cost {busiestHour}. Its requests are rejected with {code}; answers that it had begun run to their end. Your other keys work.',
        { spent: amount(spent), busiestHour: amount(busiestHour), code: '403 key_paused' },
      ),
      `${t('Check what uses the key. If the spend is right, resume the key on this page:')}\n${link}`,
      t(
        'The key is then left alone for 48 hours. After that, this spend and that of the first 24 hours count as its habit. You can exempt a key from the guard on the same page.',
      ),
      t(
        'If the spend is not yours, the key may have leaked: revoke it, and give its replacement a budget.',
      ),
    ],
    link,
  }));
}

export function deletionMail(pages: string, dueAtMs: number): Letter {
  return letter(({ t, date }) => ({
    subject: t('Your account will be deleted'),
    paragraphs: [
      t(
        'You asked to delete your account. Its keys are rejected from now on, and the account is deleted on {day}.',
        { day: date(dueAtMs) },
      ),
      `${t('To cancel until then, sign in on this page and choose "{keep}":', { keep: t('Keep account') })}\n${pages}/sign-in`,
      t('Past charges stay in the ledger without your e-mail address.'),
    ],
  }));
}

export function deletedMail(): Letter {
  return letter(({ t }) => ({
    subject: t('Your account was deleted'),
    paragraphs: [
      t(
        'As you asked, your account was deleted: its keys are revoked, and your e-mail address and password are removed. Past charges stay in the ledger without your e-mail address.',
      ),
    ],
  }));
}
