// The words of our mails: plain text, with one link at most. A link opens a page, which asks before
// it does anything, so that a program which follows links changes nothing.

import type { Realm } from '../signed-in.ts';

/** One text to one address. Never rejects and never waits: what fails is tried again and logged. */
export type SendMail = (mail: {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The link in it, where it has one: for the log of a server without mail. */
  readonly link?: string;
}) => void;

type Mail = Omit<Parameters<SendMail>[0], 'to'>;

const SIGNATURE = 'This mail was sent by Tollgate.';

function mail(subject: string, paragraphs: readonly string[], link?: string): Mail {
  const text = `${[...paragraphs, SIGNATURE].join('\n\n')}\n`;
  return { subject, text, ...(link === undefined ? {} : { link }) };
}

export function verificationMail(pages: string, token: string): Mail {
  const link = `${pages}/verify?token=${token}`;
  return mail(
    'Confirm your e-mail address',
    [
      'Somebody, most likely you, has signed up with this e-mail address.',
      `To confirm that it is yours, open this page and enter the password that you chose:\n${link}`,
      'The link works once, within 30 minutes. If you did not sign up, do nothing: without your doing there is no account.',
    ],
    link,
  );
}

export function alreadySignedUpMail(pages: string): Mail {
  return mail('You have an account already', [
    'Somebody, most likely you, has tried to sign up with this e-mail address, which has an account already. Nothing was changed.',
    `To sign in: ${pages}/sign-in\nIf you have forgotten your password: ${pages}/forgot`,
    'If it was not you, there is nothing that you need to do.',
  ]);
}

export function resetMail(pages: string, token: string): Mail {
  const link = `${pages}/reset?token=${token}`;
  return mail(
    'Choose a new password',
    [
      'Somebody, most likely you, has asked to choose a new password for this e-mail address.',
      `To do so, open this page:\n${link}`,
      'The link works once, within 30 minutes. If it was not you, do nothing: your password stays as it is.',
    ],
    link,
  );
}

export function changedMail(what: string, realm: Realm): Mail {
  const whom = realm === 'customer' ? 'the operator' : 'another operator';
  return mail(what, [
    `${what}.`,
    `If it was not you, choose a new password at once with "Forgot password", look at your sessions, and tell ${whom}.`,
  ]);
}

export function deletionMail(pages: string, dueAt: string): Mail {
  return mail('Your account is going to be deleted', [
    `You have asked for the deletion of your account. Its keys are refused from now on, and it will be deleted on ${dueAt}.`,
    `Until then you can take that back: sign in at ${pages}/sign-in and keep the account.`,
    'What was charged stays in the books, without your e-mail address.',
  ]);
}

export function deletedMail(): Mail {
  return mail('Your account is deleted', [
    'Your account is deleted, as you asked: its keys are revoked, and your e-mail address and password are removed. What was charged stays in the books, without your e-mail address.',
  ]);
}
