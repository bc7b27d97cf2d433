// Reduces an upstream's usage report to a form that may be stored: numbers and their keys, without
// any text of the upstream.

import type { JsonObject, JsonValue } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';

/** The length of the JSON text, in characters; members beyond it are dropped. */
const RAW_LENGTH_MAX = 1_024;
const DEPTH_MAX = 3;
/** The number of members examined, whether or not they are kept. */
const MEMBERS_MAX = 256;
/** The format of count names; anything else could be prose. */
const KEY = /^[A-Za-z][A-Za-z0-9_]{0,47}$/;

type Budget = { members: number; characters: number };

/** The numeric leaves of a report, in order and nested as reported. Empty objects are dropped. */
export function numericLeaves(report: JsonObject): JsonObject {
  return leavesOf(report, DEPTH_MAX, { members: MEMBERS_MAX, characters: RAW_LENGTH_MAX }) ?? {};
}

/** The same as compact JSON text of at most 1 KB. */
export function rawUsage(report: JsonObject): string {
  return JSON.stringify(numericLeaves(report));
}

function leavesOf(report: JsonObject, depth: number, budget: Budget): JsonObject | undefined {
  const kept: Record<string, JsonValue> = {};
  let isEmpty = true;
  // The braces of this object.
  budget.characters -= 2;
  for (const key in report) {
    if (budget.members === 0) break;
    budget.members -= 1;
    const value = report[key];
    if (value === undefined || !KEY.test(key)) continue;
    const leaf = keepLeaf(key, value, depth, budget);
    if (leaf === undefined) continue;
    kept[key] = leaf;
    isEmpty = false;
  }
  return isEmpty ? undefined : kept;
}

/** The value to store, charged against the budget; undefined if it is dropped. */
function keepLeaf(
  key: string,
  value: JsonValue,
  depth: number,
  budget: Budget,
): JsonValue | undefined {
  // The quotes, the colon and the comma.
  const frame = key.length + 4;
  if (isObject(value)) {
    if (depth === 1 || budget.characters < frame + 2) return undefined;
    budget.characters -= frame;
    return leavesOf(value, depth - 1, budget);
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const characters = frame + String(value).length;
  if (budget.characters < characters) return undefined;
  budget.characters -= characters;
  return value;
}
