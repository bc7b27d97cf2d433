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
import type { Base } from './base.ts';
import type { CatalogFile } from './catalog-file.ts';
import { createKeptCount } from './kept-count.ts';
import type { Secrets } from './secrets.ts';
import { createServiceStates } from './service-changes.ts';
import type { ServingStore } from './store.ts';

export type Domains = Awaited<ReturnType<typeof openDomains>>;

export type DomainsOptions = {
  readonly base: Base;
  readonly store: Pick<ServingStore, 'database' | 'node'>;
  readonly catalog: CatalogSource;
  readonly secrets: Secrets;
};

/** The live catalog, and the file that it comes from. */
export type CatalogSource = { readonly live: LiveCatalog; readonly file: CatalogFile };

export async function openDomains({ base, store, catalog, secrets }: DomainsOptions) {
  const { config, deployment, clock, randomBytes, observation } = base;
  const { database } = store;
  const { live, file } = catalog;
  const { log, alert } = observation;
  const books = createBooks(database);
  const { openBalance } = books;
  const plans = () => live.current().plans;
  const authenticator = createAuthenticator({ database, clock });
  const reasoning = await createReasoningStore({
    database,
    clock,
    randomBytes,
    secret: secrets.reasoning,
    onTrouble: (error) => log.error('the reasoning store could not be used', error),
  });
  if (config.reasoningStore === 'off') await forgetThinking(database);
  if (config.idempotency === 'off') await forgetIdempotent(database);
  const idempotency = openIdempotency(base, store, secrets);
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
    serviceStates: await createServiceStates({
      database,
      live,
      file,
      shared: deployment.catalog(() => ({
        change: { database, clock, randomBytes, actor: 'system' },
        file,
        isAnybodyElse: () => store.node.member.liveNodes() > 1,
      })),
      clock,
      log,
      alert,
      onChange: authenticator.invalidate,
      onRemoval: kept.outdate,
    }),
  };
}

/** A node that lacks the secret leaves the answers of the others alone. */
function openIdempotency(
  { clock, randomBytes, observation }: Base,
  { database, node }: DomainsOptions['store'],
  { answers: secret }: Secrets,
) {
  if (secret === undefined) return undefined;
  return createIdempotencyStore({
    database,
    clock,
    randomBytes,
    secret,
    incarnation: node.member.incarnation,
    onTrouble: (error) => observation.log.error('an answer could not be kept for repeats', error),
  });
}
