// Preloaded by a gateway that runs from source: on SIGUSR2 it writes the number of heap objects to
// the file that HEAP_PROBE names. With the collector off, that is the number of allocations.

import { heapStats } from 'bun:jsc';
import { renameSync, writeFileSync } from 'node:fs';

const path = process.env['HEAP_PROBE'];

process.on('SIGUSR2', () => {
  if (path === undefined) return;
  const counts: Readonly<Record<string, number>> = heapStats().objectTypeCounts;
  const made = Object.values(counts).reduce((sum, count) => sum + count, 0);
  writeFileSync(`${path}.part`, String(made));
  renameSync(`${path}.part`, path);
});
