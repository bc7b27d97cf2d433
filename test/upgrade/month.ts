// The archived month of a version, in the folder of its recorded books: later versions verify it, as
// they must any file that an operator kept.

import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { listArchives } from '../../src/ledger/archive/anchors.ts';
import { type MonthFiles, monthFiles } from '../../src/operations/archive/files.ts';
import {
  archiveAll,
  BEGIN_MS,
  live,
  openPast,
  type PastEvent,
} from '../operations/archive/past.ts';

const DAY_MS = 86_400_000;

const KINDS: readonly PastEvent['what'][] = ['settle', 'settle', 'lose', 'release', 'credit'];

/** One account with every kind of receipt, for two months. */
const EVENTS: readonly PastEvent[] = Array.from({ length: 60 }, (_, at) => ({
  account: 0,
  what: at < 2 ? 'credit' : (KINDS[at % KINDS.length] ?? 'settle'),
  afterHours: 24,
}));

export function monthOf(folder: string): MonthFiles {
  return {
    receipts: join(folder, 'month.receipts.jsonl.gz'),
    books: join(folder, 'month.books.db'),
  };
}

/** Archives a drawn past with this source, in `directory`, and copies its second month. */
export async function recordMonth(folder: string, directory: string): Promise<void> {
  await using open = await openPast(directory);
  await live(open, EVENTS, BEGIN_MS);
  await archiveAll(open, directory, BEGIN_MS + 200 * DAY_MS);
  const archive = (await listArchives(open.database.db))[1];
  if (archive === undefined) throw new Error('The past has no second month.');
  mkdirSync(folder, { recursive: true });
  const [from, to] = [monthFiles(directory, archive), monthOf(folder)];
  cpSync(from.receipts, to.receipts);
  cpSync(from.books, to.books);
}
