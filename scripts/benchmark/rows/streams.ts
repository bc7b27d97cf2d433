// Streamed answers without pacing: short ones and long ones, against B's raw pipe. The difference of
// the two is what the events cost; the rest of a stream is its fixed part.

import { streamed } from '../catalog.ts';
import { type BenchRow, compare, type Finding } from '../compare.ts';
import { mid, noise, type Sample } from '../measure.ts';
import type { Rig } from '../rig.ts';
import { printTable, shown } from '../table.ts';
import { LONG_STREAM, SHORT_STREAM } from '../upstream.ts';

const CONNECTIONS = 64;

const PATHS = { chat: '/v1/chat/completions', Messages: '/v1/messages' } as const;

const SHAPES = { bench: SHORT_STREAM, long: LONG_STREAM } as const;

type Figures = { readonly rate: number; readonly cpu: number };

export const streamsRow: BenchRow = {
  name: 'streams',
  quick: true,
  async run(rig) {
    const short = await streams(rig, 'bench');
    const long = await streams(rig, 'long');
    const rows = [...short.keys()].map((name) => {
      const few = short.get(name)?.cpu ?? 0;
      const many = long.get(name)?.cpu ?? 0;
      const eventUs = (many - few) / (LONG_STREAM.events - SHORT_STREAM.events);
      return { name, eventUs, fixedUs: few - SHORT_STREAM.events * eventUs };
    });
    printTable(
      ['a stream, CPU µs, all threads', 'fixed part', 'an event'],
      rows.map(({ name, eventUs, fixedUs }) => [name, shown(fixedUs), shown(eventUs)]),
    );
    const ofBare = (figures: ReadonlyMap<string, Figures>, name: string) =>
      shown((figures.get(name)?.rate ?? 0) / (figures.get('B')?.rate ?? 0));
    const found = (label: string, value: (name: string) => string): Finding[] =>
      Object.keys(PATHS).map((format) => ({
        name: `${label}, ${format}`,
        values: rig.builds.map((build) => value(`${build.name}, ${format}`)),
      }));
    const row = (name: string) => rows.find((each) => each.name === name);
    return [
      ...found('short streams, of B', (name) => ofBare(short, name)),
      ...found('long streams, of B', (name) => ofBare(long, name)),
      ...found("CPU µs, a stream's fixed part", (name) => shown(row(name)?.fixedUs ?? 0)),
      ...found('CPU µs, an event', (name) => shown(row(name)?.eventUs ?? 0)),
    ];
  },
};

/** The figures of B, and of each build and format, by name. */
async function streams(rig: Rig, model: keyof typeof SHAPES): Promise<Map<string, Figures>> {
  const { events, eventsAWrite } = SHAPES[model];
  const bare = { name: 'B', subject: await rig.bare(), ask: streamed(PATHS.chat, model) };
  const gateways = await rig.gateways();
  const cases = [
    bare,
    ...Object.entries(PATHS).flatMap(([format, path]) =>
      gateways.map((subject) => ({
        name: `${subject.name}, ${format}`,
        subject,
        ask: streamed(path, model),
      })),
    ),
  ];
  const measured = await compare(rig, cases, { connections: CONNECTIONS });
  const rate = (samples?: readonly Sample[]) => mid(samples, (sample) => sample.rate);
  const cpu = (samples: readonly Sample[], thread: keyof Sample['cpu']) =>
    mid(samples, (sample) => sample.cpu[thread]);
  const yardstick = rate(measured.get(bare));
  const title = `streams of ${events} events, ${eventsAWrite} a write, ${CONNECTIONS} connections`;
  printTable(
    [
      ...[title, 'streams/s', 'events/s', 'of B', 'CPU µs', 'main thread', 'ledger', 'rest'],
      ...['CPU µs an event', 'spread, others'],
    ],
    [...measured].map(([{ name }, samples]) => {
      const [all, main, ledger] = [
        cpu(samples, 'all'),
        cpu(samples, 'main'),
        cpu(samples, 'ledger'),
      ] as const;
      return [
        ...[name, shown(rate(samples)), shown(rate(samples) * events)],
        ...[shown(rate(samples) / yardstick), shown(all), shown(main), shown(ledger)],
        ...[shown(all - main - ledger), shown(all / events), noise(samples)],
      ];
    }),
  );
  return new Map(
    [...measured].map(([{ name }, samples]) => [
      name,
      { rate: rate(samples), cpu: cpu(samples, 'all') },
    ]),
  );
}
