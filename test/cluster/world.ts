// Several nodes over one database whose clock only the test moves. Each node has its own
// connection, wall clock and monotonic clock.

import { sql } from 'drizzle-orm';
import { createDatabaseClock, type DatabaseClock } from '../../src/cluster/clock.ts';
import { createLeases, type Leases } from '../../src/cluster/leases.ts';
import { createMember, type Member } from '../../src/cluster/member.ts';
import { createNodes, type Nodes } from '../../src/cluster/nodes.ts';
import type { Database } from '../../src/store/contract.ts';

export type WorldNode = {
  readonly database: Database;
  readonly leases: Leases;
  readonly nodes: Nodes;
  readonly clock: DatabaseClock;
  readonly member: Member;
  /** What the node logged as a warning. */
  readonly warnings: string[];
  /** Sets the wall clock of this machine alone. */
  readonly jump: (ms: number) => void;
  /** What this node says that it serves. */
  readonly serveCatalog: (digest: string) => void;
};

export type World = {
  readonly nodes: readonly WorldNode[];
  /** Time passes for all nodes. */
  readonly pass: (ms: number) => Promise<void>;
  /** The database's clock alone is set. */
  readonly jumpDatabase: (ms: number) => Promise<void>;
  readonly databaseTime: () => number;
};

const CLOCK = sql`(select "ms" from "test_clock")`.mapWith(Number);
const START_MS = 1_800_000_000_000;

/** `databases` are connections of one database, which is migrated; the caller closes them. */
export async function openWorld(databases: readonly Database[]): Promise<World> {
  const [first] = databases;
  if (first === undefined) throw new Error('A world needs a database.');
  let databaseMs = START_MS;
  let elapsedMs = 0;
  await first.db.run(sql`drop table if exists "test_clock"`);
  await first.db.run(sql`create table "test_clock" ("ms" bigint not null)`);
  await first.db.run(sql`insert into "test_clock" values (${databaseMs})`);
  await first.db.run(sql`delete from "nodes"`);
  await first.db.run(sql`delete from "leases"`);

  async function setDatabase(ms: number): Promise<void> {
    databaseMs = ms;
    await first?.db.run(sql`update "test_clock" set "ms" = ${ms}`);
  }

  return {
    nodes: databases.map((database, index) =>
      worldNode(database, `node_${index}`, () => elapsedMs),
    ),
    async pass(ms) {
      elapsedMs += ms;
      await setDatabase(databaseMs + ms);
    },
    jumpDatabase: (ms) => setDatabase(databaseMs + ms),
    databaseTime: () => databaseMs,
  };
}

function worldNode(database: Database, node: string, elapsed: () => number): WorldNode {
  let jumpedMs = 0;
  let starts = 0;
  let catalogDigest = 'catalog';
  const warnings: string[] = [];
  const nodes = createNodes(database, CLOCK);
  const leases = createLeases(database, CLOCK);
  const monotonic = (): number => elapsed() + 5_000;
  const clock = createDatabaseClock({ wall: () => START_MS + elapsed() + jumpedMs, monotonic });
  const member = createMember({
    ...{ nodes, leases, clock, monotonic },
    identity: { node, host: 'machine', pid: 1, version: '1.0.0' },
    report: () => ({
      ...{ addresses: [`http://${node}:3000`], state: 'serving', redis: 'off', limits: 'own' },
      ...{ catalogVersion: 1, catalogDigest, inFlight: 0 },
    }),
    createIncarnation: () => `${node}_boot_${++starts}`,
    fencing: 'heartbeat',
    log: { info: () => {}, warn: (message) => warnings.push(message), error: () => {} },
  });
  return {
    ...{ database, leases, nodes, clock, member, warnings },
    jump(ms) {
      jumpedMs += ms;
    },
    serveCatalog(digest) {
      catalogDigest = digest;
    },
  };
}
