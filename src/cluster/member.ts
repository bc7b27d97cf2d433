// This process as one node of the cluster. Sends a heartbeat every second, tracks live peers, and
// acquires leadership when the lease is free. Without a heartbeat that the database took, a node fences
// itself and admits nothing, because the others may evict it. Made by serve.

import { every } from '../async/every.ts';
import type { DatabaseClock } from './clock.ts';
import type { Lease, Leases } from './leases.ts';
import { EVICT_MS, type NodeIdentity, type NodeReport, type NodeRow, type Nodes } from './nodes.ts';

/** How often a node says that it lives. */
const BEAT_MS = 1_000;

/** The lease of the leader. Who finds it untaken takes it with the next heartbeat. */
export const LEADER = 'leader';
export const LEASE_MS = 10_000;

/** A node stops before the others may act without it: statements need time, and clocks differ. */
const MARGIN_MS = 2_000;

/** Who has not looked for so long has not seen whether others lived meanwhile. */
const AWAY_MS = 3_000;

/** A clock that is further away from the database's is told to the operator. */
const OFFSET_MS_MAX = 2_000;

type MemberOptions = {
  readonly nodes: Nodes;
  readonly leases: Leases;
  readonly identity: NodeIdentity;
  readonly report: () => Omit<NodeReport, 'seenAt' | 'clockOffsetMs'>;
  readonly createIncarnation: () => string;
  /** `none` where no other node can serve this database: then it always leads, and never fences. */
  readonly fencing: 'none' | 'heartbeat';
  /** Learns the database's time. */
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
  /** When the last heartbeat that was heard had been sent. */
  let heardAt: number | undefined;
  let rows: readonly NodeRow[] = [];
  let liveNodes = 1;
  let listedAt = -Infinity;
  /** Since when the heartbeat of each other node is the one that it is. */
  const unchanged = new Map<string, { readonly heartbeatAt: number; readonly since: number }>();
  let lease: (Lease & { readonly takenAt: number }) | undefined;
  let isWilling = true;
  let seenAt = 0;
  let isFailing = false;
  let isOffTime = false;

  let beating: Promise<void> | undefined;

  /** Says that this node lives, and hears about the others; one at a time. Never rejects. */
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
      if (!isFailing) log.error('cluster: this node could not say that it lives', error);
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
      log.warn(`cluster: ${incarnation} was declared dead; this node goes on under a new boot id`);
    }
    // Each try has an id of its own: nobody knows whether one that failed was written all the same.
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
    if (isLeader() && !before) log.info(`cluster: this node leads, with number ${taken?.fence}`);
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
    if (isOffTime && !wasOffTime) log.warn(`cluster: ${offsetWords(offsetMs)}`);
  }

  /** From when on, by the clock that never jumps, the others may evict this node. */
  function fencedFrom(): number {
    if (fencing === 'none') return Infinity;
    return heardAt === undefined ? -Infinity : heardAt + EVICT_MS - MARGIN_MS;
  }

  const isFenced = (): boolean => monotonic() >= fencedFrom();

  function isLeader(): boolean {
    // One that resigns while it takes the lease again has it for another moment, and does not lead.
    if (fencing === 'none' || !isWilling) return isWilling;
    return lease !== undefined && !isFenced() && monotonic() - lease.takenAt < LEASE_MS - MARGIN_MS;
  }

  /** Requests ask for it, so it is counted when something of it changes. */
  function countLive(): void {
    liveNodes = 1 + others().filter(({ silentMs }) => silentMs < EVICT_MS).length;
  }

  /** The others that are not evicted. */
  function others(): readonly NodeRow[] {
    return rows.filter((row) => row.boot !== incarnation && row.deadAt === null);
  }

  return {
    beat,
    /** Beats from now on; `afterTick` is called every second, whether heartbeats are heard or not. */
    start(afterTick: () => void): () => void {
      return every(BEAT_MS, () => {
        afterTick();
        void beat().then(afterTick);
      });
    },
    /** Changes when the node was evicted and came back. */
    incarnation: (): string => incarnation,
    fencedFrom,
    isFenced,
    isLeader,
    /** The number of the lease that this node leads under. */
    fence: (): number | undefined => (isLeader() ? lease?.fence : undefined),
    /** Everybody in the table, this node included, as of the last heartbeat that was heard. */
    rows: () => rows,
    /** How many nodes share the limits, this one included. */
    liveNodes: (): number => liveNodes,
    /**
     * Who has been silent for long enough to be evicted: by what this node has watched without a
     * break, so that neither a clock that jumps nor an absence of its own kills anybody.
     */
    silent: (): readonly NodeRow[] =>
      others().filter((row) => {
        const since = unchanged.get(row.boot)?.since;
        return since !== undefined && listedAt - since >= EVICT_MS;
      }),
    /**
     * Everything that was committed before this instant of the database's has taken effect here. It
     * goes back with the database's clock: what is ahead of it would confirm what is yet to come.
     */
    async seen(atMs: number, hasChanges: boolean): Promise<void> {
      seenAt = atMs;
      if (hasChanges && isRegistered) await nodes.seen(incarnation, seenAt);
    },
    /** What keeps new requests from being served; empty where nothing does. */
    problems: (): readonly string[] =>
      isFenced() ? ['this node is fenced: it could not say to the database that it lives'] : [],
    /** What an operator should look at. */
    warnings(): readonly string[] {
      const offsetMs = clock.offsetMs();
      const live = [...rows.filter((row) => row.boot === incarnation), ...others()];
      const catalogs = new Set(live.map((row) => row.catalogDigest));
      return [
        ...(Math.abs(offsetMs) > OFFSET_MS_MAX ? [offsetWords(offsetMs)] : []),
        ...(catalogs.size > 1 ? [`nodes serve ${catalogs.size} different catalogs`] : []),
      ];
    },
    /** Gives up the lead for good: the node is about to end. */
    async resign(): Promise<void> {
      isWilling = false;
      lease = undefined;
      await beating;
      if (isRegistered) await leases.release(LEADER, incarnation);
    },
    /** The last word of a node that has left nothing behind and beats no more. */
    async leave(): Promise<void> {
      await beating;
      if (isRegistered) await nodes.remove(incarnation);
      isRegistered = false;
      heardAt = undefined;
    },
  };
}

function offsetWords(offsetMs: number): string {
  const seconds = (Math.abs(offsetMs) / 1_000).toFixed(1);
  const side = offsetMs > 0 ? 'ahead of' : 'behind';
  return `the clock of this machine is ${seconds} s ${side} the database's`;
}
