// The mailbox stores what a mail client sends, with every byte of the text.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import { type Mailbox, openMailbox } from './mailbox.ts';

let mailbox: Mailbox;
beforeAll(async () => {
  mailbox = await openMailbox();
});
afterAll(() => mailbox[Symbol.asyncDispose]());

const LINK =
  'https://tollgate.example/dashboard/verify?token=aB3_-0123456789012345678901234567890123456789&x=1=2';

test('the text of a mail arrives as it was written, with its links', async () => {
  const transport = createTransport(mailbox.url);
  const text = `Grüße, 漢字.\n.a line with a dot\n${'long '.repeat(40)}\n${LINK}\n`;
  await transport.sendMail({
    from: 'Tollgate <gate@example.com>',
    to: 'a@example.com',
    subject: 'Bestätigen Sie, bitte',
    text,
    html: '<p>Not this</p>',
  });
  const [mail] = await mailbox.mailsTo('a@example.com');
  expect(mail?.text.trim().split(/\r?\n/)).toEqual(text.trim().split('\n'));
  expect({ from: mail?.from, to: mail?.to, subject: mail?.subject, links: mail?.links }).toEqual({
    from: 'gate@example.com',
    to: 'a@example.com',
    subject: 'Bestätigen Sie, bitte',
    links: [LINK],
  });
  expect(await mailbox.linkTo('a@example.com')).toBe(LINK);
  transport.close();
});

test('a refused recipient is reported to the sender', async () => {
  mailbox.refuse('recipients');
  const transport = createTransport(mailbox.url);
  const sent = transport.sendMail({
    from: 'g@example.com',
    to: 'b@example.com',
    subject: 's',
    text: 't',
  });
  await expect(sent).rejects.toThrow('550');
  mailbox.refuse('nothing');
  expect(mailbox.mails.filter(({ to }) => to === 'b@example.com')).toEqual([]);
  transport.close();
});
