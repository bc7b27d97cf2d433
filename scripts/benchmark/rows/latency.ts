// The latency that the gateway adds to an answer on an otherwise idle machine.

import { whole } from '../catalog.ts';
import { type BenchRow, compare } from '../compare.ts';
import { mid, noise, type Sample } from '../measure.ts';
import { printTable, shown } from '../table.ts';

export const latencyRow: BenchRow = {
  name: 'latency',
  quick: true,
  run: async (rig) => {
    const gateways = await rig.gateways();
    const subjects = [rig.upstream, await rig.bare(), await rig.floor(), ...gateways];
    const cases = subjects.map((subject) => ({ name: subject.name, subject, ask: whole }));
    const measured = [...(await compare(rig, cases, { connections: 1 }))];
    const alone = measured[0]?.[1];
    const p50 = (samples?: readonly Sample[]) => mid(samples, ({ p50Us }) => p50Us / 1_000);
    const p99 = (samples?: readonly Sample[]) => mid(samples, ({ p99Us }) => p99Us / 1_000);
    const added = (samples: readonly Sample[], of: typeof p50) => shown(of(samples) - of(alone));
    printTable(
      ['one connection', 'p50 ms', 'p99 ms', 'added p50', 'added p99', 'spread, others'],
      measured.map(([{ name }, samples]) => [
        ...[name, shown(p50(samples)), shown(p99(samples))],
        ...[added(samples, p50), added(samples, p99), noise(samples)],
      ]),
    );
    const own = measured.slice(-gateways.length).map(([, samples]) => samples);
    return [
      { name: 'added latency p50, ms', values: own.map((samples) => added(samples, p50)) },
      { name: 'added latency p99, ms', values: own.map((samples) => added(samples, p99)) },
    ];
  },
};
