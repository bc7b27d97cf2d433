// What the laws excuse because of a cluster fault, and how often. Each excuse is bounded here; a
// run that needed one too often proves nothing.

import { type Books, isKeptFrom, lagAround, type Story, type Trouble } from './books.ts';
import { PATIENCE_MS, readAnswer } from './client.ts';

/** A machine that lets the rig wait for so long keeps neither the times of locks nor of Redis. */
const BUSY_LAG_MS = 100;

function isBusy(books: Books, ...timesMs: readonly number[]): boolean {
  return books.nodes > 1 && timesMs.some((atMs) => lagAround(books, atMs) > BUSY_LAG_MS);
}

/**
 * Why a request was refused, or given up, that no upstream had failed; undefined without an excuse.
 */
export function excuseForRefusal(
  story: Story,
  books: Books,
): 'database' | 'locks' | 'busy' | undefined {
  if (isKeptFrom(story, 'database')) return 'database';
  if (isKeptFrom(story, 'locks')) return 'locks';
  return isBusy(books, story.client.sentAtMs, story.client.endedAtMs) ? 'busy' : undefined;
}

/** A timer and the wall clock do not agree to the millisecond. */
const TIMER_SEAM_MS = 50;

/** Why an answer has no end: it was cut off on its way, or waits for the books to return its bill. */
export function excuseForSilence(story: Story): 'clients' | 'database' | undefined {
  if (isKeptFrom(story, 'clients')) return 'clients';
  const { sentAtMs, endedAtMs } = story.client;
  const isPatient = endedAtMs - sentAtMs >= PATIENCE_MS - TIMER_SEAM_MS;
  return isPatient && isKeptFrom(story, 'database') ? 'database' : undefined;
}

/**
 * A node that is cut off for longer than ten seconds is declared dead, and what it had open is ended
 * for it: as after a crash, by the checkpoints. When it is back it reports that amount, and cannot
 * change it.
 */
export function isEndedByOthers(story: Story): boolean {
  return story.record?.basis === 'recovered' && isKeptFrom(story, 'database');
}

/**
 * Whether an upstream was called for a hold that its commit has refused: once for each account and
 * node, and only where the balance seemed to cover the worst case twice.
 */
export function isRevoked({ client, served, hold }: Story, { nodes }: Books): boolean {
  const { status = 0, words } = readAnswer(client);
  const isRefused = status === 402 || status === 429;
  return nodes > 1 && served.length > 0 && hold === undefined && isRefused && words === 0;
}

/** Whether a node may have let a request in by its share, without knowing of the others. */
export function isLetInUnseen({ client, served }: Story, books: Books): boolean {
  const letInAtMs = served[0]?.atMs ?? client.endedAtMs;
  if (isBusy(books, letInAtMs)) return true;
  return books.troubles.some(
    ({ keepsFrom, generation, fromMs, toMs }) =>
      keepsFrom === 'limits' &&
      (generation === undefined || generation === client.generation) &&
      client.sentAtMs <= toMs &&
      letInAtMs >= fromMs,
  );
}

/**
 * How often all nodes had lost sight of each other before: what is let in since is known of again.
 */
export function sinceUnseen({ client }: Story, { troubles }: Books): number {
  return troubles.filter((trouble) => isOfAll(trouble) && trouble.toMs < client.sentAtMs).length;
}

function isOfAll({ keepsFrom, generation }: Trouble): boolean {
  return keepsFrom === 'limits' && generation === undefined;
}

type Excuse = {
  readonly name: string;
  /** The largest part of all requests of a run that may need it. */
  readonly most: number;
  readonly needs: (story: Story, books: Books) => boolean;
};

export const EXCUSES: readonly Excuse[] = [
  {
    name: 'refused while a node was kept from the books',
    most: 0.5,
    needs: (story, books) => isRefused(story) && excuseForRefusal(story, books) === 'database',
  },
  {
    name: 'refused behind the locks of another node',
    most: 0.05,
    needs: (story, books) => isRefused(story) && excuseForRefusal(story, books) === 'locks',
  },
  {
    name: 'refused by a machine that was too busy',
    most: 0.02,
    needs: (story, books) => isRefused(story) && excuseForRefusal(story, books) === 'busy',
  },
  {
    name: 'given up by a node that lived',
    most: 0.05,
    needs: (story) => story.record?.outcome === 'gateway_failed' && story.kill === undefined,
  },
  {
    name: 'without an end, as the books were away',
    most: 0.05,
    needs: (story) => isCutOff(story) && excuseForSilence(story) === 'database',
  },
  {
    name: 'cut off on the way to the client',
    most: 0.1,
    needs: (story) => isCutOff(story) && excuseForSilence(story) === 'clients',
  },
  {
    name: 'refused by a commit after an upstream was called',
    most: 0.005,
    needs: isRevoked,
  },
  {
    name: 'let in by a node that did not know of the others',
    most: 0.6,
    needs: (story, books) => story.served.length > 0 && isLetInUnseen(story, books),
  },
];

function isRefused({ client, served }: Story): boolean {
  const failed = served.some(({ ended }) => ended?.how !== 'finished');
  return readAnswer(client).status === 503 && !failed;
}

function isCutOff({ client, kill }: Story): boolean {
  return !client.complete && client.left === undefined && kill === undefined;
}

/** How many requests have needed an excuse, whichever it was. */
export function countExcused(books: Books, stories: readonly Story[]): number {
  return stories.filter((story) => EXCUSES.some(({ needs }) => needs(story, books))).length;
}
