// Large bodies of ASCII are parsed without their text: the same value, text and refusals as any other.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createDeadlines } from '../../src/core/deadlines.ts';
import { GatewayError } from '../../src/core/error.ts';
import { readBody } from '../../src/http/body.ts';
import { parseBody } from '../../src/wire/body.ts';

const LARGE = 20_000;

const SPACE = ' '.repeat(LARGE);

const deadlines = createDeadlines(() => 0);

/** Reads the text, and says which of its bytes were kept. */
async function read(text: string | Uint8Array) {
  const request = new Request('http://localhost/', { method: 'POST', body: text });
  const all: Uint8Array[] = [];
  const room = { take: () => undefined, keep: (bytes: Uint8Array) => void all.push(bytes) };
  const body = await readBody(request, deadlines, room);
  return { body, kept: all[0] };
}

test('the value and the text are those of the parser that reads texts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ stringUnit: 'binary' }), async (json) => {
      const text = json + SPACE;
      const { body } = await read(text);
      const { value, text: same } = parseBody(new TextEncoder().encode(text));
      expect([body.value, body.text]).toEqual([value, same]);
    }),
  );
});

test('an escaped lone surrogate is repaired', async () => {
  const { body, kept } = await read(`"\\ud800"${SPACE}`);
  expect([body.value, kept]).toEqual(['\ufffd', undefined]);
});

test('the bytes are kept, and the length of the text is known without it', async () => {
  const { body, kept } = await read(`[1]${SPACE}`);
  expect([kept?.length, body.length]).toEqual([LARGE + 3, LARGE + 3]);
});

test.each([
  ['not valid JSON', `[1,]${SPACE}`],
  ['deeper than 64 levels', `${'['.repeat(65)}${']'.repeat(65)}${SPACE}`],
  ['not valid UTF-8', Buffer.concat([Buffer.from(`[1]${SPACE}`), Buffer.of(0xff)])],
])('%s', async (words, body) => {
  const error = await read(body).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(GatewayError);
  expect(error.message).toContain(words);
});
