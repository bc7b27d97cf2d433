// One incarnation of a simulated gateway: the product's own pipeline, limits, ledger and codecs
// over a real database file; only the network, the clocks and the keys are simulated. A killed
// gateway writes nothing more, and the next one starts from its file.

import { createDeadlines } from '../../src/core/deadlines.ts';
import { createLearned } from '../../src/core/learned.ts';
import type { Catalog } from '../../src/core/model.ts';
import type { IncidentLimits } from '../../src/core/plan.ts';
import { RequestEntrance } from '../../src/generate/entrance.ts';
import { createFunds } from '../../src/generate/funds.ts';
import { generate } from '../../src/generate/generate.ts';
import { createInFlight } from '../../src/generate/in-flight.ts';
import type { GenerateDependencies, Generated } from '../../src/generate/pipeline-types.ts';
import type { KeyFacts } from '../../src/identity/authenticate.ts';
import { type Books, createBooks } from '../../src/ledger/books.ts';
import type { Ledger } from '../../src/ledger/contract.ts';
import { createHistory } from '../../src/ledger/history.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { AccountLimits } from '../../src/limits/contract.ts';
import { createLimits } from '../../src/limits/limits.ts';
import { openDatabase, type SqliteDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createAttempts } from '../../src/upstream/attempt.ts';
import { createHealth } from '../../src/upstream/health.ts';
import { createProbe } from '../../src/upstream/probe.ts';
import { startTimer } from '../../src/upstream/timer.ts';
import { parseBody } from '../../src/wire/body.ts';
import type { ClientFormat } from '../../src/wire/format.ts';
import { serviceState } from '../support/service-state.ts';
import type { FaultCounter } from './faults.ts';
import { createKeyedDoor } from './keyed-door.ts';
import { NEVER, type SimulatedUpstreams } from './upstream.ts';
import type { World } from './world.ts';

export type Asking = {
  readonly requestId: string;
  readonly accountId: string;
  readonly plan: string;
  readonly format: ClientFormat;
  readonly body: string;
  readonly signal: AbortSignal;
};

export type Gateway = {
  readonly ask: (asking: Asking) => Promise<Generated>;
  readonly askKeyed: (asking: Asking, key: string) => Promise<Response>;
  readonly ledger: Ledger;
  readonly books: Books;
  readonly limits: AccountLimits;
  readonly database: SqliteDatabase;
  readonly inFlight: () => number;
  /** Fails every write from now on, or lets them through again. */
  readonly breakDisk: (broken: boolean) => void;
  readonly isAlive: () => boolean;
  /** Resolves when it is killed. */
  readonly killed: Promise<void>;
  readonly kill: () => Promise<void>;
};

export type GatewayParts = {
  readonly world: World;
  readonly faults: FaultCounter;
  readonly upstreams: SimulatedUpstreams;
  readonly path: string;
  readonly catalog: Catalog;
  readonly incidents: ReadonlyMap<string, IncidentLimits>;
  readonly onInternal: (requestId: string, error: unknown) => void;
};

const SWEEP_MS = 250;
const FOUR_CHARACTERS = 4;

/** Starts a gateway on the file, and recovers what the one before it has left. */
export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { world, faults, upstreams, catalog } = parts;
  const database = openDatabase({ url: `sqlite:${parts.path}`, sync: 'normal' });
  await migrate(database);
  const books = createBooks(database);
  let alive = true;
  const death = Promise.withResolvers<void>();
  const ledger = slow(createLedger({ database }), world, faults, () => alive);
  await recover(ledger, catalog, world);
  const deadlines = createDeadlines(world.monotonic);
  const inFlight = createInFlight();
  const limits = await createLimits({
    clock: world.wall,
    monotonic: world.monotonic,
    isLive: inFlight.isLive,
    history: createHistory(database),
  });
  const tokens = (text: string): number => Math.ceil(text.length / FOUR_CHARACTERS);
  setInterval(() => deadlines.sweep(), SWEEP_MS);
  const startAttempt = createAttempts({
    // One that was killed makes no more calls.
    client: { send: (call) => (alive ? upstreams.client.send(call) : NEVER) },
    clock: world.wall,
    deadlines,
  });
  const funds = createFunds(books);
  const dependencies: GenerateDependencies = {
    clock: world.wall,
    monotonic: world.monotonic,
    random: world.random,
    limits,
    findPrivateHost: () => Promise.resolve(undefined),
    entrance: new RequestEntrance({
      funds,
      limits,
      bodyBytes: Infinity,
      monotonic: world.monotonic,
    }),
    ledger,
    tokenizer: {
      counterFor: () => (texts) => texts.reduce((sum, text) => sum + tokens(text), 0),
      countNow: tokens,
    },
    funds,
    learned: createLearned(world.wall),
    reasoning: undefined,
    startAttempt,
    health: createHealth({
      probe: createProbe(startAttempt),
      catalog: () => catalog,
      clock: world.wall,
      monotonic: world.monotonic,
      startTimer,
      alert: () => {},
    }),
    startTimer,
    startDeadline: startTimer,
    inFlight,
    alert: () => {},
    heard: () => {},
    onInternal: parts.onInternal,
    heartbeatMs: 15_000,
    silentCommitMs: 15_000,
    booking: 'bounded',
  };
  const currentState = () =>
    serviceState(catalog, { incidentOf: (model) => parts.incidents.get(model) });
  return {
    ledger,
    books,
    limits,
    database,
    inFlight: inFlight.count,
    askKeyed: createKeyedDoor({
      ...{ world, catalog, database, books, deadlines, factsOf },
      ...{ serviceState: currentState },
      generation: dependencies,
      incarnation: `boot_${world.monotonic()}`,
      isAlive: () => alive,
    }),
    ask: (asking) => {
      const { requestId, format, body, signal } = asking;
      return generate(dependencies, {
        format,
        requestId,
        startedAt: world.wall(),
        authorize: async () => factsOf(asking),
        readBody: async () => parseBody(new TextEncoder().encode(body)),
        serviceState: currentState(),
        tally: { understood: () => {}, ended: () => {} },
        signal,
      });
    },
    breakDisk: (broken) => database.connection.run(`PRAGMA query_only = ${broken ? 'ON' : 'OFF'}`),
    isAlive: () => alive,
    killed: death.promise,
    async kill() {
      alive = false;
      death.resolve();
      world.endLife();
      upstreams.dropAll();
      await database.close();
    },
  };
}

function factsOf({ accountId, plan }: Asking): KeyFacts {
  return {
    ...{ keyId: `key_${accountId}`, accountId, plan, planSince: 0 },
    ...{ standing: 'active', emailVerified: true },
  };
}

async function recover(ledger: Ledger, catalog: Catalog, world: World): Promise<void> {
  const { usdPerMillion } = catalog;
  const nowMs = world.wall();
  // The clock may have jumped back since the holds were made.
  const createdBefore = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const ended = await ledger.recover({
      live: [],
      createdBefore,
      phase: 'ended',
      usdPerMillion,
      nowMs,
    });
    if (ended.length === 0) return;
  }
}

const REPEATED = 0.05;

/**
 * The ledger as the pipeline meets it: some milliseconds away, in order, and dead with its process.
 * Now and then a settle is said twice, as it is when an acknowledgement was lost.
 */
function slow(ledger: Ledger, world: World, faults: FaultCounter, alive: () => boolean): Ledger {
  let arrivesAt = 0;
  const later = <Command, Result>(send: (command: Command) => Promise<Result>) => {
    return (command: Command): Promise<Result> =>
      new Promise((resolve, reject) => {
        // What is left of a dead gateway runs on in this process, and no client sees it.
        if (!alive()) return;
        arrivesAt = Math.max(arrivesAt, world.monotonic() + world.between(0, 3));
        setTimeout(() => {
          const answer = (then: () => void): void => {
            if (alive()) setTimeout(then, world.between(0, 3));
          };
          send(command).then(
            (result) => answer(() => resolve(result)),
            (error: unknown) => answer(() => reject(error)),
          );
        }, arrivesAt - world.monotonic());
      });
  };
  const settle = later(ledger.settle);
  return {
    ...ledger,
    hold: later(ledger.hold),
    extend: later(ledger.extend),
    checkpoint: later(ledger.checkpoint),
    release: later(ledger.release),
    credit: later(ledger.credit),
    redeem: later(ledger.redeem),
    settle(command) {
      const first = settle(command);
      if (world.chance(REPEATED)) {
        faults.count('settled twice');
        settle(command).catch(() => {});
      }
      return first;
    },
  };
}
