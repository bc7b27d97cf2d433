// Resident memory of fresh gateways: with many open streams, idle, after many connections, and with
// many large requests in flight at the upstream.

import { large, streamed, whole } from '../catalog.ts';
import type { BenchRow } from '../compare.ts';
import { openLoad } from '../load.ts';
import { forgetPeak, peakMegabytes, residentMegabytes } from '../machine.ts';
import { loadOf, measure, median, type Subject } from '../measure.ts';
import type { Rig } from '../rig.ts';
import { printTable } from '../table.ts';

const CONNECTIONS = 512;
const LOAD_SECONDS = 6;
const STREAMS = 1_000;
const HELD = 300;

/** Time for the collector and the allocator to give back what they will. */
const REST_MS = 3_000;

const FIGURES = [
  ...['idle', `after ${CONNECTIONS} connections`, `${STREAMS} open streams`],
  ...[`${HELD} requests of 150 KB held, peak`, 'after them'],
];

export const memoryRow: BenchRow = {
  name: 'memory',
  run: async (rig) => {
    const columns = rig.builds.map((): number[][] => []);
    const rounds = Math.ceil(rig.rounds / 2);
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, build] of rig.builds.entries()) {
        const one = await rig.startBuild(build);
        await using _one = one.gateway;
        const other = await rig.startBuild(build);
        await using _other = other.gateway;
        const [idle, connected] = [await rested(one), await afterConnections(rig, one)];
        const held = await withHeld(one);
        columns[at]?.push([idle, connected, await withStreams(other), ...held]);
      }
    }
    const bare = await rig.bare();
    const bareHeld = await withHeld(bare);
    const lines = FIGURES.map((name, at) => ({
      name,
      values: columns.map((all) => String(median(all.map((figures) => figures[at] ?? 0)))),
    }));
    printTable(
      ['resident memory, MB', 'B', ...rig.builds.map(({ name }) => name)],
      lines.map(({ name, values }, at) => [name, bareHeld[at - 3] ?? '', ...values]),
    );
    return lines.map(({ name, values }) => ({ name: `resident memory, MB, ${name}`, values }));
  },
};

async function rested({ pid }: Subject): Promise<number> {
  await Bun.sleep(REST_MS);
  return residentMegabytes(pid);
}

async function afterConnections(rig: Rig, subject: Subject): Promise<number> {
  const window = { connections: CONNECTIONS, seconds: LOAD_SECONDS };
  await measure(subject, whole, window, rig.upstream.pid);
  return rested(subject);
}

async function withStreams(subject: Subject): Promise<number> {
  const ask = streamed('/v1/chat/completions', 'slow');
  const open = await openLoad(loadOf(subject, ask, STREAMS), true);
  const resident = await rested(subject);
  open.close();
  if (open.errors() > 0) throw new Error(`${open.errors()} streams of ${subject.name} broke`);
  return resident;
}

/** The peak while all are held, and what is left afterwards. */
async function withHeld(subject: Subject): Promise<readonly [number, number]> {
  await forgetPeak(subject.pid);
  const open = await openLoad(loadOf(subject, large('held'), HELD), true);
  while (open.latenciesUs.length < HELD) await Bun.sleep(20);
  const peak = peakMegabytes(subject.pid);
  open.close();
  if (open.errors() > 0) throw new Error(`${open.errors()} requests to ${subject.name} failed`);
  return [peak, await rested(subject)];
}
