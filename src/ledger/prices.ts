// The price versions of the books. A version is a name for its numbers, for ever: `explain` and the
// recovery compute charges again from these rows.

import type { Awaitable } from '../async/awaitable.ts';
import { assert } from '../core/assert.ts';
import type { Price } from '../core/price.ts';
import type { Statements } from './statements.ts';

/** A price, for which model, and when. */
export type PriceUse = { readonly price: Price; readonly model: string; readonly nowMs: number };

export type Prices = ReturnType<typeof createPrices>;

export function createPrices(statements: Statements) {
  const known = new Map<string, Price>();

  function insert({ price, model, nowMs }: PriceUse): Promise<void> {
    return statements.insertPriceVersion({ ...price, model, firstUsedAt: nowMs });
  }

  async function insertAndKnow(use: PriceUse): Promise<void> {
    const { version, input, cachedInput, cacheWrite, output } = use.price;
    await insert(use);
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
    /** Writes a version down when it is first used, and refuses another meaning for its name. */
    remember: (use: PriceUse): Awaitable<void> =>
      known.has(use.price.version) ? undefined : insertAndKnow(use),
    /**
     * Writes down those that are not known, in the order of their versions, so that no two nodes wait
     * for each other; what they mean is looked at when each is used.
     */
    async announce(uses: readonly PriceUse[]): Promise<void> {
      const unknown = new Map<string, PriceUse>();
      for (const use of uses) {
        if (!known.has(use.price.version)) unknown.set(use.price.version, use);
      }
      const inOrder = [...unknown].sort(([one], [other]) => (one < other ? -1 : 1));
      for (const [, use] of inOrder) await insert(use);
    },
    /** The numbers of a version that a hold names. */
    read: (version: string): Awaitable<Price> => known.get(version) ?? readAndKnow(version),
    /** After a rollback: what was written may be gone, so nothing counts as known any more. */
    forget: () => known.clear(),
  };
}
