// Files that their client leaves before the end, with pages in which nothing matches: a narrow
// filter over a long history has very many of them.

import { describe, expect, test } from 'bun:test';
import { usdRate } from '../../../src/core/money.ts';
import { createExports, fileResponse, whileSent } from '../../../src/dashboard/customer/exports.ts';
import { ledgerCsv } from '../../../src/dashboard/customer/ledger.ts';
import { csvPages } from '../../../src/dashboard/customer/requests-csv.ts';
import { waitUntil } from '../../support/upstream.ts';

const RATE = usdRate(1_000_000n);

type ReadPage = () => Promise<void>;

/** Files of empty pages. */
const FILES: readonly (readonly [string, (read: ReadPage) => AsyncIterator<string, void>])[] = [
  [
    'requests',
    (read) =>
      csvPages(async () => {
        await read();
        return { entries: [], next: { ended: { startedAt: 1, row: 1 }, refused: undefined } };
      }, RATE),
  ],
  [
    'ledger entries',
    (read) => {
      async function* pages() {
        for (;;) {
          await read();
          yield [];
        }
      }
      return ledgerCsv(pages(), { readNames: async () => () => '', usdPerMillion: RATE });
    },
  ],
];

test('files of many accounts take turns', async () => {
  let now = 0;
  let most = 0;
  async function* pieces() {
    for (let piece = 0; piece < 20; piece += 1) {
      now += 1;
      // All are opened in one turn.
      if (piece > 2) most = Math.max(most, now);
      yield 'x'.repeat(100_000);
    }
  }
  const files = Array.from({ length: 10 }, () =>
    fileResponse({ pieces: pieces(), type: 'text/csv', filename: 'x.csv' }),
  );
  let isDone = false;
  const done = Promise.all(files.map((file) => file.arrayBuffer())).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    now = 0;
  }
  await done;
  expect(most).toBeLessThanOrEqual(2);
});

describe.each(FILES)('a file of %s without a match', (_name, piecesOf) => {
  function open(read: ReadPage) {
    let isOver = false;
    const pieces = piecesOf(read);
    const onEnd = (): void => {
      isOver = true;
    };
    const { body } = fileResponse({ pieces, type: 'text/csv', filename: 'x.csv' }, { onEnd });
    const reader = body?.getReader();
    if (reader === undefined) throw new Error('The file has no body.');
    return { reader, isOver: () => isOver };
  }

  test('is read no further once its client leaves', async () => {
    let reads = 0;
    const { reader, isOver } = open(async () => {
      reads += 1;
      if (reads > 1_000) throw new Error('the file is still read');
      await new Promise((resolve) => setImmediate(resolve));
    });
    expect((await reader.read()).done).toBe(false);
    const rest = reader.read();
    await waitUntil(() => reads > 3);
    const before = reads;
    await reader.cancel();
    for (let turns = 0; turns < 5; turns += 1) await new Promise((go) => setImmediate(go));
    expect([reads, isOver()]).toEqual([before, true]);
    expect(await rest).toEqual({ done: true, value: undefined });
  });

  test('has its slot until the page that is being read ends', async () => {
    const page = Promise.withResolvers<void>();
    let reads = 0;
    const { reader, isOver } = open(() => {
      reads += 1;
      return page.promise;
    });
    await reader.read();
    await waitUntil(() => reads === 1);
    const cancelled = reader.cancel();
    for (let turns = 0; turns < 5; turns += 1) await new Promise((go) => setImmediate(go));
    expect(isOver()).toBe(false);
    page.resolve();
    await cancelled;
    expect([reads, isOver()]).toEqual([1, true]);
  });
});

test('a client that leaves while its file is opened, or before it is sent, frees its slot', async () => {
  const exports = createExports();
  let closed = 0;
  for (let round = 1; round <= 3; round += 1) {
    for (const isEarly of [true, false]) {
      const client = new AbortController();
      const request = new Request('http://gateway.test/', { signal: client.signal });
      const pieces = {
        next: () => Promise.resolve({ done: false as const, value: 'a' }),
        return() {
          closed += 1;
          return Promise.resolve({ done: true as const, value: undefined });
        },
      };
      // Nothing reads or cancels the response.
      await exports.serve({ request, server: null }, 'acct_a', () => {
        if (isEarly) client.abort();
        return { pieces, type: 'text/csv', filename: 'x.csv' };
      });
      client.abort();
      await new Promise((go) => setImmediate(go));
    }
  }
  expect(closed).toBe(6);
});

test('the idle timeout restarts with each piece of a file, and is shorter behind it', async () => {
  const seen: unknown[] = [];
  const server = { timeout: (_: Request, seconds: number) => seen.push(seconds) };
  const request = new Request('http://gateway.test/');
  const sending = whileSent({ request, server }, () => seen.push('end'));
  const file = { pieces: ['a', '', 'b'].values(), type: 'text/csv', filename: 'x.csv' };
  expect(await fileResponse(file, sending).text()).toBe('ab');
  expect(seen).toEqual([240, 240, 240, 240, 60, 'end']);
});
