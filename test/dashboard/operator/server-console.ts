// The console's JSON about the server and its catalog, over a real catalog file, a real database
// and real health. The server applies what the console has written.

import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createIncidents } from '../../../src/catalog/incidents.ts';
import { createLiveCatalog } from '../../../src/catalog/live.ts';
import { createContext } from '../../../src/cli/context.ts';
import { withDisabled, withLastAttempts } from '../../../src/core/health.ts';
import { DEMO_PROFILE } from '../../../src/core/profile.ts';
import { upstreamWarnings } from '../../../src/core/readiness.ts';
import type { Candidate } from '../../../src/core/route.ts';
import { say } from '../../../src/core/sentence.ts';
import type { MachineDependencies } from '../../../src/dashboard/dependencies.ts';
import { catalogRoutes } from '../../../src/dashboard/operator/catalog.ts';
import { catalogTextRoutes } from '../../../src/dashboard/operator/catalog-text.ts';
import { modelRoutes } from '../../../src/dashboard/operator/models.ts';
import { moneyRoutes } from '../../../src/dashboard/operator/money.ts';
import {
  alertRoutes,
  nodeRoutes,
  overviewRoutes,
} from '../../../src/dashboard/operator/overview.ts';
import { planRoutes } from '../../../src/dashboard/operator/plans.ts';
import { priceRoutes } from '../../../src/dashboard/operator/prices.ts';
import { selfAuditRoutes } from '../../../src/dashboard/operator/self-audit.ts';
import { speedRoutes } from '../../../src/dashboard/operator/speeds.ts';
import { upstreamRoutes } from '../../../src/dashboard/operator/upstreams.ts';
import type { ListedNodeRecord } from '../../../src/dashboard/records/operator-node.ts';
import type { TrialResult } from '../../../src/generate/trial.ts';
import type { AuditState } from '../../../src/ledger/audit.ts';
import { createActivity } from '../../../src/observe/activity.ts';
import { createRaisedAlerts } from '../../../src/observe/raised-alerts.ts';
import { createHeardGroups } from '../../../src/operations/upstream-words.ts';
import { createAlertKeeper } from '../../../src/server/alert-keeper.ts';
import { createCatalogFile } from '../../../src/server/catalog-file.ts';
import { createServiceStates } from '../../../src/server/service-changes.ts';
import { connectDatabase } from '../../../src/store/connect.ts';
import { auditEvents } from '../../../src/store/tables.ts';
import { createHealth } from '../../../src/upstream/health.ts';
import type { Probe } from '../../../src/upstream/probe.ts';
import { startTimer } from '../../../src/upstream/timer.ts';
import { newDatabase, urlOf } from '../../support/database.ts';
import { SILENT_PROBE } from '../../support/probe.ts';
import { openOperatorApp } from './app.ts';

/** One model of one upstream is down for the gateway's own requests as well. */
const downProbe: Probe = (candidate, credential, purpose) => {
  const { model, upstream } = candidate;
  return purpose === 'health' && upstream.id === 'far' && model.slug === 'swift-0'
    ? Promise.resolve({ class: 'server_error', detail: 'down', status: 500 })
    : SILENT_PROBE(candidate, credential, purpose);
};

export { OPERATOR } from './app.ts';

/** Two models and three places; every one of them is served by `demo` and by no other working upstream. */
export const CATALOG = `[service]
usd_per_million = "2.00"

[[upstream]]
id = "demo"
dialect = "demo"

[[upstream]]
id = "far"
dialect = "chat"
base_url = "http://127.0.0.1:9/v1"
api_keys = ["\${FAR_KEY}", "second-secret"]

[[model]]
slug = "swift-1"
aliases = ["swift"]
context_window = 1000
max_output = 100
price = { input = "0.15", output = "0.60" }
served_by = [{ upstream = "demo", model = "x", cost = { input = "0.10", output = "0.30" } }, { upstream = "far", model = "y" }]

# the small one
[[model]]
slug = "swift-0"
context_window = 1000
max_output = 100
price = { input = "0.05", output = "0.20" }
served_by = [{ upstream = "far", model = "z" }]
`;

export const SECRETS = ['first-secret', 'second-secret'];

export const ROUTES = [
  overviewRoutes,
  alertRoutes,
  modelRoutes,
  upstreamRoutes,
  speedRoutes,
  priceRoutes,
  catalogRoutes,
  catalogTextRoutes,
  planRoutes,
  moneyRoutes,
  selfAuditRoutes,
  nodeRoutes,
];

/** `file: false` is the built-in catalog. Everything is closed by `close`. */
export async function openMachineConsole(root: string, { file: hasFile = true } = {}) {
  const directory = join(root, crypto.randomUUID());
  mkdirSync(directory);
  const path = join(directory, 'catalog.toml');
  if (hasFile) writeFileSync(path, CATALOG);
  const serving = await newDatabase(directory);
  const url = urlOf(serving);
  const context = createContext({ DATABASE_URL: url, FAR_KEY: SECRETS[0] ?? '' }, directory);
  const store = await context.openStore();
  const clock = Date.now;
  const file = createCatalogFile(context);
  const live = createLiveCatalog({ first: context.loadedCatalog(), read: file.read, clock });
  const operators = await createServiceStates({
    ...{ database: serving, live, file, clock },
    log: { info: () => undefined, error: () => undefined },
    alert: () => undefined,
    onChange: () => undefined,
    onRemoval: () => undefined,
  });
  const activity = createActivity({ clock });
  const raised = createRaisedAlerts({ clock });
  const all = createHealth({
    catalog: live.current,
    probe: downProbe,
    clock,
    monotonic: () => performance.now(),
    startTimer,
    alert: raised.raise,
  });
  const health = Object.assign(all.of('acct_a'), all);
  const stopWatching = operators.watch((upstream) => {
    health.reset(upstream);
    activity.forget(upstream);
  });
  const audit = { state: EMPTY_AUDIT, runs: 0 };
  let problems: readonly string[] = [];
  const tested: Candidate[] = [];
  let tests: readonly TrialResult[] = [];
  const upstreams = () =>
    withLastAttempts(withDisabled(health.states(), operators.current().isDisabled), activity);
  const dependencies: MachineDependencies = {
    archives: undefined,
    store: { ...store, incidents: createIncidents({ database: store.database, clock }) },
    serviceState: operators.current,
    inFlight: () => 3,
    draining: () => false,
    clock,
    randomBytes,
    catalog: live.current,
    catalogStatus: live.status,
    async reloadCatalog() {
      await operators.reloadCatalog();
      return live.status();
    },
    upstreams,
    warnings: () => [...operators.warnings(), ...upstreamWarnings(upstreams(), 'operator')],
    problems: async () => problems.map((problem) => say(problem)),
    machine: {
      activity,
      storeAlerts: createAlertKeeper({
        ...{ database: store.database, raised, heard: createHeardGroups(), randomBytes },
        log: { error: () => undefined },
      }),
      audit: {
        state: () => audit.state,
        run() {
          if (audit.state.running) return false;
          audit.runs += 1;
          audit.state = { ...audit.state, running: true };
          return true;
        },
      },
      ledgerPending: () => 1,
      streamsOpen: () => 2,
      findCatalog: file.find,
      settings: new Set(['DATABASE_URL']),
      async trial(candidate) {
        tested.push(candidate);
        return tests;
      },
      openReader: () => connectDatabase({ url, sync: 'normal', readonly: true }),
      node: () => NODE,
      nodes: async () => NODES,
    },
  };
  const app = openOperatorApp({
    routes: ROUTES.flatMap((routes) => routes(dependencies)),
    clock,
    onChange: operators.look,
  });

  return {
    ...{ store, path, directory, health, activity, raised, operators, live, audit, ...app },
    get: async <T>(of: string) => (await app.ask('GET', of)).json as T,
    write: (text: string) => writeFileSync(path, text),
    /** The tests of upstreams that were made. */
    tested,
    endTests(results: readonly TrialResult[]): void {
      tests = results;
    },
    candidate(model: string, upstream: string): Candidate {
      const found = live.current().resolve(model);
      const place = live.current().upstreams.get(upstream);
      const price = found?.prices[0].price;
      if (!found || !place || !price) throw new Error('no such place');
      const { timeouts } = place;
      return {
        ...{ model: found, upstream: place, upstreamModel: 'x', maxOutputTokens: 1 },
        profile: DEMO_PROFILE,
        ...{ price, timeouts, fallback: 'none' },
      };
    },
    events: () => store.database.db.select().from(auditEvents).all(),
    trouble: (words: readonly string[]) => {
      problems = words;
    },
    /** The server looks at its files by itself until then. */
    async stopWatching(): Promise<void> {
      stopWatching();
      // A look that is in progress would still read the files.
      await operators.look();
    },
    async close(): Promise<void> {
      stopWatching();
      await serving.close();
      await context.close();
    },
  };
}

const EMPTY_AUDIT: AuditState = {
  running: false,
  everyMs: 3_600_000,
  last: undefined,
  differences: [],
  stopped: [],
};

const NODE = {
  id: 'node_1',
  version: '1.0.0+test',
  runtime: 'Bun',
  startedAt: Date.UTC(2026, 10, 21),
  residentBytes: 5,
  heapBytes: 4,
  cpuSeconds: 1.23,
};

const AT = '2026-11-21T00:00:00.000Z';

const OWN: ListedNodeRecord = {
  ...{ id: 'node_1', object: 'node', boot: 'boot_1', host: 'one', pid: 7, version: '1.0.0' },
  ...{ addresses: ['http://127.0.0.1:1'], state: 'serving', leader: true },
  ...{ in_flight: 3, redis: 'off', limits: 'own', catalog_version: 1, catalog_digest: 'abc' },
  ...{ clock_offset_ms: 0, started_at: AT, heartbeat_at: AT, silent_ms: 0, seen_at: AT },
  dead_at: null,
};

/** The process that answers, and another one that has died. */
export const NODES: readonly ListedNodeRecord[] = [
  OWN,
  { ...OWN, id: 'node_2', boot: 'boot_2', state: 'dead', leader: false, dead_at: AT },
];
