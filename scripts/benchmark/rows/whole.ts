// Whole answers: against B, CPU by thread against L4, and bytes written to disk.

import { whole } from '../catalog.ts';
import { type BenchRow, compare, type Finding } from '../compare.ts';
import { mid, noise, type Sample } from '../measure.ts';
import type { Rig } from '../rig.ts';
import { printTable, shown } from '../table.ts';

export const wholeRow: BenchRow = {
  name: 'whole',
  quick: true,
  run: async (rig) => [...(await wholeAnswers(rig, 64)), ...(await wholeAnswers(rig, 512))],
};

async function wholeAnswers(rig: Rig, connections: number): Promise<readonly Finding[]> {
  const subjects = [await rig.bare(), await rig.floor(), ...(await rig.gateways())];
  const cases = subjects.map((subject) => ({ name: subject.name, subject, ask: whole }));
  const measured = [...(await compare(rig, cases, { connections }))];
  const [bare, floor, ...gateways] = measured.map(([, samples]) => samples);
  const rate = (samples: readonly Sample[] = []) => mid(samples, (sample) => sample.rate);
  const all = (samples: readonly Sample[] = []) => mid(samples, ({ cpu }) => cpu.all);
  const main = (samples: readonly Sample[]) => mid(samples, ({ cpu }) => cpu.main);
  const ledger = (samples: readonly Sample[]) => mid(samples, ({ cpu }) => cpu.ledger);
  const disk = (samples: readonly Sample[]) => mid(samples, ({ diskBytes }) => diskBytes);

  const columns = [
    ...[`whole answers, ${connections} connections`, 'requests/s', 'of B', 'CPU µs', 'of L4'],
    ...['main thread', 'ledger', 'rest', 'p50 ms', 'p99 ms', 'disk bytes', 'spread, others'],
  ];
  printTable(
    columns,
    measured.map(([{ name }, samples]) => [
      ...[name, shown(rate(samples)), shown(rate(samples) / rate(bare))],
      ...[shown(all(samples)), shown(all(samples) / all(floor)), shown(main(samples))],
      ...[shown(ledger(samples)), shown(all(samples) - main(samples) - ledger(samples))],
      shown(mid(samples, ({ p50Us }) => p50Us / 1_000)),
      shown(mid(samples, ({ p99Us }) => p99Us / 1_000)),
      ...[shown(disk(samples)), noise(samples)],
    ]),
  );
  const found = (name: string, value: (samples: readonly Sample[]) => number): Finding => ({
    name: `${name}, ${connections} connections`,
    values: gateways.map((samples) => shown(value(samples))),
  });
  return [
    found('whole answers, of B', (samples) => rate(samples) / rate(bare)),
    found('CPU of L4', (samples) => all(samples) / all(floor)),
    found('CPU µs, all threads', all),
    found('CPU µs, main thread', main),
    found("CPU µs, ledger's thread", ledger),
    found('bytes written to disk a request', disk),
  ];
}
