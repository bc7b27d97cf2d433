// The faults of a simulation, and how often each fired. A run in which a fault hardly fired proves
// nothing about it: the runner reports such a run as invalid.

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
  'upstream reports no usage',
  'upstream reports zeros',
  'upstream reports nonsense',
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
  'key replayed',
  'key lost',
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
