// Requests of 150 KB, as coding agents send them.

import { large } from '../catalog.ts';
import { type BenchRow, compare } from '../compare.ts';
import { mid, noise, type Sample } from '../measure.ts';
import { printTable, shown } from '../table.ts';

const CONNECTIONS = 64;

export const largeRow: BenchRow = {
  name: 'large',
  run: async (rig) => {
    const gateways = await rig.gateways();
    const subjects = [await rig.bare(), ...gateways];
    const ask = large();
    const cases = subjects.map((subject) => ({ name: subject.name, subject, ask }));
    const measured = [...(await compare(rig, cases, { connections: CONNECTIONS }))];
    const cpu = (samples?: readonly Sample[]) => mid(samples, (sample) => sample.cpu.all);
    const rate = (samples?: readonly Sample[]) => mid(samples, (sample) => sample.rate);
    const bare = measured[0]?.[1];
    printTable(
      ['requests of 150 KB', 'requests/s', 'of B', 'CPU µs', 'main thread', 'spread, others'],
      measured.map(([{ name }, samples]) => [
        ...[name, shown(rate(samples)), shown(rate(samples) / rate(bare)), shown(cpu(samples))],
        ...[shown(mid(samples, (sample) => sample.cpu.main)), noise(samples)],
      ]),
    );
    const own = measured.slice(-gateways.length).map(([, samples]) => samples);
    return [{ name: 'CPU µs, a request of 150 KB', values: own.map((each) => shown(cpu(each))) }];
  },
};
