// The dependencies of operations, over one real database file, with a clock that only the test
// moves.

import { loadCatalog } from '../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { createBlocks } from '../../src/identity/blocks.ts';
import { createBooks } from '../../src/ledger/books.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { OperationDependencies } from '../../src/operations/dependencies.ts';
import type { Database } from '../../src/store/contract.ts';
import { auditEvents } from '../../src/store/tables.ts';
import { createIdentity } from '../identity/fixtures.ts';

const catalog = loadCatalog({ text: DEMO_CATALOG, environment: {}, nowMs: 0 });

/** The caller closes the ledger and the database. */
export function createParts(
  database: Database,
): OperationDependencies & { readonly advance: (ms: number) => void } {
  const identity = createIdentity(database);
  return {
    ...identity,
    books: createBooks(database),
    ledger: createLedger({ database }),
    blocks: createBlocks(identity),
    catalog: () => catalog,
  };
}

/** Every event of the trail in the order in which they were written, without its random ids. */
export async function readTrail({ db }: Database) {
  return (await db.select().from(auditEvents).orderBy(auditEvents.id).all()).map(
    ({ id: _id, operationId: _operationId, detail, ...event }) => ({
      ...event,
      detail: JSON.parse(detail) as Record<string, unknown>,
    }),
  );
}
