// The answers on customers' pages are those that recorded cases have, to the requests of the calls above
// them. `test/conformance/recorded.test.ts` holds the cases against the executable.

import { describe, expect, test } from 'bun:test';
import { recordedCase, withAnswers } from '../../scripts/answers.ts';
import { requestOf } from '../../src/docs/examples.ts';
import { CUSTOMERS, PAGES, read } from './documents.ts';

const pages = PAGES.filter((page) => page.startsWith(CUSTOMERS));

/** A call by curl with the blocks that follow it, and how each begins. */
type Call = { readonly page: string; readonly curl: string; readonly answers: readonly string[] };

const calls = pages.flatMap((page): Call[] => {
  const runs = read(page).matchAll(/(?:^```\w[^\n]*\n[\s\S]*?^```\n\n?)+/gm);
  return [...runs].flatMap(([run]) => {
    const [, curl = ''] = /^```sh\n([\s\S]*?)\n```$/m.exec(run) ?? [];
    const answers = [...run.matchAll(/^```\w+ answer (.+)$/gm)].map(([, name = '']) => name);
    return requestOf(curl) === undefined ? [] : [{ page, curl, answers }];
  });
});

test('every call that generates shows its answer', () => {
  expect(calls.length).toBeGreaterThanOrEqual(14);
  expect(calls.filter(({ answers }) => answers.length === 0)).toEqual([]);
});

test.each(pages)('%s has the recorded answers', (page) => {
  expect(withAnswers(read(page))).toBe(read(page));
});

test('numbers that the text below an answer names stand in the answer', () => {
  const named = pages.flatMap((page) =>
    [
      ...read(page).matchAll(/^```\w+ answer [^\n]+\n([\s\S]*?)^```\n\nThe answer is ([^\n]+)/gm),
    ].map(([, answer = '', text = '']) => ({ page, answer, text })),
  );
  expect(named.length).toBeGreaterThan(0);
  const missing = named.flatMap(({ page, answer, text }) =>
    [...text.matchAll(/\b\d[\d,]*\d\b/g)]
      .map(([number]) => number.replaceAll(',', ''))
      .filter((number) => !new RegExp(`\\b${number}\\b`).test(answer))
      .map((number) => [page, number]),
  );
  expect(missing).toEqual([]);
});

describe('the recorded request is that of the call', () => {
  const answered = calls.flatMap(({ page, curl, answers }) =>
    answers.map((answer) => [`${page}: ${answer}`, curl, answer] as const),
  );
  test.each(answered)('%s', (_title, curl, answer) => {
    const [name = '', format = ''] = answer.split(' ');
    const request = requestOf(curl);
    const stream = name.endsWith('-streamed') ? { stream: true } : {};
    expect(request?.format).toBe(format as 'chat');
    const recorded = JSON.parse(recordedCase(name).get(`client request (${format})`) ?? '');
    expect({ ...request?.body, ...stream, model: 'golden' }).toEqual(recorded);
  });
});

test('the messages of the second turn are the recorded ones', () => {
  const turns = [...read(`${CUSTOMERS}/tools.md`), ...read(`${CUSTOMERS}/tools-messages.md`)]
    .join('')
    .matchAll(/^```json\n([\s\S]*?)^```\n\n```json answer (\S+) (\w+)$/gm);
  const shown = [...turns].map(([, messages = '', name = '', format]) => {
    const recorded = recordedCase(name).get(`client request (${format})`) ?? '';
    return [JSON.parse(messages), JSON.parse(recorded).messages];
  });
  expect(shown).toHaveLength(2);
  for (const [messages, recorded] of shown) expect(messages).toEqual(recorded);
});
