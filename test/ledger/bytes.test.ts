// The permanent bytes of a request in the file, including its indexes and its receipt: an operator
// keeps it for years, so another column is a decision. SQLite; exact, because rows and pages are.

import { expect, test } from 'bun:test';
import { createRequestId } from '../../src/core/id.ts';
import { createWriter } from '../../src/ledger/writer.ts';
import { temporaryDirectory } from '../support/database.ts';
import { fundAccount, holdOf, NOW, openBooks, settleOf } from '../support/ledger.ts';

const directory = temporaryDirectory();

const REQUESTS = 4_000;
const BATCH = 50;

const RAW_USAGE = '{"prompt_tokens":20,"completion_tokens":9,"total_tokens":29}';

/** What a request of a customer with one key looks like: one attempt that served. */
const ATTEMPTS = JSON.stringify([
  {
    ...{ upstream: 'demo', model: 'swift-1', upstreamModel: 'demo-1', credential: '1' },
    ...{ startedAt: NOW, endedAt: NOW + 640, firstByteMs: 120.4, firstContentMs: 310.2 },
    usage: { inputTokens: 20, outputTokens: 9, basis: 'reported' },
  },
]);

test('a request leaves at most 220 bytes in the file', async () => {
  await using open = await openBooks(directory);
  await fundAccount(open, 'ada', 10n ** 12n);
  const write = createWriter(open.database);
  const serve = async (from: number): Promise<void> => {
    const ids = Array.from({ length: BATCH }, (_, n) =>
      createRequestId(NOW + (from + n) * 10, (length) =>
        crypto.getRandomValues(new Uint8Array(length)),
      ),
    );
    await write(ids.map((id) => ({ name: 'hold', command: holdOf(id, 'ada', 1_500_000n) })));
    const facts = { rawUsage: RAW_USAGE, attempts: ATTEMPTS };
    await write(
      ids.map((id) => ({ name: 'settle', command: { ...settleOf(id, 12_345n), ...facts } })),
    );
  };
  const bytes = (): number => {
    const { connection } = open.database;
    const pages = connection.query<{ n: bigint }, []>(
      'SELECT page_count AS n FROM pragma_page_count',
    );
    return Number(pages.get()?.n) * 4_096;
  };
  // The first ones bring the names and the shapes that all others use.
  for (let from = 0; from < REQUESTS; from += BATCH) await serve(from);
  const before = bytes();
  for (let from = REQUESTS; from < 2 * REQUESTS; from += BATCH) await serve(from);
  const each = (bytes() - before) / REQUESTS;
  expect(each).toBeLessThan(220);
}, 60_000);
