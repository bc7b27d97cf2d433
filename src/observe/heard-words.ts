// Groups what upstreams said of failures by place and words, until it is stored for operators.
// Numbers and ids differ between equal errors, so words with a digit do not distinguish groups.
// Bounded per place, because callers can cause many different errors at one.

import { HEARD_REQUESTS_MAX, type HeardGroup, type HeardWords } from '../core/heard-words.ts';

export type HeardGroups = ReturnType<typeof createHeardGroups>;

/** Between two writes. */
const GROUPS_OF_PLACE = 10;

export function createHeardGroups() {
  let places = new Map<string, Map<string, HeardGroup>>();
  return {
    hear(heard: HeardWords): void {
      const groups = places.getOrInsertComputed(placeOf(heard), () => new Map());
      const id = idOf(heard);
      const known = groups.get(id);
      if (known === undefined && groups.size >= GROUPS_OF_PLACE) return;
      const earlier = known?.requests.filter((request) => request !== heard.requestId) ?? [];
      groups.set(id, {
        id,
        heard,
        count: (known?.count ?? 0) + 1,
        firstAt: known?.firstAt ?? heard.at,
        requests: [heard.requestId, ...earlier].slice(0, HEARD_REQUESTS_MAX),
      });
    },
    /** Takes all groups out. */
    take(): readonly HeardGroup[] {
      const taken = [...places.values()].flatMap((groups) => [...groups.values()]);
      places = new Map();
      return taken;
    },
  };
}

function placeOf({ upstream, model }: HeardWords): string {
  return `${upstream} ${model}`;
}

/** The same on every node. */
function idOf(heard: HeardWords): string {
  const { failure, status = 0, words } = heard;
  const equal = words.replaceAll(/\S*\d\S*/g, '#');
  return Bun.hash(`${placeOf(heard)} ${failure} ${status} ${equal}`).toString(36);
}
