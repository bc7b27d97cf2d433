// The whole identity domain over one real database file, with a clock that only the test moves.

import { randomBytes } from 'node:crypto';
import { BUILT_IN_PLANS } from '../../src/core/plan.ts';
import { createAccounts } from '../../src/identity/accounts.ts';
import { createKeys } from '../../src/identity/keys.ts';
import { createBooks } from '../../src/ledger/books.ts';
import type { Database } from '../../src/store/contract.ts';

export const START_MS = Date.UTC(2026, 10, 21, 12);

export function createIdentity(database: Database) {
  let now = START_MS;
  const clock = (): number => now;
  const plans = new Map(BUILT_IN_PLANS.map((plan) => [plan.slug, plan]));
  const parts = { database, clock, randomBytes, plans: () => plans };
  return {
    ...parts,
    accounts: createAccounts({ ...parts, openBalance: createBooks(database).openBalance }),
    keys: createKeys(parts),
    advance(ms: number): void {
      now += ms;
    },
  };
}

export type Identity = ReturnType<typeof createIdentity>;

let emails = 0;

/** A new account in good standing on `plan`. */
export function addAccount(identity: Identity, plan = 'pro') {
  emails += 1;
  const email = `customer-${emails}@example.com`;
  return identity.accounts.create({ email, plan, emailVerified: true }, 'operator');
}
