// What the operator's console asks of the running server: its last hours, its audit, its catalog
// file and its process.

import { heapStats } from 'bun:jsc';
import { VARIABLES } from '../config/settings.ts';
import type { Machine } from '../dashboard/dependencies.ts';
import { cpuSeconds, residentBytes } from '../observe/process.ts';
import { openServingReader } from '../store/serving-database.ts';
import { VERSION } from '../version.ts';
import type { Base } from './base.ts';
import type { RequestPath } from './request-path.ts';
import type { ServingStore } from './store.ts';
import type { Upkeep } from './upkeep.ts';

export type MachineOptions = {
  readonly base: Pick<Base, 'config' | 'observation'>;
  readonly store: Pick<ServingStore, 'node'>;
  readonly path: Pick<RequestPath, 'domains' | 'pipeline' | 'load'>;
  readonly upkeep: Pick<Upkeep, 'audit' | 'storeAlerts'>;
};

export function createMachine({ base, store, path, upkeep }: MachineOptions): Machine {
  const { config, observation } = base;
  const { node } = store;
  const { domains, pipeline, load } = path;
  const { audit, storeAlerts } = upkeep;
  const startedAt = Date.now() - Math.round(process.uptime() * 1_000);
  return {
    activity: observation.activity,
    storeAlerts,
    audit: { state: audit.state, run: audit.run },
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
