// The audit of the books where several nodes run: the node checks its own requests, publishes its
// findings and adopts those of the others. Constructed with the pipeline.

import type { Awaitable } from '../async/awaitable.ts';
import { every } from '../async/every.ts';
import type { LiveRequests } from '../ledger/audit.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/contract.ts';
import { createAuditNoteReader, writeAuditNote } from './audit-note.ts';
import {
  createSelfAudit,
  type SelfAudit,
  type SelfAuditOptions,
  type SharedAudit,
} from './self-audit.ts';

/** How soon a node stops an account that another node has found to be wrong. */
const FOLLOW_MS = 1_000;

export type ServingAudit = SelfAudit & {
  /** Starts to adopt the findings of other nodes. Returns a function that stops it. */
  readonly follow: () => () => void;
};

export type ServingAuditOptions = Pick<SelfAuditOptions, 'url' | 'everyMs' | 'clock' | 'alert'> & {
  readonly database: Database;
  /** The incarnation of this node. */
  readonly incarnation: () => string;
  readonly live: () => Awaitable<LiveRequests>;
  readonly log: Log;
};

/** The audit of the only server on a database. */
export function createAudit(options: ServingAuditOptions): ServingAudit {
  return { ...createSelfAudit(options), follow: () => () => undefined };
}

/** The audit of one of several nodes: the leader audits, the others adopt its findings. */
export function createSharedAudit(options: ServingAuditOptions): ServingAudit {
  const { database, incarnation, live, log } = options;
  const logFailure = (error: unknown): void =>
    log.error('audit: the findings could not be shared with the other nodes', error);
  const audit = createSelfAudit({
    ...options,
    live: async () => ({ ...(await live()), boot: incarnation() }),
    onFound: (found, lookedAt) => void share(found, lookedAt).catch(logFailure),
  });
  const notes = createAuditNoteReader(database);

  /**
   * A leader that was paused may publish an outdated audit: the newer one of its successor wins.
   */
  async function share(found: SharedAudit, lookedAt: number): Promise<void> {
    if (await writeAuditNote(database, incarnation(), found, lookedAt)) return;
    const newer = await createAuditNoteReader(database).read(incarnation());
    if (newer !== undefined) audit.adopt(newer);
  }

  async function look(): Promise<void> {
    const found = await notes.read(incarnation());
    if (found !== undefined) audit.adopt(found);
  }

  return {
    ...audit,
    follow: () => every(FOLLOW_MS, look, () => undefined),
  };
}
