// What goes wrong in a simulation, and how often it has. A run in which a fault hardly happened
// proves nothing about it: the runner calls such a run invalid.

export const FAULTS = [
  'kill',
  'disk',
  'clock',
  'client left before content',
  'client left in the middle',
  'client left before the connection',
  'client slow',
  'upstream refuses',
  'upstream overloaded',
  'upstream cut',
  'upstream stalls',
  'upstream tells no usage',
  'upstream tells zeros',
  'upstream tells nonsense',
  'upstream ignores the bound',
  'settled twice',
  'credited twice',
  'redeemed twice',
  'incident',
  'out of money',
  'out of slots',
  'out of requests',
  'out of tokens',
  'fallback served',
  'answer outgrew its hold',
  'answer stopped for money',
] as const;

export type Fault = (typeof FAULTS)[number];

export type FaultCounts = Readonly<Record<Fault, number>>;

export type FaultCounter = {
  readonly count: (fault: Fault) => void;
  readonly counts: () => FaultCounts;
};

export function createFaultCounter(): FaultCounter {
  const counts = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>;
  return {
    count(fault) {
      counts[fault] += 1;
    },
    counts: () => counts,
  };
}
