// What scripts/record-books runs: records the books of an executable for test/upgrade.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findPostgres } from '../test/support/postgres-server.ts';
import { recordMonth } from '../test/upgrade/month.ts';
import { record, writeRecording } from '../test/upgrade/recording.ts';

const [, , named = 'dist/tollgate'] = process.argv;
const binary = resolve(named);
if (findPostgres() === undefined) throw new Error('It takes PostgreSQL, to record its books too.');
for (const dialect of ['sqlite', 'postgres'] as const) {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-record-'));
  try {
    const recording = await record(binary, dialect, directory);
    const folder = await writeRecording(dialect, recording);
    // The file is the same from both databases.
    if (dialect === 'sqlite') await recordMonth(folder, directory);
    process.stdout.write(`${recording.version} on ${dialect} is in ${folder}\n`);
  } finally {
    await rm(directory, { recursive: true });
  }
}
process.exit(0);
