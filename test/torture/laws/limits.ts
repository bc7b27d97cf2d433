// Slots neither leak nor are given out twice (I-12), told from what the upstream saw at one time.
// While the nodes of a cluster do not know of each other, each has a share, and their sum with what
// had been let in before may be above the limit; what is let in afterwards may not.

import { type Books, hits, type Story } from '../books.ts';
import type { Law } from './law.ts';

/** A slot is free before the rig sees the end of its request; only what lasts longer is an excess. */
const SLOT_SEAM_MS = 250;

type Interval = { readonly mark: string; readonly fromMs: number; readonly toMs: number };

const neverAboveTheLimit: Law = {
  name: 'never above the concurrency limit',
  breaches: (books, stories) =>
    books.accounts.flatMap(({ name, concurrency }) => {
      const unseen = books.troubles.filter(({ keepsFrom }) => keepsFrom === 'limits');
      const own = stories.filter(({ client }) => client.drawn.account === name);
      const seen = own.filter(({ client }) => !unseen.some((trouble) => hits(trouble, client)));
      const most = unseen.length === 0 ? concurrency : 2 * concurrency + books.nodes;
      return [
        ...crowdAbove(concurrency, name, seen, books),
        ...crowdAbove(most, name, own, books),
      ].slice(0, 1);
    }),
};

function crowdAbove(most: number, subject: string, stories: readonly Story[], books: Books) {
  const crowd = largestCrowd(stories.flatMap((story) => intervalOf(story, books)));
  if (crowd.length <= most) return [];
  const detail = `${crowd.length} at the upstream at once, ${most} allowed: ${crowd.join(', ')}`;
  return [{ subject, detail }];
}

/** While this request was certainly in flight: until its client, its upstream or its process ended. */
function intervalOf({ mark, client, served, kill }: Story, { lagMs }: Books): Interval[] {
  const [first] = served;
  if (first === undefined) return [];
  const ends = [
    client.left?.atMs ?? Number.POSITIVE_INFINITY,
    client.endedAtMs,
    served.at(-1)?.ended?.atMs ?? Number.POSITIVE_INFINITY,
    kill?.atMs ?? Number.POSITIVE_INFINITY,
  ];
  const toMs = Math.min(...ends) - SLOT_SEAM_MS - lagMs;
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
