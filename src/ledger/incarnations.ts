// Which starts of nodes have holds that are open. Asked by the leader, which ends those of the dead.

import { isNull } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { holds } from '../store/money-tables.ts';

/** Boots with an open hold; the empty one stands for nobody. */
export async function holdingBoots({ db }: Database): Promise<readonly string[]> {
  const rows = await db
    .selectDistinct({ boot: holds.boot })
    .from(holds)
    .where(isNull(holds.endedAt));
  return rows.map(({ boot }) => boot);
}
