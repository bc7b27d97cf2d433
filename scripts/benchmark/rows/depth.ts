// CPU by depth of the request: which stage of the pipeline takes the time.

import { type Ask, countTokens, health, keyless, whole } from '../catalog.ts';
import { type BenchRow, compare, type Finding } from '../compare.ts';
import { mid, noise } from '../measure.ts';
import { printTable, shown } from '../table.ts';

const CONNECTIONS = 64;

const DEPTHS: Readonly<Record<string, Ask>> = {
  health,
  'refusal without a key': keyless,
  count_tokens: countTokens,
  'whole answer': whole,
};

export const depthRow: BenchRow = {
  name: 'depth',
  quick: true,
  run: async (rig) => {
    const gateways = await rig.gateways();
    const depths = Object.entries(DEPTHS).map(([depth, ask]) => ({
      depth,
      cases: gateways.map((subject) => ({ name: `${depth}, ${subject.name}`, subject, ask })),
    }));
    const cases = depths.flatMap((depth) => depth.cases);
    const measured = await compare(rig, cases, { connections: CONNECTIONS });
    printTable(
      ['CPU µs a request', 'all threads', 'main thread', 'ledger', 'rest', 'spread, others'],
      [...measured].map(([{ name }, samples]) => {
        const [all, main, ledger] = (['all', 'main', 'ledger'] as const).map((thread) =>
          mid(samples, ({ cpu }) => cpu[thread]),
        ) as [number, number, number];
        const threads = [all, main, ledger, all - main - ledger].map((us) => shown(us));
        return [name, ...threads, noise(samples)];
      }),
    );
    return depths.slice(0, -1).map(
      ({ depth, cases: each }): Finding => ({
        name: `CPU µs, ${depth}`,
        values: each.map((one) => shown(mid(measured.get(one), ({ cpu }) => cpu.all))),
      }),
    );
  },
};
