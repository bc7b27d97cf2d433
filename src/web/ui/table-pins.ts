// Keeps the last number columns of a table in view where the table is wider than its box: they stick
// to the end while the other columns scroll below them.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Columns pinned at most; table.css has a class for each. */
export const PINS_MAX = 6;
/** Pinned columns leave this share of the box to the others. */
const FREE_SHARE = 0.3;

export type Pins = {
  /** The table is wider than its box, so the box scrolls. */
  readonly wide: boolean;
  /** How many columns are pinned, counted from the end. */
  readonly count: number;
};

const NONE: Pins = { wide: false, count: 0 };

/** `numbers` is how many columns at the end may be pinned. */
export function usePins(numbers: number) {
  const box = useRef<HTMLDivElement>(null);
  const [pins, setPins] = useState(NONE);
  useLayoutEffect(() => {
    const element = box.current;
    const table = element?.querySelector('table');
    if (!element || !table) return;
    const measure = () => {
      const next = pinsOf(element, table, numbers);
      setPins((now) => (now.wide === next.wide && now.count === next.count ? now : next));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(table);
    return () => observer.disconnect();
  }, [numbers]);
  return { box, pins } as const;
}

function pinsOf(box: HTMLElement, table: HTMLTableElement, numbers: number): Pins {
  if (table.offsetWidth <= box.clientWidth + 1) return NONE;
  const room = box.clientWidth * (1 - FREE_SHARE);
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].reverse();
  let taken = 0;
  let count = 0;
  for (const head of heads.slice(0, Math.min(numbers, PINS_MAX))) {
    const width = head.getBoundingClientRect().width;
    if (taken + width > room) break;
    table.style.setProperty(`--pin-${count}`, `${taken}px`);
    taken += width;
    count += 1;
  }
  return { wide: true, count };
}
