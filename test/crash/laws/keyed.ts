// What an `Idempotency-Key` promises across kills: one charge a key, the same bytes each time, and an
// end for every key.

import type { Books, KeyedEntry } from '../books.ts';
import { readAnswer } from '../client.ts';
import { isFinal } from '../keyed.ts';
import type { UsageRecord } from '../ledger.ts';
import type { Law } from './law.ts';

/** A law about each key by itself. */
function eachKey(
  name: string,
  check: (entry: KeyedEntry, charged: readonly UsageRecord[]) => string | undefined,
): Law {
  return {
    name,
    breaches: (books) => {
      const charges = chargesByMark(books);
      return books.keyed.flatMap((entry) => {
        const detail = check(entry, charges.get(entry.mark) ?? []);
        return detail === undefined ? [] : [{ subject: entry.mark, detail }];
      });
    },
  };
}

function chargesByMark({ ledger }: Books): ReadonlyMap<string, readonly UsageRecord[]> {
  const records = new Map(ledger.records.map((record) => [record.requestId, record]));
  const charged = ledger.holds.flatMap(({ mark, requestId }) => {
    const record = records.get(requestId);
    return record !== undefined && record.debited + record.loss > 0n ? [{ mark, record }] : [];
  });
  const byMark = Map.groupBy(charged, ({ mark }) => mark);
  return new Map([...byMark].map(([mark, all]) => [mark, all.map(({ record }) => record)]));
}

const chargedOnce = eachKey('a key is charged once', (_entry, charged) =>
  charged.length < 2
    ? undefined
    : charged.map(({ requestId, debited }) => `${requestId}: ${debited}`).join(', '),
);

const sameBytes = eachKey('a charged answer is repeated byte for byte', ({ tries }, charged) => {
  const [record] = charged;
  const read = tries.filter(isFinal).map((entry) => ({ entry, ...readAnswer(entry) }));
  const own = read.filter(({ headers }) => headers.get('x-request-id') === record?.requestId);
  const [first, ...repeats] = own.filter(({ status }) => status === 200);
  if (first === undefined) return undefined;
  const other = repeats.find(({ text }) => text !== first.text);
  if (other !== undefined) return `${first.text.slice(-300)} and then ${other.text.slice(-300)}`;
  const after = read.slice(read.findIndex(({ entry }) => entry === first.entry));
  const foreign = after.find(
    ({ status, headers }) =>
      status === 200 && headers.get('x-request-id') !== first.headers.get('x-request-id'),
  );
  return foreign && `${foreign.headers.get('x-request-id')} answered after ${record?.requestId}`;
});

const lostIsCharged = eachKey('what is lost was charged', ({ tries }, charged) => {
  const isLost = tries.some((entry) => isFinal(entry) && readAnswer(entry).status === 410);
  return isLost && charged.length === 0 ? 'there is no charge' : undefined;
});

const keysEnd = eachKey('each key has an end', ({ tries }) => {
  const last = tries.at(-1);
  if (last !== undefined && isFinal(last)) return undefined;
  const statuses = tries.map((entry) => readAnswer(entry).status ?? 'no head');
  return `${tries.length} tries: ${statuses.join(', ')}; ${last && readAnswer(last).text}`;
});

export const KEYED_LAWS: readonly Law[] = [chargedOnce, sameBytes, lostIsCharged, keysEnd];
