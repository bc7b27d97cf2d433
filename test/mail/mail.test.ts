import { expect, test } from 'bun:test';
import { createMailer } from '../../src/mail/mail.ts';
import { openMailbox } from '../support/mailbox.ts';

const MAIL = {
  to: 'a@example.com',
  subject: 'Confirm your e-mail address',
  text: 'Grüße.\n\nOpen this page:\nhttps://gateway.example/dashboard/verify?token=abc\n',
  link: 'https://gateway.example/dashboard/verify?token=abc',
};

const NOTICE = { to: 'b@example.com', subject: 'Your password was changed', text: '' };

function open(smtpUrl: string | undefined, pausesMs: readonly number[] = []) {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  const mailer = createMailer({
    ...{ smtpUrl, pausesMs, from: 'Gateway <gateway@example.com>' },
    log: { always: write, error: write },
  });
  return { mailer, lines };
}

test('logs the link for each recipient without a mail server', () => {
  const { mailer, lines } = open(undefined);
  expect(mailer.mode).toBe('log');
  mailer.send(MAIL);
  mailer.send(NOTICE);
  expect(lines).toEqual([
    'no mail server is set. Confirm your e-mail address, for a@example.com: https://gateway.example/dashboard/verify?token=abc',
    'no mail server is set. Your password was changed, for b@example.com',
  ]);
});

test('sends plain text to one address', async () => {
  await using mailbox = await openMailbox();
  const { mailer, lines } = open(mailbox.url);
  expect(mailer.mode).toBe('smtp');
  mailer.send(MAIL);
  await mailer.close();
  const [mail] = mailbox.mails;
  expect(mailbox.mails).toHaveLength(1);
  expect(mail).toMatchObject({ to: MAIL.to, from: 'gateway@example.com', subject: MAIL.subject });
  expect(mail?.headers['content-type']).toStartWith('text/plain; charset=utf-8');
  expect(mail?.text.trim().replaceAll('\r\n', '\n')).toBe(MAIL.text.trim());
  expect(lines).toEqual([]);
});

const GIVEN_UP =
  'a mail was dropped after its last attempt. Check SMTP_URL and MAIL_FROM. A user who waits for it must request it again.';

test('retries a failed mail, and logs neither recipient nor subject', async () => {
  const { mailer, lines } = open('smtp://127.0.0.1:1', [10, 10]);
  mailer.send(MAIL);
  await untilLines(lines, 4);
  expect(lines).toEqual([...Array(3).fill('a mail could not be sent: ESOCKET'), GIVEN_UP]);
  await mailer.close();
});

test('drops a permanently rejected mail and sends the next one', async () => {
  await using mailbox = await openMailbox();
  mailbox.refuse('recipients');
  const { mailer, lines } = open(mailbox.url, [3_600_000]);
  mailer.send(MAIL);
  await untilLines(lines, 2);
  expect(lines).toEqual(['a mail could not be sent: EENVELOPE 550', GIVEN_UP]);
  mailbox.refuse('nothing');
  mailer.send(MAIL);
  await mailer.close();
  expect(mailbox.mails).toHaveLength(1);
});

test('a refused login is of the settings, so the mail is sent once they are right', async () => {
  await using mailbox = await openMailbox();
  mailbox.refuse('logins');
  const { mailer, lines } = open(mailbox.url.replace('//', '//user:secret@'), [10, 10, 10, 10]);
  const sent = mailer.send(MAIL);
  await untilLines(lines, 2);
  mailbox.refuse('nothing');
  await mailer.close();
  expect(lines.slice(0, 2)).toEqual(Array(2).fill('a mail could not be sent: EAUTH 535'));
  expect(await sent).toBe('sent');
  expect(mailbox.mails).toHaveLength(1);
});

test('a server that ends tries once more what waits, and waits for nothing else', async () => {
  const { mailer, lines } = open('smtp://127.0.0.1:1', [3_600_000]);
  mailer.send(MAIL);
  await untilLines(lines, 1);
  await mailer.close();
  expect(lines).toHaveLength(3);
});

test('bounds the queue while the mail server is unreachable', async () => {
  const { mailer, lines } = open('smtp://127.0.0.1:1');
  for (let count = 0; count < 251; count += 1) mailer.send(MAIL);
  expect(lines).toEqual([
    'a mail was dropped: the queue for the mail server is full. Check the mail server.',
  ]);
  await mailer.close();
});

test('keeps places for sign-ups, links and notices while others fill theirs', async () => {
  for (const [many, one] of [
    [NOTICE, MAIL],
    [MAIL, NOTICE],
    [{ ...MAIL, isSignUp: true }, MAIL],
    [{ ...MAIL, isSignUp: true }, NOTICE],
    [MAIL, { ...MAIL, isSignUp: true }],
  ] as const) {
    const { mailer, lines } = open('smtp://127.0.0.1:1');
    for (let count = 0; count < 600; count += 1) mailer.send(many);
    const dropped = lines.length;
    expect(dropped).toBeGreaterThan(0);
    mailer.send(one);
    expect(lines).toHaveLength(dropped);
    await mailer.close();
  }
});

async function untilLines(lines: readonly string[], count: number): Promise<void> {
  while (lines.length < count) await Bun.sleep(5);
}
