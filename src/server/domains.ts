// Everything of a server that lives in its database: the database itself, the domains over it, and
// what operators change in it. Made by serve, and by each of its server threads over a connection of
// its own, before there is a pipeline; closed last.

import { createLiveCatalog } from '../catalog/live.ts';
import type { DatabaseClock } from '../cluster/clock.ts';
import type { Config } from '../config/settings.ts';
import type { RandomBytes } from '../core/id.ts';
import { createAccounts } from '../identity/accounts.ts';
import { createAuthenticator } from '../identity/authenticate.ts';
import { createKeyActivity } from '../identity/key-activity.ts';
import { createKeys } from '../identity/keys.ts';
import { createSettings } from '../identity/settings.ts';
import { createBooks } from '../ledger/books.ts';
import { createReasoningStore, forgetThinking } from '../reasoning/reasoning.ts';
import type { Database } from '../store/contract.ts';
import { createCatalogFile } from './catalog-file.ts';
import type { ServingConfig } from './config.ts';
import type { Deployment } from './deployment.ts';
import type { Inputs } from './inputs.ts';
import type { Observation } from './observation.ts';
import { createOperatorStates } from './operator-changes.ts';
import type { SharedCatalog } from './shared-catalog.ts';
import { openServingStore, type ServingStore } from './store.ts';

/** Over one connection: the main thread's, or that of a server thread. */
export type Domains = Awaited<ReturnType<typeof openDomains>>;

export type ServingDomains = Domains & { readonly store: ServingStore };

export type DomainsOptions = {
  readonly inputs: Inputs;
  readonly config: Config;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  readonly observation: Pick<Observation, 'log' | 'alert'>;
  /** What kept thinking is sealed with. */
  readonly reasoningSecret: string | undefined;
  /** Whether it is this thread that tells of what operators have changed, and hears SIGHUP. */
  readonly tells: boolean;
  /** Where nodes sell by one catalog. */
  readonly shared?: SharedCatalog | undefined;
  /** It was taken up. */
  readonly onTakenUp?: () => void;
};

/** The catalog that is in force, and where it comes from. Throws `CatalogError`. */
export function openCatalog({ inputs, clock }: Pick<DomainsOptions, 'inputs' | 'clock'>) {
  const first = inputs.loadedCatalog();
  const file = createCatalogFile(inputs);
  return { file, live: createLiveCatalog({ first, read: file.read, clock }) };
}

export async function openDomains(
  options: DomainsOptions,
  { live, file }: ReturnType<typeof openCatalog>,
  database: Database,
) {
  const { config, clock, randomBytes, reasoningSecret, tells, shared, onTakenUp } = options;
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
      ...{ database, live, file, shared, clock, log, alert, tells },
      onChange() {
        authenticator.invalidate();
        reasoning.recount();
        onTakenUp?.();
      },
    }),
  };
}

/** Throws as `openServingStore` does. `config` has the options of the command line in it. */
export async function openServingDomains(
  options: Omit<DomainsOptions, 'tells' | 'observation' | 'config'> & {
    readonly config: ServingConfig;
    readonly deployment: Deployment;
    /** Learns the database's time. */
    readonly databaseClock: DatabaseClock;
    /** Milliseconds of a clock that never jumps. */
    readonly monotonic: () => number;
    readonly observation: Pick<Observation, 'log' | 'metrics' | 'alert'>;
  },
): Promise<ServingDomains> {
  const { config, deployment, clock, databaseClock, monotonic, randomBytes } = options;
  const { observation } = options;
  const { log, metrics, alert } = observation;
  const catalog = openCatalog(options);
  const usdPerMillion = () => catalog.live.current().usdPerMillion;
  const onBatch = metrics.batch;
  const store = await openServingStore({
    ...{
      deployment,
      config,
      log,
      alert,
      clock,
      databaseClock,
      monotonic,
      randomBytes,
      usdPerMillion,
      onBatch,
    },
  });
  const { database, node } = store;
  const shared = deployment.catalog(() => ({
    change: { database, clock, randomBytes, actor: 'system' },
    file: catalog.file,
    isAnybodyElse: () => node.member.liveNodes() > 1,
  }));
  const domains = await openDomains({ ...options, shared, tells: true }, catalog, database);
  return { ...domains, store };
}
