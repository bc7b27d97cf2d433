// Sends plain-text mails over SMTP, with retries, without delaying responses. Without a mail server,
// the link of a mail goes to the operator's log at every level, because users could otherwise not
// verify an address or reset a password. Failures are logged without address or link.

import type { Transporter } from 'nodemailer';
import { withTimeout } from '../async/timeout.ts';

type Mail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly link?: string;
  /** To an address that a visitor chose, which may take no mail. */
  readonly isSignUp?: boolean;
};

/**
 * rejected    by the mail server, permanently
 * failed      dropped after the last attempt; a later one may succeed
 */
type MailOutcome = 'sent' | 'logged' | 'rejected' | 'failed';

export type Mailer = {
  /** Never rejects. */
  readonly send: (mail: Mail) => Promise<MailOutcome>;
  /** Whether mails are sent or their links logged. */
  readonly mode: 'smtp' | 'log';
  /** Retries each queued mail once; resolves when all are sent or dropped. */
  readonly close: () => Promise<void>;
};

type MailerOptions = {
  readonly smtpUrl: string | undefined;
  readonly from: string | undefined;
  readonly log: {
    readonly always: (message: string) => void;
    readonly error: (message: string) => void;
  };
  /** Delays between attempts in milliseconds; there is one more attempt than delays. */
  readonly pausesMs?: readonly number[];
};

const PAUSES_MS = [2_000, 15_000, 60_000];
const TIMEOUT_MS = 15_000;

/**
 * More than a server sends while one mail is being tried. Mails of sign-ups, other mails with a link,
 * nearly all of which visitors request for addresses with an account, and notices of changes by
 * signed-in users are counted apart, so that none crowds out the others.
 */
const WAITING_MAX = 250;

export function createMailer(options: MailerOptions): Mailer {
  const { smtpUrl, from, log, pausesMs = PAUSES_MS } = options;
  if (smtpUrl === undefined || from === undefined) {
    return {
      mode: 'log',
      async send({ to, subject, link }) {
        log.always(
          `no mail server is set. ${subject}, for ${to}${link === undefined ? '' : `: ${link}`}`,
        );
        return 'logged';
      },
      close: async () => undefined,
    };
  }
  const queues = {
    signUps: new Set<Promise<MailOutcome>>(),
    links: new Set<Promise<MailOutcome>>(),
    notices: new Set<Promise<MailOutcome>>(),
  };
  const closing = Promise.withResolvers<void>();
  let isClosing = false;
  let transport: Promise<Transporter> | undefined;

  async function open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      url: smtpUrl,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async function attempt({ to, subject, text }: Mail): Promise<MailOutcome> {
    try {
      transport ??= open();
      // Passed as an object, so that the text is never parsed as several addresses.
      await (await transport).sendMail({ from, to: { name: '', address: to }, subject, text });
      return 'sent';
    } catch (error) {
      const { code, responseCode, command } = error as Readonly<Record<string, unknown>>;
      const why = typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : 'unknown';
      const status = typeof responseCode === 'number' ? ` ${responseCode}` : '';
      log.error(`a mail could not be sent: ${why}${status}`);
      // Any other command says nothing of the mail: a refused login is of our settings.
      const isOfMail = command === 'RCPT TO' || command === 'DATA';
      return isOfMail && Number(responseCode) >= 500 ? 'rejected' : 'failed';
    }
  }

  async function deliver(mail: Mail): Promise<MailOutcome> {
    let outcome = await attempt(mail);
    for (const pauseMs of pausesMs) {
      if (outcome !== 'failed' || isClosing) break;
      await withTimeout(pauseMs, closing.promise);
      outcome = await attempt(mail);
    }
    if (outcome !== 'sent') {
      log.error(
        'a mail was dropped after its last attempt. Check SMTP_URL and MAIL_FROM. A user who waits for it must request it again.',
      );
    }
    return outcome;
  }

  return {
    mode: 'smtp',
    async send(mail) {
      const ofUsers = mail.link === undefined ? queues.notices : queues.links;
      const sending = mail.isSignUp ? queues.signUps : ofUsers;
      if (sending.size >= WAITING_MAX) {
        log.error(
          'a mail was dropped: the queue for the mail server is full. Check the mail server.',
        );
        return 'failed';
      }
      const done = deliver(mail);
      sending.add(done);
      return done.finally(() => sending.delete(done));
    },
    async close() {
      isClosing = true;
      closing.resolve();
      await Promise.all(Object.values(queues).flatMap((sending) => [...sending]));
      if (transport !== undefined) (await transport).close();
    },
  };
}
