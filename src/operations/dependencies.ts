// What operations work with: the domains over one database, and the catalog that is in force. The
// command line makes them for each command, the server once for its console. Types alone.

import type { RandomBytes } from '../core/id.ts';
import type { Catalog } from '../core/model.ts';
import type { Accounts } from '../identity/accounts.ts';
import type { Blocks } from '../identity/blocks.ts';
import type { Keys } from '../identity/keys.ts';
import type { Books } from '../ledger/books.ts';
import type { Ledger } from '../ledger/contract.ts';
import type { Database } from '../store/contract.ts';

export type OperationDependencies = {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly books: Books;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly blocks: Blocks;
  /** May throw where the catalog is read when it is first asked for. */
  readonly catalog: () => Catalog;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
};
