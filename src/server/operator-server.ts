// What the operator's console asks of the running server: its last hours, its audit, its catalog
// file and its process.

import { heapStats } from 'bun:jsc';
import { type Config, VARIABLES } from '../config/settings.ts';
import type { Machine } from '../dashboard/dependencies.ts';
import type { Load } from '../http/exchange.ts';
import { cpuSeconds, residentBytes } from '../observe/process.ts';
import { openServingReader } from '../store/serving-database.ts';
import { VERSION } from '../version.ts';
import type { ServingAudit } from './audit.ts';
import type { Domains } from './domains.ts';
import type { Observation } from './observation.ts';
import type { ServingPipeline } from './pipeline.ts';
import type { ServingStore } from './store.ts';

export type MachineOptions = {
  readonly config: Config;
  readonly observation: Pick<Observation, 'activity'>;
  readonly domains: Pick<Domains, 'file'>;
  readonly store: Pick<ServingStore, 'node'>;
  readonly selfAudit: ServingAudit;
  readonly load: () => Load;
  readonly pipeline: Pick<ServingPipeline, 'trial'>;
  readonly storeAlerts: () => Promise<void>;
};

export function createMachine(options: MachineOptions): Machine {
  const { config, observation, domains, selfAudit, load, pipeline } = options;
  const { node } = options.store;
  const startedAt = Date.now() - Math.round(process.uptime() * 1_000);
  return {
    activity: observation.activity,
    storeAlerts: options.storeAlerts,
    audit: { state: selfAudit.state, run: selfAudit.run },
    ledgerPending: () => load().ledgerPending,
    streamsOpen: () => load().streamsOpen,
    findCatalog: domains.file.find,
    settings: new Set(VARIABLES.map(({ name }) => name)),
    trial: pipeline.trial,
    openReader: () => openServingReader(config.databaseUrl),
    nodes: node.records,
    node: () => ({
      id: node.id,
      version: VERSION,
      runtime: `Bun ${Bun.version}`,
      startedAt,
      residentBytes: residentBytes() ?? 0,
      heapBytes: heapStats().heapSize,
      cpuSeconds: cpuSeconds(),
    }),
  };
}
