// Server threads: what a request costs with one, two and four of them, on all cores, which load and
// upstream share; and what each adds in memory.

import { streamed, whole } from '../catalog.ts';
import { type BenchRow, compare, type Finding } from '../compare.ts';
import { residentMegabytes } from '../machine.ts';
import { mid, noise, type Sample } from '../measure.ts';
import type { GatewaySubject } from '../rig.ts';
import { printTable, shown } from '../table.ts';

const THREADS = [1, 2, 4];
const CONNECTIONS = 64;
const ASKS = { whole, streamed: streamed('/v1/messages') };

export const threadsRow: BenchRow = {
  name: 'threads',
  run: async (rig) => {
    await using stack = new AsyncDisposableStack();
    const findings: Finding[] = [];
    const subjects: (GatewaySubject & { readonly threads: number })[] = [];
    for (const build of rig.builds) {
      for (const threads of THREADS) {
        const environment = { WORKERS: String(threads) };
        const subject = await rig.startBuild(build, { environment, prefix: [] });
        stack.use(subject.gateway);
        subjects.push({ ...subject, name: `${build.name}, ${threads}`, threads });
      }
    }
    await Bun.sleep(2_000);
    const idle = new Map(subjects.map(({ pid }) => [pid, residentMegabytes(pid)]));
    for (const [kind, ask] of Object.entries(ASKS)) {
      const cases = subjects.map((subject) => ({ ...subject, subject, ask }));
      const options = { connections: CONNECTIONS, loadPrefix: [] };
      const measured = [...(await compare(rig, cases, options))];
      const cpu = (samples?: readonly Sample[]) => mid(samples, (sample) => sample.cpu.all);
      const base = (at: number) => measured[at - (at % THREADS.length)]?.[1];
      const ofOne = measured.map(([, samples], at) => shown(cpu(samples) / cpu(base(at)), 3));
      const columns = [
        ...[`server threads, ${kind}`, 'requests/s', 'CPU µs', 'of one thread'],
        ...['idle MB', 'MB now', 'spread, others'],
      ];
      printTable(
        columns,
        measured.map(([{ name, subject }, samples], at) => [
          ...[name, shown(mid(samples, ({ rate }) => rate)), shown(cpu(samples)), ofOne[at] ?? ''],
          ...[idle.get(subject.pid) ?? '', residentMegabytes(subject.pid), noise(samples)],
        ]),
      );
      for (const [at, threads] of THREADS.entries()) {
        const values = rig.builds.map((_, build) => ofOne[build * THREADS.length + at] ?? '');
        if (at > 0) findings.push({ name: `CPU with ${threads} threads, ${kind}, of one`, values });
      }
    }
    return findings;
  },
};
