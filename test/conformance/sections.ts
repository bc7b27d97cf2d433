// The sections of a recorded case: its inputs, and what came of them.

import type { Recording } from '../support/golden.ts';

export type Sections = ReadonlyMap<string, string>;

export function readSections({ bytes }: Pick<Recording, 'bytes'>): Sections {
  const [, ...parts] = Buffer.from(bytes)
    .toString()
    .split(/^=== (.+) ===\n/m);
  const sections = new Map<string, string>();
  for (let at = 0; at < parts.length; at += 2) sections.set(parts[at] ?? '', parts[at + 1] ?? '');
  return sections;
}
