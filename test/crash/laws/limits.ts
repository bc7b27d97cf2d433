// Slots neither leak nor are granted twice (I-12), derived from the upstream's concurrent requests.
// While cluster nodes are partitioned, each has a share, and their sum with earlier admissions may
// exceed the limit; later admissions may not.

import { type Books, lagAround, type Story } from '../books.ts';
import { isLetInUnseen, sinceUnseen } from '../excuses.ts';
import type { Law } from './law.ts';

/** A slot is free before the rig sees the end of its request; only what lasts longer is an excess. */
const SLOT_SEAM_MS = 250;

type Interval = { readonly mark: string; readonly fromMs: number; readonly toMs: number };

const neverAboveTheLimit: Law = {
  name: 'never above the concurrency limit',
  breaches: (books, stories) =>
    books.accounts.flatMap(({ name, concurrency }) => {
      const own = stories.filter(({ client }) => client.drawn.account === name);
      const known = own.filter((story) => !isLetInUnseen(story, books));
      const groups = Map.groupBy(known, (story) => sinceUnseen(story, books)).values();
      return [
        ...[...groups].flatMap((group) => crowdAbove(concurrency, name, group, books)),
        ...(known.length === own.length
          ? []
          : crowdAbove(mostUnseen(concurrency, books), name, own, books)),
      ].slice(0, 1);
    }),
};

/**
 * What had been let in before, and the shares of all nodes. A Redis that has forgotten it all may let
 * the whole limit in once more before it is notified.
 */
function mostUnseen(limit: number, { nodes, played }: Books): number {
  const shares = nodes * Math.max(1, Math.floor(limit / nodes));
  return limit + (played.includes('kill Redis') ? limit : 0) + shares;
}

function crowdAbove(most: number, subject: string, stories: readonly Story[], books: Books) {
  const crowd = largestCrowd(stories.flatMap((story) => intervalOf(story, books)));
  if (crowd.length <= most) return [];
  const detail = `${crowd.length} at the upstream at once, ${most} allowed: ${crowd.join(', ')}`;
  return [{ subject, detail }];
}

/**
 * While this request was certainly in flight: until its client, its upstream or its process ended.
 */
function intervalOf({ mark, client, served, kill }: Story, books: Books): Interval[] {
  const [first] = served;
  if (first === undefined) return [];
  const ends = [
    client.left?.atMs ?? Number.POSITIVE_INFINITY,
    client.endedAtMs,
    served.at(-1)?.ended?.atMs ?? Number.POSITIVE_INFINITY,
    kill?.atMs ?? Number.POSITIVE_INFINITY,
  ];
  const endedAtMs = Math.min(...ends);
  const toMs = endedAtMs - SLOT_SEAM_MS - lagAround(books, endedAtMs);
  return toMs > first.atMs ? [{ mark, fromMs: first.atMs, toMs }] : [];
}

/** The marks that overlap in the instant in which most do. */
function largestCrowd(intervals: readonly Interval[]): string[] {
  let crowd: string[] = [];
  for (const { fromMs } of intervals) {
    const here = intervals.filter((each) => each.fromMs <= fromMs && fromMs < each.toMs);
    if (here.length > crowd.length) crowd = here.map(({ mark }) => mark);
  }
  return crowd;
}

const allSlotsComeBack: Law = {
  name: 'a burst of the limit is admitted, and no more',
  breaches: ({ bursts }) =>
    bursts
      .filter(({ limit, admitted, refusal }) => admitted !== limit || refusal !== SLOT_REFUSAL)
      .map(({ account, limit, admitted, refusal }) => ({
        subject: account,
        detail: `${admitted} of ${limit} admitted, the next one got ${refusal}`,
      })),
};

const SLOT_REFUSAL = '429 concurrency_limit_exceeded';

export const LIMIT_LAWS: readonly Law[] = [neverAboveTheLimit, allSlotsComeBack];
