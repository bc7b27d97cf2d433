// The weight of a request: CPU of all gateway threads, as a multiple of B's CPU for the same
// request in the same rounds. This varies less between machines than absolute times.

import { type Ask, streamed, whole } from './catalog.ts';
import { compare } from './compare.ts';
import { mid } from './measure.ts';
import { openRig } from './rig.ts';

const CONNECTIONS = 64;

const ASKS: Readonly<Record<string, Ask>> = {
  whole,
  streamed: streamed('/v1/messages'),
};

export type Weights = Readonly<Record<string, number>>;

export async function weigh(binary: string): Promise<Weights> {
  await using rig = await openRig({
    builds: [{ name: 'gateway', binary }],
    ...{ rounds: 3, seconds: 1, requests: 0 },
  });
  const [gateway] = await rig.gateways();
  if (gateway === undefined) throw new Error('no gateway was started');
  const bare = await rig.bare();
  const weights: Record<string, number> = {};
  for (const [name, ask] of Object.entries(ASKS)) {
    const cases = [bare, gateway].map((subject) => ({ name: subject.name, subject, ask }));
    const measured = await compare(rig, cases, { connections: CONNECTIONS });
    const [yardstick = 0, own = 0] = [...measured.values()].map((samples) =>
      mid(samples, ({ cpu }) => cpu.all),
    );
    weights[name] = Number((own / yardstick).toPrecision(3));
  }
  return weights;
}
