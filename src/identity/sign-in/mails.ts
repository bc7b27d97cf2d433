// The texts of the mails: plain text with at most one link. The page behind a link asks before it
// acts, so that programs that follow links change nothing.

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

/** Sends mails that end with the name of the service, and its address for questions. */
export function signedMail<Outcome>(
  send: (...mail: Parameters<SendMail>) => Outcome,
  service: () => Service,
): (...mail: Parameters<SendMail>) => Outcome {
  return (mail) => {
    const { name, supportEmail } = service();
    const contact = supportEmail === undefined ? '' : ` Questions: ${supportEmail}`;
    return send({ ...mail, text: `${mail.text}\n\nThis mail was sent by ${name}.${contact}\n` });
  };
}

function mail(subject: string, paragraphs: readonly string[], link?: string): Mail {
  return { subject, text: paragraphs.join('\n\n'), ...(link === undefined ? {} : { link }) };
}

export function verificationMail(pages: string, token: string): Mail {
  const link = `${pages}/verify?token=${token}`;
  const paragraphs = [
    'You signed up with this e-mail address.',
    `To confirm your address, open this page and enter the password you chose:\n${link}`,
    'The link works once and expires after 30 minutes. If you did not sign up, ignore this mail: no account is created.',
  ];
  return { ...mail('Confirm your e-mail address', paragraphs, link), isSignUp: true };
}

export function alreadySignedUpMail(pages: string): Mail {
  const link = `${pages}/sign-in`;
  return mail(
    'You already have an account',
    [
      'You tried to sign up with this e-mail address, which already has an account. Nothing was changed.',
      `To sign in: ${link}\nIf you have forgotten your password: ${pages}/forgot`,
      'If this was not you, ignore this mail.',
    ],
    link,
  );
}

export function resetMail(pages: string, token: string): Mail {
  const link = `${pages}/reset?token=${token}`;
  return mail(
    'Choose a new password',
    [
      'You asked to reset the password for this e-mail address.',
      `To choose a new password, open this page:\n${link}`,
      'The link works once and expires after 30 minutes. If this was not you, ignore this mail: your password stays the same.',
    ],
    link,
  );
}

export function changedMail(what: string, realm: Realm): Mail {
  const whom = realm === 'customer' ? 'the operator' : 'another operator';
  return mail(what, [
    `${what}.`,
    `If this was not you, reset your password now with "Forgot your password?", check your sessions, and contact ${whom}.`,
  ]);
}

/** Amounts are in service tokens. */
export function runawayMail(
  pages: string,
  { key, spent, busiestHour, at }: Readonly<Record<'key' | 'spent' | 'busiestHour' | 'at', string>>,
): Mail {
  const link = `${pages}/keys`;
  return mail(
    'An API key was paused',
    [
      `The API key ${key} was paused at ${at}, because its spend is far above its habit.`,
      `It spent ${spent} service tokens within ten minutes. Its busiest hour of the last 28 days, or that of your account if the key is new, cost ${busiestHour}. Its requests are rejected with 403 key_paused; answers that it had begun run to their end. Your other keys work.`,
      `Check what uses the key. If the spend is right, resume the key on this page:\n${link}`,
      'The key is then left alone for 48 hours. After that, this spend and that of the first 24 hours count as its habit. You can exempt a key from the guard on the same page.',
      'If the spend is not yours, the key may have leaked: revoke it, and give its replacement a budget.',
    ],
    link,
  );
}

export function deletionMail(pages: string, dueAt: string): Mail {
  return mail('Your account will be deleted', [
    `You asked to delete your account. Its keys are rejected from now on, and the account is deleted on ${dueAt}.`,
    `To cancel until then, sign in at ${pages}/sign-in and choose "Keep account".`,
    'Past charges stay in the ledger without your e-mail address.',
  ]);
}

export function deletedMail(): Mail {
  return mail('Your account was deleted', [
    'As you asked, your account was deleted: its keys are revoked, and your e-mail address and password are removed. Past charges stay in the ledger without your e-mail address.',
  ]);
}
