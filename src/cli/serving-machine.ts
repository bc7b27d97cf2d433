// What the operator's console may ask of the running server itself: its last hours, its audit, its
// catalog file, the process. Made with the console's other dependencies, by serving-dashboard.

import type { Config } from '../config.ts';
import type { Machine } from '../dashboard/dependencies.ts';
import { connectDatabase } from '../store/connect.ts';
import { VERSION } from '../version.ts';
import type { Observation } from './observation.ts';
import type { ServingDomains } from './serving-domains.ts';
import type { createServingPipeline } from './serving-pipeline.ts';

export type MachineOptions = {
  readonly config: Config;
  readonly observation: Pick<Observation, 'activity'>;
  readonly domains: ServingDomains;
  readonly pipeline: Awaited<ReturnType<typeof createServingPipeline>>;
  readonly streamsOpen: () => number;
};

export function createMachine(options: MachineOptions): Machine {
  const { config, observation, domains, pipeline, streamsOpen } = options;
  const { selfAudit } = pipeline;
  const { node } = domains.store;
  const startedAt = Date.now() - Math.round(process.uptime() * 1_000);
  return {
    activity: observation.activity,
    audit: { state: selfAudit.state, run: selfAudit.run },
    ledgerPending: domains.store.ledger.pending,
    streamsOpen,
    findCatalog: domains.file.find,
    openReader: () => connectDatabase({ url: config.databaseUrl, sync: 'normal', readonly: true }),
    nodes: node.records,
    node: () => ({
      id: node.id,
      version: VERSION,
      runtime: `Bun ${Bun.version}`,
      startedAt,
      residentBytes: process.memoryUsage.rss(),
      heapBytes: process.memoryUsage().heapUsed,
      cpuSeconds: cpuSeconds(),
      // The event loop and the ledger's own.
      threads: 2,
    }),
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}
