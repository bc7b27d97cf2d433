// Opens the domains over one open database, for commands and the console. The caller provides the
// ledger: a command writes in its process, a server through its thread.

import { createIncidents } from '../catalog/incidents.ts';
import type { Plan } from '../core/plan.ts';
import { createAccounts } from '../identity/accounts.ts';
import type { Basics } from '../identity/audit.ts';
import { createBlocks } from '../identity/blocks.ts';
import { createKeys } from '../identity/keys.ts';
import { createSettings } from '../identity/settings.ts';
import { createBooks } from '../ledger/books.ts';
import type { Ledger } from '../ledger/contract.ts';

export type Store = ReturnType<typeof createStore>;

/** `database` is migrated; its owner closes it. */
export function createStore(
  dependencies: Basics & {
    readonly ledger: Ledger;
    /** The current plans of the catalog. */
    readonly plans: () => ReadonlyMap<string, Plan>;
  },
) {
  const { database, ledger } = dependencies;
  const books = createBooks(database);
  return {
    database,
    ledger,
    books,
    accounts: createAccounts({ ...dependencies, openBalance: books.openBalance }),
    keys: createKeys(dependencies),
    blocks: createBlocks(dependencies),
    settings: createSettings(dependencies),
    incidents: createIncidents(dependencies),
  };
}
