// What would break the laws of requests with an `Idempotency-Key`.

import type { Books, KeyedEntry } from './books.ts';
import { type ClientEntry, readAnswer } from './client.ts';
import { isFinal } from './keyed.ts';
import type { Tampering } from './tampering.ts';

export const KEYED_TAMPERINGS: readonly Tampering[] = [
  withKey('a key is charged once', 'a second request of a key was charged', (books, { mark }) => {
    const { holds, records } = books.ledger;
    const hold = holds.find((each) => each.mark === mark);
    const record = records.find(({ requestId }) => requestId === hold?.requestId);
    if (hold === undefined || record === undefined || record.debited === 0n) return undefined;
    const requestId = `${hold.requestId}again`;
    const ledger = {
      ...books.ledger,
      holds: [...holds, { ...hold, requestId }],
      records: [...records, { ...record, requestId }],
    };
    return { ...books, ledger };
  }),
  withKey('a charged answer is repeated byte for byte', 'a word was another', (books, entry) =>
    withLast(books, entry, (text) => text.replace(' apple', ' grape')),
  ),
  withKey(
    'a charged answer is repeated byte for byte',
    'a repeat ran as a request of its own',
    (books, entry) =>
      withLast(books, entry, (text) =>
        text.replace(/x-request-id: \S+/i, 'x-request-id: req_other'),
      ),
  ),
  withKey('what is lost was charged', 'a free request was lost', (books, entry) => {
    const isOwn = ({ mark }: { readonly mark: string }): boolean => mark === entry.mark;
    const ledger = { ...books.ledger, holds: books.ledger.holds.filter((hold) => !isOwn(hold)) };
    return withLast({ ...books, ledger }, entry, (text) => text.replace(/ 200 /, ' 410 '));
  }),
  withKey('each key has an end', 'the last try had none', (books, entry) =>
    replaceLast(books, entry, (last) => ({ ...last, complete: false })),
  ),
];

/** Changes the first key for which that is possible. */
function withKey(
  law: string,
  what: string,
  change: (books: Books, entry: KeyedEntry) => Books | undefined,
): Tampering {
  return {
    law,
    what,
    tamper(books) {
      for (const entry of books.keyed) {
        const changed = isAnswered(books, entry) ? change(books, entry) : undefined;
        if (changed !== undefined) return changed;
      }
      return undefined;
    },
  };
}

/** Each of its tries got the answer of one charged request. */
function isAnswered({ ledger }: Books, { mark, tries }: KeyedEntry): boolean {
  const holds = ledger.holds.filter((hold) => hold.mark === mark);
  const isCharged = ledger.records.some(
    ({ requestId, debited }) => requestId === holds[0]?.requestId && debited > 0n,
  );
  const isComplete = tries.every((entry) => isFinal(entry) && readAnswer(entry).status === 200);
  return holds.length === 1 && isCharged && isComplete;
}

/** As if the last try had received other bytes. Undefined if they are the same, or if it is alone. */
function withLast(
  books: Books,
  entry: KeyedEntry,
  change: (text: string) => string,
): Books | undefined {
  const all = entry.tries.at(-1)?.received ?? [];
  const before = Buffer.concat(all.map(({ bytes }) => bytes)).toString('latin1');
  const after = change(before);
  if (entry.tries.length < 2 || after === before) return undefined;
  const received = [{ atMs: all[0]?.atMs ?? 0, bytes: Buffer.from(after, 'latin1') }];
  return replaceLast(books, entry, (last) => ({ ...last, received }));
}

function replaceLast(
  books: Books,
  { mark, tries }: KeyedEntry,
  change: (last: ClientEntry) => ClientEntry,
): Books {
  const changed = tries.map((entry, at) => (at === tries.length - 1 ? change(entry) : entry));
  return {
    ...books,
    keyed: books.keyed.map((entry) => (entry.mark === mark ? { mark, tries: changed } : entry)),
  };
}
