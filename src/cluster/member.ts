// This process as one node of the cluster. Sends a heartbeat every second, tracks live peers, and
// acquires leadership when the lease is free. If the database does not accept its heartbeats, a
// node fences itself and stops admitting, because the others may evict it.

import { every } from '../async/every.ts';
import { type Sentence, say, wordsOf } from '../core/sentence.ts';
import type { DatabaseClock } from './clock.ts';
import type { Lease, Leases } from './leases.ts';
import { EVICT_MS, type NodeIdentity, type NodeReport, type NodeRow, type Nodes } from './nodes.ts';

/** The interval of heartbeats. */
const BEAT_MS = 1_000;

/** The lease of the leader. A node that finds it free acquires it with its next heartbeat. */
export const LEADER = 'leader';
export const LEASE_MS = 10_000;

/** A node stops before the others may act without it: statements need time, and clocks differ. */
const MARGIN_MS = 2_000;

/** A node that was paused for so long cannot judge whether others were alive. */
const AWAY_MS = 3_000;

/** A larger difference to the database's clock is reported to the operator. */
const OFFSET_MS_MAX = 2_000;

export type MemberOptions = {
  readonly nodes: Nodes;
  readonly leases: Leases;
  readonly identity: NodeIdentity;
  readonly report: () => Omit<NodeReport, 'seenAt' | 'clockOffsetMs'>;
  readonly createIncarnation: () => string;
  /** `none` where no other node can serve this database: it then always leads, and never fences. */
  readonly fencing: 'none' | 'heartbeat';
  /** Updated with the database's time. */
  readonly clock: DatabaseClock;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly log: {
    readonly info: (message: string) => void;
    readonly warn: (message: string) => void;
    readonly error: (message: string, cause?: unknown) => void;
  };
};

export type Member = ReturnType<typeof createMember>;

export function createMember(options: MemberOptions) {
  const { nodes, leases, identity, report, fencing, clock, monotonic, log } = options;
  let incarnation = '';
  let isRegistered = false;
  /** When the last accepted heartbeat was sent. */
  let heardAt: number | undefined;
  let rows: readonly NodeRow[] = [];
  let liveNodes = 1;
  let listedAt = -Infinity;
  /** Since when the last heartbeat of each other node has been unchanged. */
  const unchanged = new Map<string, { readonly heartbeatAt: number; readonly since: number }>();
  let lease: (Lease & { readonly takenAt: number }) | undefined;
  let isWilling = true;
  let seenAt = 0;
  let isFailing = false;
  let isOffTime = false;

  let beating: Promise<void> | undefined;

  /** Sends a heartbeat and reads the other nodes; one at a time. Never rejects. */
  function beat(): Promise<void> {
    beating ??= beatOnce().finally(() => {
      beating = undefined;
    });
    return beating;
  }

  async function beatOnce(): Promise<void> {
    const sentAt = monotonic();
    try {
      const databaseMs = await sign();
      clock.learn({ databaseMs, sentAt, receivedAt: monotonic() });
      heardAt = sentAt;
      await acquireLead();
      hear(await nodes.list());
      tellTime();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error('cluster: the heartbeat of this node failed', error);
      isFailing = true;
    }
  }

  async function sign(): Promise<number> {
    const facts = { ...report(), seenAt, clockOffsetMs: clock.offsetMs() };
    if (isRegistered) {
      const databaseMs = await nodes.beat(incarnation, facts);
      if (databaseMs !== undefined) return databaseMs;
      isRegistered = false;
      heardAt = undefined;
      log.warn(`cluster: ${incarnation} was evicted; this node rejoins as a new incarnation`);
    }
    // Each try has its own id: a failed one may have been written all the same.
    const fresh = options.createIncarnation();
    const databaseMs = await nodes.register(fresh, identity, facts);
    incarnation = fresh;
    isRegistered = true;
    countLive();
    return databaseMs;
  }

  async function acquireLead(): Promise<void> {
    const takenAt = monotonic();
    const before = isLeader();
    const taken = isWilling ? await leases.take(LEADER, incarnation, LEASE_MS) : undefined;
    lease = taken === undefined ? undefined : { ...taken, takenAt };
    if (isLeader() && !before)
      log.info(`cluster: this node is the leader, with fencing number ${taken?.fence}`);
  }

  function hear(listed: readonly NodeRow[]): void {
    const now = monotonic();
    if (now - listedAt > AWAY_MS) unchanged.clear();
    listedAt = now;
    rows = listed;
    countLive();
    const incarnations = new Set(listed.map((row) => row.boot));
    for (const known of unchanged.keys()) if (!incarnations.has(known)) unchanged.delete(known);
    for (const row of listed) {
      if (unchanged.get(row.boot)?.heartbeatAt === row.heartbeatAt) continue;
      unchanged.set(row.boot, { heartbeatAt: row.heartbeatAt, since: now });
    }
  }

  function tellTime(): void {
    const offsetMs = clock.offsetMs();
    const wasOffTime = isOffTime;
    isOffTime = Math.abs(offsetMs) > OFFSET_MS_MAX;
    if (isOffTime && !wasOffTime) log.warn(`cluster: ${wordsOf(offsetSentence(offsetMs))}`);
  }

  /** The monotonic time from which the others may evict this node. */
  function fencedFrom(): number {
    if (fencing === 'none') return Infinity;
    return heardAt === undefined ? -Infinity : heardAt + EVICT_MS - MARGIN_MS;
  }

  const isFenced = (): boolean => monotonic() >= fencedFrom();

  function isLeader(): boolean {
    // A node that resigns during a renewal still holds the lease briefly, but does not lead.
    if (fencing === 'none' || !isWilling) return isWilling;
    return lease !== undefined && !isFenced() && monotonic() - lease.takenAt < LEASE_MS - MARGIN_MS;
  }

  /** Computed on changes, because every request reads it. */
  function countLive(): void {
    liveNodes = 1 + others().filter(({ silentMs }) => silentMs < EVICT_MS).length;
  }

  /** The others that are not evicted. */
  function others(): readonly NodeRow[] {
    return rows.filter((row) => row.boot !== incarnation && row.deadAt === null);
  }

  return {
    beat,
    /** Starts heartbeats; calls `afterTick` every second, whether they are accepted or not. */
    start(afterTick: () => void): () => void {
      return every(BEAT_MS, () => {
        afterTick();
        void beat().then(afterTick);
      });
    },
    /** Changes when the node was evicted and rejoined. */
    incarnation: (): string => incarnation,
    fencedFrom,
    isFenced,
    isLeader,
    /** The fencing number of the leadership; undefined on a follower. */
    fence: (): number | undefined => (isLeader() ? lease?.fence : undefined),
    /** All nodes of the table, this one included, as of the last accepted heartbeat. */
    rows: () => rows,
    /** How many nodes share the limits, this one included. */
    liveNodes: (): number => liveNodes,
    /**
     * The nodes to evict: silent for long enough, as this node observed without interruption. So
     * neither a clock jump nor a pause of this node evicts a live one.
     */
    silent: (): readonly NodeRow[] =>
      others().filter((row) => {
        const since = unchanged.get(row.boot)?.since;
        return since !== undefined && listedAt - since >= EVICT_MS;
      }),
    /**
     * All changes committed before this database time have taken effect here. It follows the
     * database's clock backwards: a later value would confirm changes of the future.
     */
    async seen(atMs: number, hasChanges: boolean): Promise<void> {
      seenAt = atMs;
      if (hasChanges && isRegistered) await nodes.seen(incarnation, seenAt);
    },
    /** What keeps the server from serving new requests; empty where nothing does. */
    problems: (): readonly Sentence[] =>
      isFenced()
        ? [say('this node is fenced: the database has not accepted its heartbeats', {}, 'nodes')]
        : [],
    /** Warnings for the operator. */
    warnings(): readonly Sentence[] {
      const offsetMs = clock.offsetMs();
      const live = [...rows.filter((row) => row.boot === incarnation), ...others()];
      const catalogs = new Set(live.map((row) => row.catalogDigest));
      return [
        ...(Math.abs(offsetMs) > OFFSET_MS_MAX ? [offsetSentence(offsetMs)] : []),
        ...(catalogs.size > 1
          ? [
              say(
                'nodes serve {count} different catalogs',
                { count: String(catalogs.size) },
                'nodes',
              ),
            ]
          : []),
      ];
    },
    /** Yields leadership for good, before the node ends. */
    async resign(): Promise<void> {
      isWilling = false;
      lease = undefined;
      await beating;
      if (isRegistered) await leases.release(LEADER, incarnation);
    },
    /** Deregisters a node that has no open work and sends no more heartbeats. */
    async leave(): Promise<void> {
      await beating;
      if (isRegistered) await nodes.remove(incarnation);
      isRegistered = false;
      heardAt = undefined;
    },
  };
}

function offsetSentence(offsetMs: number): Sentence {
  const seconds = (Math.abs(offsetMs) / 1_000).toFixed(1);
  return offsetMs > 0
    ? say("the clock of this machine is {seconds} s ahead of the database's", { seconds }, 'nodes')
    : say("the clock of this machine is {seconds} s behind the database's", { seconds }, 'nodes');
}
