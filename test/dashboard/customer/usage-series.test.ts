// The groups and series of very many cells equal those of a plain sum.

import { expect, test } from 'bun:test';
import { micro, usdRate, ZERO } from '../../../src/core/money.ts';
import { groupsOf, seriesOf } from '../../../src/dashboard/customer/usage-series.ts';
import type { Figures } from '../../../src/ledger/series/figures.ts';
import { turnsDuring } from '../../support/turns.ts';

function figures(requests: number): Figures {
  return {
    ...{ requests, stopped: 0, cancelled: 0, failed: 0 },
    ...{ inputTokens: requests, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    ...{ charged: micro(BigInt(requests)), debited: micro(BigInt(requests)), loss: ZERO },
  };
}

const USERS = 20_000;

/** Each user has requests in two buckets; the higher the number, the more. */
const cells = Array.from({ length: 2 * USERS }, (_, index) => ({
  bucket: index % 2,
  group: `user-${index >> 1}`,
  figures: figures(1 + index),
}));
const buckets = { cells, firstBucket: 0, behind: 0 };

test('40,000 cells are summed by group, without keeping the loop', async () => {
  const turns = await turnsDuring(async () => {
    const { shown, count, total } = await groupsOf(buckets, 'requests');
    expect(count).toBe(USERS);
    expect(total).toMatchObject({ requests: USERS * (2 * USERS + 1) });
    expect(shown.map(({ group }) => group)).toEqual(
      Array.from({ length: 100 }, (_, place) => `user-${USERS - 1 - place}`),
    );
    expect(shown[0]?.figures).toEqual(figures(4 * USERS - 1));
  });
  expect(turns).toBeGreaterThan(1);
});

test('those with the most have a series, and all others are one', async () => {
  const groups = await groupsOf(buckets, 'requests');
  const series = await seriesOf(buckets, groups, 'end_user', (group) => group, usdRate(1n));
  expect(series.map(({ name }) => name)).toEqual([
    ...[1, 2, 3, 4, 5].map((place) => `user-${USERS - place}`),
    null,
  ]);
  const requests = series.flatMap(({ points }) => points.map((point) => point.requests));
  expect(requests.slice(0, 2)).toEqual([2 * USERS - 1, 2 * USERS]);
  expect(requests.reduce((sum, count) => sum + count)).toBe(USERS * (2 * USERS + 1));
});
