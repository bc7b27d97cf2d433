// The faults of a round, how often each one fired, and how often it must: a run in which a fault
// was too rare proves nothing about it.

import { readTokens } from './amounts.ts';
import type { Books, KeyedEntry, Story } from './books.ts';
import { readAnswer } from './client.ts';
import { CLUSTER_FAULTS } from './cluster/faults.ts';
import { BEHAVIOURS, LEAVINGS } from './draw.ts';
import { TRIGGERS } from './killer.ts';

export type Fault = {
  readonly name: string;
  /** Below this many a round, on the average, a run is not valid. */
  readonly least: number;
  readonly count: (books: Books, stories: readonly Story[]) => number;
};

/** Kills of the one gateway of a round; those of a cluster are counted with what was played. */
const KILLS: readonly Fault[] = [
  { name: 'kills', least: 1, count: ({ kills }) => kills.length },
  ...TRIGGERS.map(
    (trigger): Fault => ({
      name: `kill at ${trigger}`,
      least: 0.1,
      count: ({ kills }) => kills.filter((kill) => kill.trigger === trigger).length,
    }),
  ),
  // What was in progress when the process died, by how far it had come.
  stories('cut off before the upstream', 0.2, ({ served, kill, record }) =>
    Boolean(
      kill && served.length === 0 && record?.debited === 0n && record.outcome === 'gateway_failed',
    ),
  ),
  stories('cut off at the upstream', 1, ({ served, kill, client }) =>
    Boolean(kill && !client.complete && served.length > 0),
  ),
  stories('cut off in a stream', 1, ({ kill, client }) =>
    Boolean(kill && !client.complete && readAnswer(client).words > 0),
  ),
  stories('killed within 20 ms of a bill', 0.3, ({ kill, client }) =>
    Boolean(kill && kill.atMs - client.endedAtMs <= 20 && readAnswer(client).bills.length > 0),
  ),
];

const OF_THE_LOAD: readonly Fault[] = [
  ...LEAVINGS.filter((leaving) => leaving !== 'stay').map((leaving) =>
    stories(`client: ${leaving}`, 2, ({ client }) =>
      leaving === 'dawdle'
        ? client.drawn.leaving === 'dawdle' && client.received.length > 0
        : client.left !== undefined && client.drawn.leaving === leaving,
    ),
  ),
  stories(
    'left an upstream that bills to the end',
    1,
    ({ client, served }) => client.left && client.drawn.model === 'steady' && served.length > 0,
  ),
  stories('prompt of a million characters', 0.3, ({ served, client }) =>
    Boolean(served.length > 0 && client.drawn.fillerCharacters > 0),
  ),
  stories(
    'left an upstream that thinks unseen',
    1,
    ({ client, served }) => client.left && client.drawn.model === 'thinker' && served.length > 0,
  ),
  stories('cut while its upstream thinks unseen', 1, ({ client, record, served }) => {
    const { stopAfter, words } = client.drawn;
    const isCut = stopAfter >= 0 && stopAfter < words;
    return isCut && record?.outcome === 'completed' && served.at(-1)?.ended?.how === 'finished';
  }),
  stories('client_cancelled', 2, ({ record }) => record?.outcome === 'client_cancelled'),
  ...BEHAVIOURS.map((behaviour) =>
    stories(
      `upstream: ${behaviour}`,
      1,
      ({ served, client }) => served.length > 0 && client.drawn.behaviour === behaviour,
    ),
  ),
  stories(
    'upstream_failed after content',
    1,
    ({ record }) => record?.outcome === 'upstream_failed' && record.debited > 0n,
  ),
  stories('served by the fallback', 1, ({ record }) =>
    Boolean(record?.modelServed && record.modelServed !== record.modelRequested),
  ),
  stories('hold that grew', 0.3, ({ hold, record }) =>
    Boolean(hold && record && record.outputTokens > 4_096),
  ),
  stories('stopped_balance', 0.2, ({ record }) => record?.outcome === 'stopped_balance'),
  stories('refused for the balance', 1, ({ client }) => readAnswer(client).status === 402),
  stories('refused for the slots', 1, ({ client }) => readAnswer(client).status === 429),
  {
    name: 'credits sent again',
    least: 1,
    count: ({ credits }) => sum(credits, ({ kind, sent }) => (kind === 'credit' ? sent - 1 : 0)),
  },
  {
    name: 'codes that two wanted',
    least: 1,
    count: ({ credits }) => sum(credits, ({ kind }) => (kind === 'redemption' ? 1 : 0)),
  },
  {
    name: 'credit commands killed',
    least: 0.2,
    count: ({ credits }) => sum(credits, ({ killed }) => killed),
  },
  keys('answers that a repeat got again', 5, ({ tries }) =>
    tries.filter((entry) => readAnswer(entry).headers.get('x-svc-replayed') === 'true'),
  ),
  {
    name: 'audits by the gateway itself',
    least: 2,
    count: ({ verdicts }) => verdicts.length,
  },
  {
    name: 'samples below 1,000',
    least: 1,
    count: ({ samples }) =>
      samples.filter(({ available }) => readTokens(available) < 1_000_000_000n).length,
  },
];

/** What only the death of a gateway brings about; `share` is how many of the rounds have one. */
const afterDeaths = (share: number): readonly Fault[] => [
  stories('recovered', share, ({ record }) => record?.basis === 'recovered'),
  keys('repeats of an answer that is lost', 0.3 * share, ({ tries }) =>
    tries.filter((entry) => readAnswer(entry).status === 410),
  ),
  keys('keys whose first request was cut off', share, ({ tries }) =>
    tries.slice(0, 1).filter(({ complete, left }) => !complete && left === undefined),
  ),
];

export const FAULTS: readonly Fault[] = [...KILLS, ...afterDeaths(1), ...OF_THE_LOAD];

/**
 * How rare a fault of clients and upstreams may be does not depend on the number of nodes. A cluster
 * plays one of thirteen faults a round, and three of them end a node.
 */
export const FAULTS_OF_CLUSTERS: readonly Fault[] = [
  ...CLUSTER_FAULTS.map(
    (name): Fault => ({
      name,
      least: 0.1,
      count: ({ played }) => played.filter((each) => each === name).length,
    }),
  ),
  ...afterDeaths(3 / 13),
  ...OF_THE_LOAD,
];

function stories(name: string, least: number, holds: (story: Story) => unknown): Fault {
  return { name, least, count: (_books, all) => all.filter(holds).length };
}

function keys(name: string, least: number, find: (entry: KeyedEntry) => readonly unknown[]): Fault {
  return { name, least, count: ({ keyed }) => sum(keyed, (entry) => find(entry).length) };
}

function sum<T>(list: readonly T[], count: (each: T) => number): number {
  return list.reduce((total, each) => total + count(each), 0);
}

/** So often a fault has to fire in so many rounds. */
export function leastOf({ least }: Fault, rounds: number): number {
  return Math.floor(least * rounds);
}
