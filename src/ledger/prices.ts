// The price versions of the books. A version is a name for its numbers, for ever: `explain` and the
// recovery compute charges again from these rows.

import { assert } from '../core/assert.ts';
import type { Price } from '../core/price.ts';
import type { Statements } from './statements.ts';

export type Prices = {
  /** Writes a version down when it is first used, and refuses another meaning for its name. */
  readonly remember: (price: Price, model: string, nowMs: number) => Promise<void>;
  /** The numbers of a version that a hold names. */
  readonly read: (version: string) => Promise<Price>;
  /** After a rollback: what was written may be gone, so nothing counts as known any more. */
  readonly forget: () => void;
};

export function createPrices(statements: Statements): Prices {
  const known = new Map<string, Price>();

  async function remember(price: Price, model: string, nowMs: number): Promise<void> {
    const { version, input, cachedInput, cacheWrite, output } = price;
    if (known.has(version)) return;
    await statements.insertPriceVersion({
      version,
      model,
      input,
      cachedInput,
      cacheWrite,
      output,
      firstUsedAt: nowMs,
    });
    const found = await find(version);
    const same =
      found.input === input &&
      found.cachedInput === cachedInput &&
      found.cacheWrite === cacheWrite &&
      found.output === output;
    assert(same, `price version ${version} was used before with other prices`);
    known.set(version, found);
  }

  async function read(version: string): Promise<Price> {
    const price = known.get(version) ?? (await find(version));
    known.set(version, price);
    return price;
  }

  async function find(version: string): Promise<Price> {
    const found = await statements.findPriceVersion(version);
    assert(found !== undefined, `price version ${version} is not in the books`);
    const { input, cachedInput, cacheWrite, output } = found;
    return { version, input, cachedInput, cacheWrite, output };
  }

  return { remember, read, forget: () => known.clear() };
}
