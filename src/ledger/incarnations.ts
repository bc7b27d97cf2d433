// Which incarnations of nodes have open holds. The leader ends those of evicted ones.

import { isNull } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { holds } from '../store/money-tables.ts';

/** Incarnations with an open hold; the empty one belongs to no node. */
export async function holdingIncarnations({ db }: Database): Promise<readonly string[]> {
  const rows = await db
    .selectDistinct({ boot: holds.boot })
    .from(holds)
    .where(isNull(holds.endedAt));
  return rows.map(({ boot }) => boot);
}
