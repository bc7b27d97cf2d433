// The domains of one thread over its database connection, and what operators change in them. The main
// thread and each server thread have their own.

import type { LiveCatalog } from '../catalog/live.ts';
import { createAccounts } from '../identity/accounts.ts';
import { createAuthenticator } from '../identity/authenticate.ts';
import { createKeyActivity } from '../identity/key-activity.ts';
import { createKeys } from '../identity/keys.ts';
import { createSettings } from '../identity/settings.ts';
import { createBooks } from '../ledger/books.ts';
import { createReasoningStore, forgetThinking } from '../reasoning/reasoning.ts';
import type { Database } from '../store/contract.ts';
import type { Base } from './base.ts';
import type { CatalogFile } from './catalog-file.ts';
import { createOperatorStates } from './operator-changes.ts';
import type { SharedCatalog } from './shared-catalog.ts';

/** Over one connection: the main thread's, or that of a server thread. */
export type Domains = Awaited<ReturnType<typeof openDomains>>;

export type DomainsOptions = Base & {
  readonly catalog: CatalogSource;
  readonly database: Database;
  /** What kept thinking is sealed with. */
  readonly reasoningSecret: string | undefined;
  /** Whether it is this thread that tells of what operators have changed, and hears SIGHUP. */
  readonly tells: boolean;
  /** Where nodes sell by one catalog. */
  readonly sharedCatalog?: SharedCatalog | undefined;
  /** It was taken up. */
  readonly onTakenUp?: () => void;
};

/** The catalog in force, and the file that it comes from. */
export type CatalogSource = { readonly live: LiveCatalog; readonly file: CatalogFile };

export async function openDomains(options: DomainsOptions) {
  const { config, catalog, database, clock, randomBytes, reasoningSecret } = options;
  const { tells, sharedCatalog, onTakenUp } = options;
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
  if (config.reasoningStore === 'off' && tells) await forgetThinking(database);
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
    reasoning,
    operators: await createOperatorStates({
      ...{ database, live, file, shared: sharedCatalog, clock, log, alert, tells },
      onChange() {
        authenticator.invalidate();
        reasoning.recount();
        onTakenUp?.();
      },
    }),
  };
}
