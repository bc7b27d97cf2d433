// Computes what the upstreams charge the operator for a request, from the attempts of its usage
// record. The roll-up calls it for every record, so it reads nothing else.

import {
  add,
  MICRO_DECIMALS,
  type Micro,
  micro,
  parseDecimal,
  subtract,
  ZERO,
} from '../../core/money.ts';
import { shapeNumber, unpackText } from '../../core/shape.ts';
import type { Database } from '../../store/contract.ts';
import { createReadTexts } from '../read-texts.ts';

/** `isComplete` is false where an attempt used tokens at an unknown cost. */
export type UpstreamCost = { readonly total: Micro; readonly isComplete: boolean };

/** Costs of packed attempts, in the order of the rows; a row without attempts costs nothing. */
type UpstreamCosts = (rows: readonly (Uint8Array | null)[]) => Promise<readonly UpstreamCost[]>;

const NOTHING: UpstreamCost = { total: ZERO, isComplete: true };

/** Shapes whose cost is cached. */
const KEPT_MAX = 10_000;

/** `database` is migrated. */
export function createUpstreamCosts(database: Database): UpstreamCosts {
  const readTexts = createReadTexts(database);
  /** Shapes without a cost, which have the same result for all numbers. */
  const costless = new Map<number, UpstreamCost>();

  return async (rows) => {
    const shapes = rows.map((bytes) => (bytes === null ? undefined : shapeNumber(bytes)));
    const shapeOf = await readTexts(shapes.flatMap((shape) => shape ?? []));
    return rows.map((bytes, index) => {
      if (bytes === null) return NOTHING;
      const shape = shapes[index];
      const kept = shape === undefined ? undefined : costless.get(shape);
      if (kept !== undefined) return kept;
      const cost = upstreamCost(unpackText(bytes, shapeOf));
      if (shape === undefined || shapeOf(shape).includes('"cost"')) return cost;
      if (costless.size >= KEPT_MAX) costless.clear();
      costless.set(shape, cost);
      return cost;
    });
  };
}

/** The margin is `debited` less the cost, where every cost is known. */
export function costFigures(debited: Micro, { total, isComplete } = NOTHING) {
  return {
    upstreamCost: total,
    margin: isComplete ? subtract(debited, total) : ZERO,
    uncosted: isComplete ? 0 : 1,
  };
}

/** `text` is a JSON array of attempts; members may be missing. */
function upstreamCost(text: string): UpstreamCost {
  let total = ZERO;
  let isComplete = true;
  const attempts: unknown = JSON.parse(text);
  for (const attempt of Array.isArray(attempts) ? attempts : []) {
    if (typeof attempt !== 'object' || attempt === null) continue;
    const { cost, usage } = attempt as { readonly cost?: unknown; readonly usage?: unknown };
    const known = typeof cost === 'string' ? parseDecimal(cost, MICRO_DECIMALS) : undefined;
    if (known !== undefined) total = add(total, micro(known));
    else if (typeof usage === 'object' && usage !== null) isComplete = false;
  }
  return { total, isComplete };
}
