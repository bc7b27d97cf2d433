// The price versions of the books. A version is a name for its numbers, for ever: `explain` and the
// recovery compute charges again from these rows.

import { assert } from '../core/assert.ts';
import type { Awaitable } from '../core/awaitable.ts';
import type { Price } from '../core/price.ts';
import type { Statements } from './statements.ts';

export type Prices = {
  /** Writes a version down when it is first used, and refuses another meaning for its name. */
  readonly remember: (price: Price, model: string, nowMs: number) => Awaitable<void>;
  /** The numbers of a version that a hold names. */
  readonly read: (version: string) => Awaitable<Price>;
  /** After a rollback: what was written may be gone, so nothing counts as known any more. */
  readonly forget: () => void;
};

export function createPrices(statements: Statements): Prices {
  const known = new Map<string, Price>();

  async function insert(price: Price, model: string, nowMs: number): Promise<void> {
    const { version, input, cachedInput, cacheWrite, output } = price;
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

  async function readAndKnow(version: string): Promise<Price> {
    const price = await find(version);
    known.set(version, price);
    return price;
  }

  async function find(version: string): Promise<Price> {
    const found = await statements.findPriceVersion(version);
    assert(found !== undefined, `price version ${version} is not in the books`);
    const { input, cachedInput, cacheWrite, output } = found;
    return { version, input, cachedInput, cacheWrite, output };
  }

  return {
    remember: (price, model, nowMs) =>
      known.has(price.version) ? undefined : insert(price, model, nowMs),
    read: (version) => known.get(version) ?? readAndKnow(version),
    forget: () => known.clear(),
  };
}
