// The groups of the usage page, their series over time, and their figures. There may be tens of
// thousands of end users, so sums yield to the event loop.

import { createPause } from '../../async/yield.ts';
import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
import type { Buckets, Cell } from '../../ledger/series/buckets.ts';
import { addFigures, type Figures, sumFigures } from '../../ledger/series/figures.ts';

const GROUPS_SHOWN = 100;
/** All other groups form one more series. */
const SERIES_SHOWN = 5;

/** The display name of a key; of others, the group itself. */
export type GroupName = (group: string) => string;

/** What the chart shows, by which groups are ordered. */
export type UsageMeasure = 'spent' | 'requests' | 'tokens' | 'failed';

export type UsageGrouping = 'total' | 'model' | 'key' | 'end_user';

type Group = { readonly group: string; readonly figures: Figures };

type Groups = {
  /** Those with most of the measure, highest first. */
  readonly shown: readonly Group[];
  readonly count: number;
  readonly total: Figures;
};

/** Cells or groups that are summed or sorted at once: some 2 ms. */
const AT_ONCE = 2_000;

const MEASURES: Readonly<Record<UsageMeasure, (figures: Figures) => number | bigint>> = {
  spent: ({ debited }) => debited,
  requests: ({ requests }) => requests,
  tokens: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
  failed: ({ failed }) => failed,
};

/** Complete groups by a measure. */
export async function groupsOf(
  { cells }: Buckets<Figures>,
  measure: UsageMeasure,
): Promise<Groups> {
  const read = MEASURES[measure];
  const sums = new Map<string, Figures>();
  for await (const piece of piecesOf(cells)) {
    for (const { group, figures } of piece) addTo(sums, group, figures);
  }
  let shown: readonly Group[] = [];
  let total = sumFigures([]);
  for await (const piece of piecesOf([...sums])) {
    const more = piece.map(([group, figures]) => ({ group, figures }));
    total = sumFigures([total, ...more.map(({ figures }) => figures)]);
    shown = [...shown, ...more]
      .sort((a, b) => {
        const [mine, other] = [read(a.figures), read(b.figures)];
        return mine === other ? (a.group < b.group ? -1 : 1) : mine > other ? -1 : 1;
      })
      .slice(0, GROUPS_SHOWN);
  }
  return { shown, count: sums.size, total };
}

async function* piecesOf<T>(all: readonly T[]): AsyncGenerator<readonly T[], void, undefined> {
  const pause = createPause();
  for (let at = 0; at < all.length; at += AT_ONCE) {
    yield all.slice(at, at + AT_ONCE);
    await pause();
  }
}

function addTo<Name>(sums: Map<Name, Figures>, name: Name, figures: Figures): void {
  const before = sums.get(name);
  sums.set(name, before === undefined ? figures : addFigures(before, figures));
}

/** The group of a model has the one that served and the requested one. */
function namesOf(group: string, groupBy: UsageGrouping, nameOf: GroupName) {
  if (groupBy !== 'model') return { group, name: nameOf(group), requested: null };
  const [served = '', requested = served] = group.split(' ');
  return { group, name: served, requested: requested === served ? null : requested };
}

export function groupRecord(
  { group, figures }: Group,
  groupBy: UsageGrouping,
  nameOf: GroupName,
  usdPerMillion: UsdRate,
) {
  return {
    ...namesOf(group, groupBy, nameOf),
    figures: figuresRecord(figures, usdPerMillion),
  };
}

export async function seriesOf(
  { cells }: Buckets<Figures>,
  { shown, count }: Groups,
  groupBy: UsageGrouping,
  nameOf: GroupName,
  usdPerMillion: UsdRate,
) {
  // A single remaining group gets its own series instead of "others".
  const own = shown.slice(0, count === SERIES_SHOWN + 1 ? undefined : SERIES_SHOWN);
  const byGroup = new Map<string, Cell<Figures>[]>(own.map(({ group }) => [group, []]));
  const rest = new Map<number, Figures>();
  for await (const piece of piecesOf(cells)) {
    for (const cell of piece) {
      const ofGroup = byGroup.get(cell.group);
      if (ofGroup === undefined) addTo(rest, cell.bucket, cell.figures);
      else ofGroup.push(cell);
    }
  }
  const others = Array.from(rest, ([bucket, figures]) => ({ bucket, figures }));
  return [
    ...own.map(({ group }) => ({
      ...namesOf(group, groupBy, nameOf),
      points: pointsOf(byGroup.get(group) ?? [], usdPerMillion),
    })),
    ...(others.length === 0
      ? []
      : [{ group: null, name: null, requested: null, points: pointsOf(others, usdPerMillion) }]),
  ];
}

export function pointsOf(
  cells: readonly Pick<Cell<Figures>, 'bucket' | 'figures'>[],
  usdPerMillion: UsdRate,
) {
  return [...Map.groupBy(cells, ({ bucket }) => bucket)]
    .sort(([a], [b]) => a - b)
    .map(([bucket, of]) => {
      const sum = sumFigures(of.map(({ figures }) => figures));
      return {
        /** The index of its bucket; buckets without requests have no point. */
        bucket,
        requests: sum.requests,
        failed: sum.failed,
        input_tokens: sum.inputTokens,
        output_tokens: sum.outputTokens,
        spent: formatTokens(sum.debited),
        spent_usd: formatUsd(sum.debited, usdPerMillion),
      };
    });
}

/** Amounts are service tokens; `waived` is what the balance did not cover. */
export function figuresRecord(figures: Figures, usdPerMillion: UsdRate) {
  const { requests, stopped, cancelled, failed } = figures;
  return {
    requests,
    /** Requests by outcome; they add up to all requests. */
    completed: requests - stopped - cancelled - failed,
    stopped,
    cancelled,
    failed,
    input_tokens: figures.inputTokens,
    cached_input_tokens: figures.cachedInputTokens,
    output_tokens: figures.outputTokens,
    reasoning_tokens: figures.reasoningTokens,
    spent: formatTokens(figures.debited),
    spent_usd: formatUsd(figures.debited, usdPerMillion),
    waived: formatTokens(figures.loss),
  };
}
