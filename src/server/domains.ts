// Constructs the domains over the server's database connection, with what operators change in them.

import type { LiveCatalog } from '../catalog/live.ts';
import { createIdempotencyStore, forgetIdempotent } from '../idempotency/store.ts';
import { createAccounts } from '../identity/accounts.ts';
import { createAuthenticator } from '../identity/authenticate.ts';
import { createKeyActivity } from '../identity/key-activity.ts';
import { createKeys } from '../identity/keys.ts';
import { createSettings } from '../identity/settings.ts';
import { createBooks } from '../ledger/books.ts';
import { createReasoningStore, forgetThinking } from '../reasoning/reasoning.ts';
import { createRefusalRecorder } from '../refusals/recorder.ts';
import type { Database } from '../store/contract.ts';
import type { Base } from './base.ts';
import type { CatalogFile } from './catalog-file.ts';
import { createKeptCount } from './kept-count.ts';
import { createOperatorStates } from './operator-changes.ts';
import type { SharedCatalog } from './shared-catalog.ts';

export type Domains = Awaited<ReturnType<typeof openDomains>>;

export type DomainsOptions = Base & {
  readonly catalog: CatalogSource;
  readonly database: Database;
  /** The secret that seals kept thinking. */
  readonly reasoningSecret: string | undefined;
  /** The secret of stored answers; undefined where this node keeps none. */
  readonly idempotencySecret: string | undefined;
  /** This node's incarnation. */
  readonly incarnation: () => string;
  /** Present where the nodes of a cluster share one catalog. */
  readonly sharedCatalog?: SharedCatalog | undefined;
};

/** The live catalog, and the file that it comes from. */
export type CatalogSource = { readonly live: LiveCatalog; readonly file: CatalogFile };

export async function openDomains(options: DomainsOptions) {
  const { config, catalog, database, clock, randomBytes, reasoningSecret, sharedCatalog } = options;
  const { live, file } = catalog;
  const { log, alert } = options.observation;
  const books = createBooks(database);
  const { openBalance } = books;
  const plans = () => live.current().plans;
  const authenticator = createAuthenticator({ database, clock });
  const reasoning = await createReasoningStore({
    database,
    clock,
    randomBytes,
    secret: reasoningSecret,
    onTrouble: (error) => log.error('the reasoning store could not be used', error),
  });
  if (config.reasoningStore === 'off') await forgetThinking(database);
  if (config.idempotency === 'off') await forgetIdempotent(database);
  const idempotency = openIdempotency(options);
  const kept = createKeptCount(() => {
    reasoning.recount();
    idempotency?.recount();
  });
  return {
    live,
    file,
    books,
    accounts: createAccounts({ database, clock, randomBytes, plans, openBalance }),
    keys: createKeys({ database, clock, randomBytes, plans }),
    settings: createSettings({ database, clock, randomBytes }),
    authenticator,
    activity: createKeyActivity({
      database,
      onError: (error) => log.error('the last use of keys could not be written', error),
    }),
    refusals: createRefusalRecorder({
      database,
      onError: (error) => log.error('refused requests could not be recorded', error),
    }),
    reasoning,
    idempotency,
    kept,
    operators: await createOperatorStates({
      ...{ database, live, file, shared: sharedCatalog, clock, log, alert },
      onChange: authenticator.invalidate,
      onRemoval: kept.outdate,
    }),
  };
}

/** A node that lacks the secret leaves the answers of the others alone. */
function openIdempotency(options: DomainsOptions) {
  const { database, clock, randomBytes, idempotencySecret: secret, incarnation } = options;
  const { log } = options.observation;
  if (secret === undefined) return undefined;
  return createIdempotencyStore({
    ...{ database, clock, randomBytes, secret, incarnation },
    onTrouble: (error) => log.error('an answer could not be kept for repeats', error),
  });
}
