// Streamed answers without pacing: short ones, and long ones against B's raw pipe.

import { streamed } from '../catalog.ts';
import { type BenchRow, compare, type Finding } from '../compare.ts';
import { mid, noise, type Sample } from '../measure.ts';
import type { Rig } from '../rig.ts';
import { printTable, shown } from '../table.ts';
import { LONG_STREAM, SHORT_STREAM } from '../upstream.ts';

const CONNECTIONS = 64;

const PATHS = { chat: '/v1/chat/completions', Messages: '/v1/messages' } as const;

export const streamsRow: BenchRow = {
  name: 'streams',
  quick: true,
  run: async (rig) => [
    ...(await streams(rig, 'bench', SHORT_STREAM)),
    ...(await streams(rig, 'long', LONG_STREAM)),
  ],
};

async function streams(
  rig: Rig,
  model: 'bench' | 'long',
  { events, eventsAWrite }: typeof LONG_STREAM,
): Promise<readonly Finding[]> {
  const bare = { name: 'B', subject: await rig.bare(), ask: streamed(PATHS.chat, model) };
  const gateways = await rig.gateways();
  const formats = Object.entries(PATHS).map(([format, path]) => ({
    format,
    cases: gateways.map((subject) => ({
      name: `${subject.name}, ${format}`,
      subject,
      ask: streamed(path, model),
    })),
  }));
  const cases = [bare, ...formats.flatMap((format) => format.cases)];
  const measured = await compare(rig, cases, { connections: CONNECTIONS });
  const rate = (samples?: readonly Sample[]) => mid(samples, (sample) => sample.rate);
  const cpu = (samples?: readonly Sample[]) => mid(samples, (sample) => sample.cpu.all);
  const yardstick = measured.get(bare);
  const title = `streams of ${events} events, ${eventsAWrite} a write, ${CONNECTIONS} connections`;
  printTable(
    [title, 'streams/s', 'events/s', 'of B', 'CPU µs', 'CPU µs an event', 'spread, others'],
    [...measured].map(([{ name }, samples]) => [
      ...[name, shown(rate(samples)), shown(rate(samples) * events)],
      ...[shown(rate(samples) / rate(yardstick)), shown(cpu(samples))],
      ...[shown(cpu(samples) / events), noise(samples)],
    ]),
  );
  return formats.map((format) => ({
    name: `streams of ${events} events, ${format.format}, of B`,
    values: format.cases.map((each) => shown(rate(measured.get(each)) / rate(yardstick))),
  }));
}
