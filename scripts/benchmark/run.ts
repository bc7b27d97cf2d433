// `scripts/bench`: measures the gateway (the executable in dist/, every feature on, money on disk)
// beside B, a bare forwarder on the same Bun, and L4, the least that a gateway with durable money must
// do. Gateway, B and L4 run on core 0, load and upstream on core 1; every figure is a median of rounds
// in rotating order.
//
//   scripts/bench                        every row of ROWS but those that take minutes
//   scripts/bench quick                  the most important ones, in two minutes
//   scripts/bench whole memory           these rows
//   --beside PATH                        measures another executable in the same rounds
//   --rounds 5 --seconds 2
//   --requests 1000000                   in a database with a past

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { BenchRow, Finding } from './compare.ts';
import { type Build, openRig } from './rig.ts';
import { backupRow } from './rows/backup.ts';
import { bytesRow } from './rows/bytes.ts';
import { depthRow } from './rows/depth.ts';
import { failingRow } from './rows/failing.ts';
import { largeRow } from './rows/large.ts';
import { latencyRow } from './rows/latency.ts';
import { memoryRow } from './rows/memory.ts';
import { pastRow } from './rows/past.ts';
import { postgresRow } from './rows/postgres.ts';
import { retentionRow } from './rows/retention.ts';
import { revocationRow } from './rows/revocation.ts';
import { streamsRow } from './rows/streams.ts';
import { wholeRow } from './rows/whole.ts';
import { printTable } from './table.ts';

const ROWS: readonly BenchRow[] = [
  ...[wholeRow, depthRow, streamsRow, latencyRow, bytesRow, memoryRow, largeRow],
  ...[postgresRow, failingRow, revocationRow, pastRow, retentionRow, backupRow],
];

async function main(): Promise<void> {
  const { values: flags, positionals: names } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      beside: { type: 'string' },
      requests: { type: 'string', default: '1000000' },
    },
  });
  const quick = names.includes('quick');
  const named = ROWS.filter(({ name }) => names.includes(name));
  const rows =
    named.length > 0
      ? named
      : ROWS.filter((row) => (quick ? row.quick === true : row.onDemand !== true));
  const binary = resolve(import.meta.dir, '../../dist/tollgate');
  const builds: [Build, ...Build[]] = [{ name: 'gateway', binary }];
  if (flags.beside !== undefined) builds.push({ name: 'beside', binary: resolve(flags.beside) });
  await using rig = await openRig({
    builds,
    rounds: Number(flags.rounds ?? (quick ? 3 : 5)),
    seconds: Number(flags.seconds ?? (quick ? 1 : 2)),
    requests: Number(flags.requests),
  });
  const findings: Finding[] = [];
  for (const row of rows) findings.push(...(await row.run(rig)));
  if (findings.length === 0) return;
  printTable(
    ['all of it', ...builds.map(({ name }) => name)],
    findings.map(({ name, values }) => [name, ...values]),
  );
}

if (import.meta.main) {
  // What was started ends when this process exits, which a signal alone would not make it do.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
  await main();
  process.exit(0);
}
