// The parts that a server's store needs to be a node, for tests of other parts.

import { randomBytes } from 'node:crypto';
import { createDatabaseClock } from '../../src/cluster/clock.ts';

export function nodeClocks() {
  const monotonic = (): number => performance.now();
  const databaseClock = createDatabaseClock({ wall: Date.now, monotonic });
  return { databaseClock, monotonic, randomBytes };
}
