// Sends mails: plain text over SMTP, tried again where that fails, and never waited for by an answer.
// Where no mail server is set, the link of a mail goes to the operator's log, because nobody could
// verify an address or reset a password otherwise. What fails is logged without address or link.

import type { Transporter } from 'nodemailer';
import { withTimeout } from '../async/timeout.ts';

type Mail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly link?: string;
};

export type Mailer = {
  /** Never rejects and never waits. */
  readonly send: (mail: Mail) => void;
  /** Whether mails are sent, or links logged. */
  readonly mode: 'smtp' | 'log';
  /** Tries each mail that waits once more; resolves when all are sent or given up. */
  readonly close: () => Promise<void>;
};

type MailerOptions = {
  readonly smtpUrl: string | undefined;
  readonly from: string | undefined;
  readonly log: {
    readonly info: (message: string) => void;
    readonly error: (message: string) => void;
  };
  /** Between two tries, in milliseconds; as many tries as there are, and one. */
  readonly pausesMs?: readonly number[];
};

const PAUSES_MS = [2_000, 15_000, 60_000];
const TIMEOUT_MS = 15_000;

/** More than a server of ours sends in the time that one mail is tried. */
const WAITING_MAX = 500;

export function createMailer(options: MailerOptions): Mailer {
  const { smtpUrl, from, log, pausesMs = PAUSES_MS } = options;
  if (smtpUrl === undefined || from === undefined) {
    return {
      mode: 'log',
      send({ to, subject, link }) {
        log.info(
          `no mail server is set. ${subject}, for ${to}${link === undefined ? '' : `: ${link}`}`,
        );
      },
      close: async () => undefined,
    };
  }
  const sending = new Set<Promise<void>>();
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

  /** `refused`: the mail server will not take it later either. */
  async function attempt({ to, subject, text }: Mail): Promise<'sent' | 'failed' | 'refused'> {
    try {
      transport ??= open();
      // An address as an object is one address, whatever is in it.
      await (await transport).sendMail({ from, to: { name: '', address: to }, subject, text });
      return 'sent';
    } catch (error) {
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
      const why = typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : 'unknown';
      const status = typeof responseCode === 'number' ? ` ${responseCode}` : '';
      log.error(`a mail could not be sent: ${why}${status}`);
      return typeof responseCode === 'number' && responseCode >= 500 ? 'refused' : 'failed';
    }
  }

  async function deliver(mail: Mail): Promise<void> {
    for (const pauseMs of [...pausesMs, undefined]) {
      const outcome = await attempt(mail);
      if (outcome === 'sent') return;
      if (outcome === 'refused' || pauseMs === undefined || isClosing) break;
      await withTimeout(pauseMs, closing.promise);
    }
    log.error(
      'a mail was given up. Check SMTP_URL and MAIL_FROM; whoever waits for it asks again.',
    );
  }

  return {
    mode: 'smtp',
    send(mail) {
      if (sending.size >= WAITING_MAX) {
        log.error('a mail was dropped, because too many wait for the mail server already');
        return;
      }
      const done = deliver(mail);
      sending.add(done);
      void done.finally(() => sending.delete(done));
    },
    async close() {
      isClosing = true;
      closing.resolve();
      await Promise.all(sending);
      if (transport !== undefined) (await transport).close();
    },
  };
}
