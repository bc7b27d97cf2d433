// An SMTP server on a real socket that stores every mail, for tests that follow mailed links. Plain
// SMTP only: no TLS, any credentials.

import { createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';
import { waitUntil } from './upstream.ts';

export type Mail = {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The plain text part, decoded. */
  readonly text: string;
  /** Addresses in the text, in their order. */
  readonly links: readonly string[];
};

type Refused = 'recipients' | 'logins' | 'nothing';

export type Mailbox = {
  /** What SMTP_URL has to be. */
  readonly url: string;
  /** All mails so far. */
  readonly mails: readonly Mail[];
  /** Mails to one address, in their order; waits until there are `count`. */
  readonly mailsTo: (address: string, count?: number) => Promise<readonly Mail[]>;
  /** The first link of the newest of the `count` mails that one address has got. */
  readonly linkTo: (address: string, count?: number) => Promise<string>;
  /** From now on: every recipient, as by a server that has no such mailbox, or every login. */
  readonly refuse: (what: Refused) => void;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export async function openMailbox(): Promise<Mailbox> {
  const mails: Mail[] = [];
  const sockets = new Set<Socket>();
  let refused: Refused = 'nothing';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    converse(
      socket,
      () => refused,
      (mail) => mails.push(mail),
    );
  });
  const port = await listen(server);

  async function mailsTo(to: string, count = 1): Promise<readonly Mail[]> {
    const found = () => mails.filter((mail) => mail.to === to);
    await waitUntil(() => found().length >= count, 10_000);
    return found();
  }

  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    mailsTo,
    async linkTo(to, count = 1) {
      const link = (await mailsTo(to, count)).at(-1)?.links[0];
      if (link === undefined) throw new Error(`the mail to ${to} has no link`);
      return link;
    },
    refuse(what) {
      refused = what;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** One connection: commands are lines, and a mail ends with a line that is one full stop. */
function converse(socket: Socket, refused: () => Refused, keep: (mail: Mail) => void): void {
  let buffered = '';
  let sender = '';
  let recipients: string[] = [];
  let data: string[] | undefined;
  const say = (line: string) => socket.write(`${line}\r\n`);

  function take(line: string): void {
    if (data === undefined) obey(line);
    else if (line !== '.') data.push(line.startsWith('.') ? line.slice(1) : line);
    else {
      for (const to of recipients) keep(parseMail(sender, to, data));
      data = undefined;
      say('250 kept');
    }
  }

  function obey(line: string): void {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'EHLO') say('250-mailbox\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME');
    else if (verb === 'AUTH') say(refused() === 'logins' ? '535 wrong password' : '235 welcome');
    else if (verb === 'MAIL') {
      sender = bracketed(line);
      recipients = [];
      say('250 go on');
    } else if (verb === 'RCPT') {
      const isRefused = refused() === 'recipients';
      if (!isRefused) recipients.push(bracketed(line));
      say(isRefused ? '550 no such mailbox' : '250 go on');
    } else if (verb === 'DATA') {
      data = [];
      say('354 end with a full stop');
    } else if (verb === 'QUIT') {
      say('221 goodbye');
      socket.end();
    } else say('250 go on');
  }

  socket.setEncoding('latin1');
  socket.on('data', (bytes: string) => {
    buffered += bytes;
    const lines = buffered.split('\r\n');
    buffered = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  say('220 mailbox');
}

function bracketed(line: string): string {
  return /<([^>]*)>/.exec(line)?.[1] ?? '';
}

/** `lines` hold one character a byte. */
function parseMail(from: string, to: string, lines: readonly string[]): Mail {
  const { headers, body } = splitPart(lines.join('\r\n'));
  const text = plainText(headers, body);
  return {
    from,
    to,
    subject: decodeWords(headers['subject'] ?? ''),
    headers,
    text,
    links: [...text.matchAll(/https?:\/\/[^\s<>"]+/g)].map(([link]) => link),
  };
}

type Part = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

function splitPart(source: string): Part {
  const end = source.indexOf('\r\n\r\n');
  const head = end < 0 ? source : source.slice(0, end);
  const headers: Record<string, string> = {};
  for (const line of head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { headers, body: end < 0 ? '' : source.slice(end + 4) };
}

function plainText(headers: Part['headers'], body: string): string {
  const type = headers['content-type'] ?? 'text/plain';
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (boundary !== undefined) {
    const parts = body
      .split(`--${boundary}`)
      .slice(1)
      .map((part) => splitPart(part.replace(/^\r\n/, '')));
    return (
      parts.map((part) => plainText(part.headers, part.body)).find((text) => text !== '') ?? ''
    );
  }
  if (!/^text\/plain/i.test(type)) return '';
  return decodeBody(body, (headers['content-transfer-encoding'] ?? '7bit').toLowerCase());
}

function decodeBody(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1').toString('utf8');
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_match, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Encoded words of a header, such as =?UTF-8?Q?caf=C3=A9?=. */
function decodeWords(text: string): string {
  return text.replace(/=\?utf-8\?([bq])\?([^?]*)\?=\s*/gi, (_match, kind: string, word: string) =>
    decodeBody(
      kind.toLowerCase() === 'q' ? word.replaceAll('_', ' ') : word,
      kind.toLowerCase() === 'q' ? 'quoted-printable' : 'base64',
    ),
  );
}
