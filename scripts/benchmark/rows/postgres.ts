// The same requests with the ledger in PostgreSQL, which shares core 0 with the gateway and waits
// for its disk. Its processes count as the gateway's.

import { join } from 'node:path';
import { startPostgres } from '../../../test/support/services.ts';
import { whole } from '../catalog.ts';
import { type BenchRow, compare, type Finding } from '../compare.ts';
import { cpuOf, treeUs } from '../machine.ts';
import { mid, noise, type Sample } from '../measure.ts';
import { printTable, shown } from '../table.ts';

const CONNECTIONS = 64;

export const postgresRow: BenchRow = {
  name: 'postgres',
  run: async (rig) => {
    const gateways = await rig.gateways();
    await using stack = new AsyncDisposableStack();
    const cases = gateways.map((subject) => ({
      name: `${subject.name}, SQLite`,
      subject,
      ask: whole,
    }));
    for (const build of rig.builds) {
      const server = stack.use(await startPostgres({ durable: true }));
      const lock = await Bun.file(join(server.directory, 'data/postmaster.pid')).text();
      const pid = Number.parseInt(lock, 10);
      Bun.spawnSync(['taskset', '-apc', '0', String(pid)]);
      const environment = { DATABASE_URL: await server.createDatabase() };
      const subject = await rig.startBuild(build, { environment });
      stack.use(subject.gateway);
      const cpu = () => {
        const own = cpuOf(subject.pid);
        return { ...own, all: own.all + treeUs(pid) };
      };
      cases.push({ name: `${build.name}, PostgreSQL`, subject: { ...subject, cpu }, ask: whole });
    }
    const loaded = [...(await compare(rig, cases, { connections: CONNECTIONS }))];
    const alone = [...(await compare(rig, cases, { connections: 1 }))];
    const rate = (samples: readonly Sample[]) => mid(samples, (sample) => sample.rate);
    const all = (samples: readonly Sample[]) => mid(samples, ({ cpu }) => cpu.all);
    const main = (samples: readonly Sample[]) => mid(samples, ({ cpu }) => cpu.main);
    const p50 = (at: number) => mid(alone[at]?.[1], ({ p50Us }) => p50Us / 1_000);
    const p99 = (at: number) => mid(alone[at]?.[1], ({ p99Us }) => p99Us / 1_000);
    const columns = [
      ...['books on disk', `requests/s at ${CONNECTIONS}`, 'CPU µs', 'main thread'],
      ...['p50 ms at 1', 'p99 ms at 1', 'spread, others'],
    ];
    printTable(
      columns,
      loaded.map(([{ name }, samples], at) => [
        ...[name, shown(rate(samples)), shown(all(samples)), shown(main(samples))],
        ...[shown(p50(at)), shown(p99(at)), noise(samples)],
      ]),
    );
    const own = loaded.slice(gateways.length).map(([, samples]) => samples);
    const added = own.map((_, at) => shown(p50(at + gateways.length) - p50(at)));
    const findings: Finding[] = [
      { name: 'PostgreSQL, CPU µs a request', values: own.map((samples) => shown(all(samples))) },
      { name: 'PostgreSQL, requests/s', values: own.map((samples) => shown(rate(samples))) },
      { name: 'PostgreSQL, p50 over SQLite, ms', values: added },
    ];
    return findings;
  },
};
