// The limits of each excuse of the cluster's laws: a case just inside passes, a case just outside
// breaks its law. The records are synthetic; those of real rounds are judged in cluster/.

import { expect, test } from 'bun:test';
import { type Books, joinBooks, type Trouble } from './books.ts';
import { type ClientEntry, PATIENCE_MS } from './client.ts';
import { judge } from './laws/all.ts';
import { ACCOUNTS } from './setup.ts';
import type { Served } from './upstream.ts';

const NODES = 3;
const LIMIT = 2;

const FROM_MS = 100_000;
const TO_MS = 110_000;

/** At the first of the nodes. */
function trouble(keepsFrom: Trouble['keepsFrom']): Trouble {
  return { name: 'a fault', keepsFrom, generation: 1, fromMs: FROM_MS, toMs: TO_MS };
}

function troubleOfAll(keepsFrom: Trouble['keepsFrom']): Trouble {
  return { ...trouble(keepsFrom), generation: undefined };
}

type Asked = {
  readonly sentAtMs: number;
  readonly endedAtMs?: number;
  readonly generation?: number;
  readonly status?: number;
  /** True by default. */
  readonly complete?: boolean;
};

function clientOf(asked: Asked, index: number): ClientEntry {
  const { sentAtMs, endedAtMs = sentAtMs + 100, generation = 1, complete = true, status } = asked;
  const bytes = Buffer.from(`HTTP/1.1 ${status} AnswerContent\r\n\r\n`);
  return {
    drawn: {
      ...{ mark: `narrow-${index}`, account: 'narrow', model: 'swift', format: 'chat' },
      ...{ stream: true, maxTokens: 1, behaviour: 'ok', words: 1, wordsInPiece: 1, gapMs: 0 },
      ...{
        delayMs: 0,
        breakAfter: 0,
        leaving: 'stay',
        leaveAfterBytes: 0,
        leaveAfterMs: 0,
        fillerCharacters: 0,
        hidden: 0,
        stopAfter: -1,
      },
    },
    ...{ generation, sentAtMs, complete, endedAtMs },
    received: status === undefined ? [] : [{ atMs: endedAtMs, bytes }],
  };
}

function booksOf(asked: readonly Asked[], change: Partial<Books>): Books {
  return {
    ...{
      accounts: [],
      kills: [],
      played: [],
      troubles: [],
      nodes: NODES,
      credits: [],
      samples: [],
      keyed: [],
    },
    ...{ bursts: [], verdicts: [], quiescentAfterMs: 0, exitCode: 0, upstream: [] },
    ...{ lags: [], gatewayLags: [] },
    ledger: { holds: [], records: [], entries: [], balances: [], receipts: [] },
    clients: asked.map(clientOf),
    ...change,
  };
}

const brokenBy = (asked: Asked, change: Partial<Books>): readonly string[] =>
  judge(booksOf([asked], change)).map(({ law }) => law);

const REFUSED = ['refused for a reason'];
const REFUSALS: readonly (readonly [string, Asked, Partial<Books>, readonly string[]])[] = [
  ['with nothing wrong', { sentAtMs: FROM_MS }, {}, REFUSED],
  ['kept from the books', { sentAtMs: TO_MS }, { troubles: [trouble('database')] }, []],
  ['when that is over', { sentAtMs: TO_MS + 1 }, { troubles: [trouble('database')] }, REFUSED],
  ['before it begins', { sentAtMs: FROM_MS - 101 }, { troubles: [trouble('database')] }, REFUSED],
  [
    'at another node',
    { sentAtMs: TO_MS, generation: 2 },
    { troubles: [trouble('database')] },
    REFUSED,
  ],
  [
    'behind the locks of another node',
    { sentAtMs: TO_MS, generation: 2 },
    { troubles: [troubleOfAll('locks')] },
    [],
  ],
  ['without Redis', { sentAtMs: TO_MS }, { troubles: [trouble('limits')] }, REFUSED],
  ['cut off from its clients', { sentAtMs: TO_MS }, { troubles: [trouble('clients')] }, REFUSED],
  [
    'by a busy machine',
    { sentAtMs: FROM_MS },
    { lags: [{ fromMs: FROM_MS - 2_150, toMs: FROM_MS - 2_000, lateMs: 140 }] },
    [],
  ],
  [
    'long after it was busy',
    { sentAtMs: FROM_MS },
    { lags: [{ fromMs: FROM_MS - 2_151, toMs: FROM_MS - 2_001, lateMs: 140 }] },
    REFUSED,
  ],
  [
    'by a machine that is a little late',
    { sentAtMs: FROM_MS },
    { lags: [{ fromMs: FROM_MS, toMs: FROM_MS + 110, lateMs: 100 }] },
    REFUSED,
  ],
];

test.each(REFUSALS)('a 503 %s', (_name, asked, change, broken) => {
  expect(brokenBy({ ...asked, status: 503 }, change)).toEqual([...broken]);
});

test('what an upstream goes on with is in progress after its client has left, until it is booked', () => {
  const client = clientOf({ sentAtMs: FROM_MS - 5_000 }, 0);
  const troublesOf = (endedAtMs: number) => {
    const served: Served = {
      ...{ mark: client.drawn.mark, account: 'narrow', model: 'steady', atMs: FROM_MS - 4_990 },
      ...{ sent: [], ended: { how: 'finished', atMs: endedAtMs } },
    };
    const books = booksOf([], { troubles: [trouble('database')], upstream: [served] });
    const [story] = joinBooks({ ...books, clients: [client] });
    return story?.troubles.length;
  };
  expect([troublesOf(FROM_MS - 1_000), troublesOf(FROM_MS - 1_001)]).toEqual([1, 0]);
});

test('what a client has left is in progress until it is booked', () => {
  const troublesOf = (leftAtMs: number) => {
    const client = clientOf({ sentAtMs: FROM_MS - 5_000, endedAtMs: leftAtMs }, 0);
    const books = booksOf([], { troubles: [trouble('database')] });
    const left = { ...client, left: { atMs: leftAtMs } };
    return joinBooks({ ...books, clients: [left] })[0]?.troubles.length;
  };
  expect([troublesOf(FROM_MS - 1_000), troublesOf(FROM_MS - 1_001)]).toEqual([1, 0]);
});

test('no trouble excuses any other refusal', () => {
  const troubles = (['database', 'locks', 'limits', 'clients'] as const).map((each) =>
    trouble(each),
  );
  for (const status of [400, 401, 403, 500, 502, 504]) {
    expect(brokenBy({ sentAtMs: FROM_MS, status }, { troubles })).toEqual(REFUSED);
  }
});

const SILENT = ['every request ends'];
const SILENCES: readonly (readonly [string, number, Trouble['keepsFrom'], readonly string[]])[] = [
  ['cut off on its way', 100, 'clients', []],
  ['whose bill waits for the books', PATIENCE_MS, 'database', []],
  ['that ends while its node is kept from the books', PATIENCE_MS - 51, 'database', SILENT],
  ['behind the locks of another node', PATIENCE_MS, 'locks', SILENT],
  ['without Redis', PATIENCE_MS, 'limits', SILENT],
];

test.each(SILENCES)('an answer %s', (_name, waitedMs, keepsFrom, broken) => {
  const asked = { sentAtMs: FROM_MS, endedAtMs: FROM_MS + waitedMs, complete: false };
  expect(brokenBy(asked, { troubles: [trouble(keepsFrom)] })).toEqual([...broken]);
});

/** Requests that run for so long that all of them overlap. */
function crowd(sentAtMs: number, size: number, generation = 1): readonly Asked[] {
  const endedAtMs = TO_MS + 60_000;
  return Array.from({ length: size }, () => ({ sentAtMs, endedAtMs, generation, status: 200 }));
}

function isAboveTheLimit(asked: readonly Asked[], change: Partial<Books>): boolean {
  const books = booksOf(asked, change);
  const upstream = books.clients.map(
    ({ drawn, sentAtMs }): Served => ({ ...drawn, atMs: sentAtMs + 1, sent: [] }),
  );
  const accounts = ACCOUNTS.filter(({ name }) => name === 'narrow').map((each) => {
    return { ...each, id: 'acct', key: 'key' };
  });
  const broken = judge({ ...books, upstream, accounts }).map(({ law }) => law);
  return broken.includes('never above the concurrency limit');
}

const UNSEEN = { troubles: [trouble('limits')] };
const ALL_UNSEEN = { troubles: [troubleOfAll('limits')] };
const CROWDS: readonly (readonly [string, readonly Asked[], Partial<Books>, boolean])[] = [
  ['the limit', crowd(FROM_MS, LIMIT), {}, false],
  ['one more', crowd(FROM_MS, LIMIT + 1), {}, true],
  ['one more, at a node without Redis', crowd(TO_MS, LIMIT + 1), UNSEEN, false],
  ['one more, at another node', crowd(TO_MS, LIMIT + 1, 2), UNSEEN, true],
  ['one more, when Redis is back', crowd(TO_MS + 1, LIMIT + 1), ALL_UNSEEN, true],
  ['the limit and all shares', crowd(TO_MS, LIMIT + NODES), ALL_UNSEEN, false],
  ['more than that', crowd(TO_MS, LIMIT + NODES + 1), ALL_UNSEEN, true],
  [
    'the limit twice, where Redis has forgotten it, and all shares',
    crowd(TO_MS, 2 * LIMIT + NODES),
    { ...ALL_UNSEEN, played: ['kill Redis'] },
    false,
  ],
  [
    'more than that',
    crowd(TO_MS, 2 * LIMIT + NODES + 1),
    { ...ALL_UNSEEN, played: ['kill Redis'] },
    true,
  ],
  [
    'the limit before Redis is lost, and the limit afterwards',
    [...crowd(FROM_MS - 100, LIMIT), ...crowd(TO_MS + 1, LIMIT)],
    ALL_UNSEEN,
    false,
  ],
];

test.each(CROWDS)('let in at once: %s', (_name, asked, change, isBroken) => {
  expect(isAboveTheLimit(asked, change)).toBe(isBroken);
});

test.each([
  ['says 402 on a cluster', { status: 402 }, {}, []],
  ['says 503', { status: 503 }, {}, ['what an upstream saw has a hold']],
  ['says 402 on a single node', { status: 402 }, { nodes: 1 }, ['what an upstream saw has a hold']],
] as const)(
  'an upstream was called, nothing is held, and the answer %s',
  (_name, answer, change, broken) => {
    const asked = { sentAtMs: FROM_MS, ...answer };
    const client = clientOf(asked, 0);
    const seen: Served = {
      ...{ mark: client.drawn.mark, account: 'narrow', model: 'swift', atMs: FROM_MS + 1 },
      ...{ sent: [], ended: { how: 'gone', atMs: FROM_MS + 20 } },
    };
    expect(brokenBy(asked, { upstream: [seen], ...change })).toEqual([...broken]);
  },
);
