// Everything of a server that lives in its database: the file itself, the domains over it, and what
// operators change in it. Made by serve before there is a pipeline, closed by it last.

import { createLiveCatalog, type LiveCatalog } from '../catalog/live.ts';
import type { DatabaseClock } from '../cluster/clock.ts';
import type { Config } from '../config.ts';
import type { RandomBytes } from '../core/id.ts';
import { createAccounts } from '../identity/accounts.ts';
import { createAuthenticator } from '../identity/authenticate.ts';
import { createKeyActivity } from '../identity/key-activity.ts';
import { createKeys } from '../identity/keys.ts';
import { createSettings } from '../identity/settings.ts';
import { createBooks } from '../ledger/books.ts';
import { createReasoningStore, forgetThinking } from '../reasoning/reasoning.ts';
import { createCatalogFile } from './catalog-file.ts';
import type { Context } from './context.ts';
import type { Observation } from './observation.ts';
import { createOperators } from './operators.ts';
import { openServingStore } from './serving-store.ts';

export type ServingDomains = Awaited<ReturnType<typeof openServingDomains>>;

/** Throws as `openServingStore` does. `config` has the options of the command line in it. */
export async function openServingDomains(options: {
  readonly context: Context;
  readonly config: Config;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Learns the database's time. */
  readonly databaseClock: DatabaseClock;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly randomBytes: RandomBytes;
  readonly observation: Pick<Observation, 'log' | 'metrics' | 'alert'>;
}) {
  const { context, config, clock, databaseClock, monotonic, randomBytes, observation } = options;
  const { log, metrics, alert } = observation;
  const first = context.loadedCatalog();
  const file = createCatalogFile(context);
  const live: LiveCatalog = createLiveCatalog({ first, read: file.read, clock });
  const usdPerMillion = () => live.current().usdPerMillion;
  const onBatch = metrics.batch;
  const store = await openServingStore({
    ...{ config, log, alert, clock, databaseClock, monotonic, randomBytes, usdPerMillion, onBatch },
  });
  const { database } = store;
  const books = createBooks(database);
  const { openBalance } = books;
  const plans = () => live.current().plans;
  const authenticator = createAuthenticator({ database, clock });
  const reasoning = await createReasoningStore({
    database,
    clock,
    randomBytes,
    secret: config.sessionSecret,
    onTrouble: (error) => log.error('the reasoning store could not be used', error),
  });
  if (config.reasoningStore === 'off') await forgetThinking(database);
  return {
    live,
    file,
    store,
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
    operators: await createOperators({
      ...{ database, live, file, clock, log, alert },
      onChange() {
        authenticator.invalidate();
        reasoning.recount();
      },
    }),
  };
}
