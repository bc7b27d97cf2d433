// Permanent bytes a request: how much the database file grows over a number of requests, after a
// checkpoint of its write-ahead log.

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { streamed, whole } from '../catalog.ts';
import type { BenchRow } from '../compare.ts';
import { measure } from '../measure.ts';
import type { Build, Rig } from '../rig.ts';
import { printTable, shown } from '../table.ts';

const CONNECTIONS = 32;

/** Long enough that pages which are only begun do not count. */
const SECONDS = 3;

const ASKS = { 'whole answers': whole, streams: streamed('/v1/messages') };

export const bytesRow: BenchRow = {
  name: 'bytes',
  quick: true,
  run: async (rig) => {
    const findings = [];
    for (const [name, ask] of Object.entries(ASKS)) {
      const values = [];
      for (const build of rig.builds) values.push(shown(await bytesOf(rig, build, ask)));
      findings.push({ name: `bytes a request in the database, ${name}`, values });
    }
    printTable(
      ['bytes a request in the database', ...rig.builds.map(({ name }) => name)],
      findings.map(({ name, values }) => [name.split(', ')[1] ?? '', ...values]),
    );
    return findings;
  },
};

async function bytesOf(rig: Rig, build: Build, ask: typeof whole): Promise<number> {
  const first = await rig.startBuild(build);
  const { directory, databasePath } = first.gateway;
  await using _removed = first.gateway;
  const load = (subject: typeof first, seconds: number) =>
    measure(subject, ask, { connections: CONNECTIONS, seconds }, rig.upstream.pid);
  await load(first, 1);
  await first.gateway.stop();
  const before = sizeOf(databasePath);
  const second = await rig.startBuild(build, { directory });
  const { requests } = await load(second, SECONDS);
  await second.gateway.stop();
  return (sizeOf(join(directory, 'data/tollgate.db')) - before) / requests;
}

function sizeOf(path: string): number {
  using database = new Database(path, { readwrite: true });
  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
  const read = (name: string) =>
    Number(Object.values(database.query(`PRAGMA ${name}`).get() as object)[0]);
  return (read('page_count') - read('freelist_count')) * read('page_size');
}
