// Opens what a server needs of its database before it listens, and closes it after the last answer:
// a connection for requests, this node, the ledger in its own thread, and on SQLite the lock of the
// file.

import type { Awaitable } from '../async/awaitable.ts';
import { every } from '../async/every.ts';
import { DATABASE } from '../core/alert-sentence.ts';
import type { UsdRate } from '../core/money.ts';
import { type Sentence, say } from '../core/sentence.ts';
import type { LedgerProblem } from '../ledger/client.ts';
import type { RecoverCommand } from '../ledger/contract.ts';
import { WAITING_MAX } from '../ledger/queue.ts';
import { recoverAll } from '../ledger/recover.ts';
import { createRemoteLedger, type RemoteLedger } from '../ledger/remote.ts';
import { connectDatabase } from '../store/connect.ts';
import type { Database } from '../store/contract.ts';
import { migrate } from '../store/migrate.ts';
import { openServingDatabase } from '../store/serving-database.ts';
import type { DatabaseFileWatch, FileLoss } from '../store/sqlite-file.ts';
import { createWriterClient, type WriterClient } from '../store/writer/client.ts';
import type { Base } from './base.ts';
import { createFencedLedger } from './fenced-ledger.ts';
import { openServingNode, type ServingNode } from './node.ts';
import type { Observation } from './observation.ts';

export type ServingStore = {
  /** Not for money: its commits survive the process, and a power cut once the ledger commits. */
  readonly database: Database;
  /** The thread through which all domains write, on SQLite. */
  readonly writer: WriterClient;
  /** Its holds carry the incarnation of this node. */
  readonly ledger: RemoteLedger;
  readonly node: ServingNode;
  /** SQLite: whether the file is still the one that was opened. */
  readonly file: DatabaseFileWatch | undefined;
  /** The monotonic time from which nothing new is admitted or held. */
  readonly fencedFrom: () => number;
  /** What keeps the server from serving new requests; empty where nothing does. */
  readonly problems: () => Promise<readonly Sentence[]>;
  /** Starts to end holds whose request is gone. Returns a function that stops it. */
  readonly endLostHolds: (live: () => Awaitable<readonly string[]>) => () => void;
  /** Aggregates new usage records in the ledger's thread, where that thread has the file. */
  readonly addUp: (() => Promise<void>) | undefined;
  /** A job of the leader: recovers the holds of dead nodes. Returns a function that stops it. */
  readonly recoverNodes: () => () => void;
  /** Resolves with the number of commands that could not be written. */
  readonly close: () => Promise<number>;
};

export type ServingStoreOptions = {
  readonly base: Base;
  /** The current price of a million service tokens, for requests that no longer have it. */
  readonly usdPerMillion: () => UsdRate;
};

/** How often a server looks for lost holds, and their minimum age. */
const LOST_SWEEP_MS = 10_000;
const LOST_AGE_MS = 60_000;

/**
 * SQLite: locks the file and ends the holds of dead processes. PostgreSQL: joins as a node and
 * leaves the holds of others to the leader. Throws `StoreError` where another server has the file,
 * and `LedgerUnavailable` where it cannot be written.
 */
export async function openServingStore({
  base,
  usdPerMillion,
}: ServingStoreOptions): Promise<ServingStore> {
  const { config, deployment, clock, monotonic, randomBytes, databaseClock } = base;
  const { log, alert, metrics } = base.observation;
  const { booking } = deployment;
  const url = config.databaseUrl;
  const isNew = config.isNew ?? false;
  const starting = connectDatabase({ url, sync: 'normal', checkpoints: false, isNew });
  const writer = createWriterClient();
  let database = starting;
  let release: () => void = () => undefined;
  let ledger: RemoteLedger | undefined;
  let node: ServingNode | undefined;

  const everyHold = (): RecoverCommand => ({
    live: [],
    createdBefore: Number.MAX_SAFE_INTEGER,
    phase: 'ended',
    usdPerMillion: usdPerMillion(),
    nowMs: clock(),
  });

  async function close(): Promise<number> {
    const left = (await ledger?.drain()) ?? 0;
    await node?.leave();
    await ledger?.end();
    await database.close();
    release();
    return left;
  }

  try {
    release = deployment.lock();
    await migrate(starting);
    ledger = createRemoteLedger({
      url,
      sync: config.ledgerSync,
      writer,
      onTrouble: ({ kind, requestId, cause }) =>
        alert({ kind: 'ledger_failing', trouble: kind, requestId }, cause),
      onDeath: (cause) => alert({ kind: 'ledger_stopped' }, cause),
      onBatch: metrics.batch,
      bookingMs: booking.kind === 'bounded' ? booking.timeoutMs : undefined,
    });
    if (deployment.recovery === 'start') {
      const recovered = await recoverAll(ledger, everyHold());
      if (recovered.length > 0) log.warn(`ledger: recovered ${recovered.length} open holds`);
    }
    // Requests wait for this connection and it writes no money, so its commits do not sync. The
    // ledger's next commit syncs the log with all that is in it.
    database = openServingDatabase({ url, sync: 'normal', writer });
    await starting.close();
    node = await openServingNode({
      deployment,
      database,
      clock: databaseClock,
      monotonic,
      randomBytes,
      log,
    });
  } catch (error) {
    await close();
    throw error;
  }

  const joined = node;
  const books = ledger;
  const { member, nodes } = joined;
  const file = deployment.watchFile(clock);
  const fencedFrom = (): number => (file?.loss() === undefined ? member.fencedFrom() : 0);
  const serving = createFencedLedger(ledger, {
    incarnation: member.incarnation,
    isFenced: () => monotonic() >= fencedFrom(),
    onUnbooked: deployment.onUnbooked(log),
  });
  return {
    database,
    writer,
    ledger: serving,
    node: joined,
    file,
    fencedFrom,
    problems: async () => {
      const loss = file?.loss();
      const lost = loss === undefined ? [] : [lossProblem(loss)];
      return [...lost, ...member.problems(), ...(await problemsOf(database, serving))];
    },
    endLostHolds: (live) =>
      startSweep(serving, { log, alert }, async () => ({
        ...deployment.ownHolds(member.incarnation()),
        live: await live(),
        createdBefore: clock() - LOST_AGE_MS,
        phase: 'expired',
        usdPerMillion: usdPerMillion(),
        nowMs: clock(),
      })),
    addUp: deployment.addUp(ledger.addUp),
    recoverNodes: () =>
      deployment.recoverNodes({
        database,
        nodes,
        member,
        ledger: books,
        clock,
        usdPerMillion,
        log,
      }),
    close,
  };
}

/** Such a hold is a bug, so each one is logged as an error. */
function startSweep(
  ledger: RemoteLedger,
  { log, alert }: Pick<Observation, 'log' | 'alert'>,
  command: () => Promise<RecoverCommand>,
): () => void {
  const look = async (): Promise<void> => {
    for (const { requestId } of await recoverAll(ledger, await command())) {
      alert({ kind: 'hold_lost', requestId });
    }
  };
  return every(LOST_SWEEP_MS, look, (error) =>
    log.error('ledger: could not check for lost holds', error),
  );
}

/** What happened, and what to do about it. */
function lossProblem(loss: FileLoss): Sentence {
  const happened = {
    gone: say('the database file was deleted or moved away'),
    replaced: say('the database file was replaced by another one'),
    emptied: say('the database file was emptied'),
  };
  return say(
    '{happened} while it is served: stop the server, put the right file in its place, and start again',
    { happened: happened[loss] },
    DATABASE,
  );
}

function ledgerProblem(problem: LedgerProblem): Sentence | undefined {
  if (problem === 'stopped') return say('the ledger has stopped and is being restarted');
  return problem === 'failing' ? say('the ledger cannot be written') : undefined;
}

/** Runs on demand, never on the request path. */
async function problemsOf(database: Database, ledger: RemoteLedger): Promise<readonly Sentence[]> {
  try {
    await database.ping();
  } catch {
    return [say('the database cannot be read')];
  }
  const problem = ledgerProblem(ledger.problem());
  if (problem !== undefined) return [problem];
  return ledger.pending() >= WAITING_MAX ? [say('the ledger is behind')] : [];
}
