// The dashboard and the operator's console. Each loads at its first visit, so a gateway that is
// used without them spends neither memory nor start time on them.

import { every } from '../async/every.ts';
import { isHttps, publicUrl } from '../config/urls.ts';
import type { UpstreamState } from '../core/health.ts';
import type { Sentence } from '../core/sentence.ts';
import type { ConsoleDependencies, DashboardDependencies } from '../dashboard/dependencies.ts';
import type { DashboardApp } from '../dashboard/edge/app.ts';
import type { GuardDependencies } from '../dashboard/edge/guard.ts';
import type { RouteStanding } from '../dashboard/edge/route.ts';
import type { SessionDependencies } from '../dashboard/edge/sessions.ts';
import { addressOf, type Mount, type RuntimeServer } from '../http/exchange.ts';
import { forgetIdempotent } from '../idempotency/store.ts';
import type { SignIn } from '../identity/sign-in/contract.ts';
import { readCookie, SESSION_COOKIES } from '../identity/sign-in/cookies.ts';
import { signInSecret } from '../identity/sign-in/secret.ts';
import { createSignIn } from '../identity/sign-in/sign-in.ts';
import type { SignedIn, SignedInCustomer, SignedInOperator } from '../identity/signed-in.ts';
import type { Mailer } from '../mail/mail.ts';
import { sweepAlerts } from '../operations/alerts.ts';
import { sweepApprovals } from '../operations/approval-records.ts';
import { createStore, type Store } from '../operations/store.ts';
import { createTopUps } from '../operations/top-ups.ts';
import { sweepWords } from '../operations/upstream-words.ts';
import { forgetThinking } from '../reasoning/reasoning.ts';
import { openServingDatabase } from '../store/serving-database.ts';
import { VERSION } from '../version.ts';
import type { Base } from './base.ts';
import { once } from './inputs.ts';
import { pageMounts } from './lazy-app.ts';
import { createMachine } from './operator-server.ts';
import type { RequestPath } from './request-path.ts';
import type { ServingStore } from './store.ts';
import { startThread } from './thread.ts';
import type { Upkeep } from './upkeep.ts';

/** How often expired sessions and tokens are removed, and due deletions are carried out. */
const SWEEP_MS = 60_000;

export type ServingDashboardOptions = {
  readonly base: Base;
  readonly store: ServingStore;
  readonly path: RequestPath;
  readonly upkeep: Upkeep;
  readonly draining: () => boolean;
  readonly answerPlayground: DashboardDependencies['answerPlayground'];
  /** The actual port of the public listener. */
  readonly port: () => number;
  readonly upstreams: () => readonly UpstreamState[];
  readonly warnings: () => readonly Sentence[];
  readonly mails: Pick<Parameters<typeof createSignIn>[0], 'mail' | 'writeMail'>;
  readonly mailMode: Mailer['mode'];
  /** The console's URL; absent where there is no console. */
  readonly consoleUrl: () => string | undefined;
};

export type ServingDashboard = {
  readonly dashboard: Mount;
  readonly console: Mount;
  /** Whether a request has the session of a customer. */
  readonly isCustomer: (headers: Headers) => Promise<boolean>;
  /** The newest active key of the customer whose session a request has, masked. Never rejects. */
  readonly maskedKeyOf: (headers: Headers) => Promise<string | undefined>;
  /** A job of the leader: removes what has expired. Returns a function that stops it. */
  readonly sweepExpired: () => () => void;
  readonly close: () => Promise<void>;
};

export function createServingDashboard(options: ServingDashboardOptions): ServingDashboard {
  const { base, path, upkeep } = options;
  const { config, clock, monotonic, randomBytes, observation } = base;
  const { domains } = path;
  const { trustedProxies } = path.handlers;
  let opened: Store | undefined;
  const store = (): Store => {
    opened ??= openDashboardStore(options);
    return opened;
  };
  const { sessionSecret, databaseUrl } = config;
  // Throws `StoreError` where it cannot be read or stored.
  const secret = once(() => signInSecret({ sessionSecret, databaseUrl, randomBytes }));
  const signIn = once(() => signInOf(options, store(), secret()));
  const dependencies = once(() => dependenciesOf(options, store(), signIn(), secret()));
  const origin = config.baseUrl === undefined ? undefined : new URL(config.baseUrl).origin;

  function guard<Who extends SignedIn>(
    session: SessionDependencies<Who>['session'],
    standing: SessionDependencies<Who>['standing'],
    isOpen: SessionDependencies<Who>['isOpen'],
  ): GuardDependencies<Who> & SessionDependencies<Who> {
    return {
      session,
      standing,
      isOpen,
      address: (request, server) =>
        addressOf(request, server as RuntimeServer | null, trustedProxies),
      origin,
      isReadOnly: () => options.store.file?.loss() !== undefined,
      isHttps: () => isHttps(config),
      clock,
      randomBytes,
      onChange() {
        void upkeep.announcements.announce();
        return domains.serviceStates.look();
      },
      onInternal,
    };
  }

  function onInternal(requestId: string, error: unknown): void {
    observation.alert({ kind: 'internal_error', requestId }, error);
  }

  async function standingOf({ accountId }: SignedInCustomer): Promise<RouteStanding | undefined> {
    const { standing } = await store().accounts.get(accountId);
    if (domains.serviceStates.current().blocklist.accountBlocked(accountId)) return 'blocked';
    return standing === 'active' ? undefined : standing;
  }

  async function newestKey(headers: Headers) {
    const customer = await signIn().customer.read(headers, { quiet: true });
    if (customer === undefined) return undefined;
    const order = { field: 'created', descending: true } as const;
    const page = { limit: 1, order, after: undefined };
    const [key] = await store().keys.page(customer.accountId, page, { state: 'active', text: '' });
    return key;
  }

  /** Runs without a visit, too: deletions requested before a restart may be due. */
  function sweepExpired(): () => void {
    return every(
      SWEEP_MS,
      async () => {
        await sweepAlerts(store().database, clock());
        await sweepWords(store().database, clock());
        await sweepApprovals(store().database, clock());
        await store().blocks.sweep();
        // Without its secret there is no sign-in; the others must not depend on it.
        await signIn().sweep();
      },
      (error) => observation.log.error('expired rows of the pages could not be removed', error),
    );
  }

  const loadCustomer = async (): Promise<DashboardApp> => {
    const [{ createDashboardApp }, { customerRoutes }, { createPageFiles }, limits] =
      await Promise.all([
        import('../dashboard/edge/app.ts'),
        import('../dashboard/customer/routes.ts'),
        import('../dashboard/edge/files.ts'),
        import('../dashboard/edge/call-limit.ts'),
      ]);
    const limitReads = limits.createCallLimit({ monotonic, ...limits.READS });
    return createDashboardApp({
      ...guard<SignedInCustomer>(signIn().customer.read, standingOf, async () => true),
      limitChanges: limits.createChangeLimit({ monotonic }),
      limitReads: ({ accountId }) => limitReads(accountId),
      prefix: '/dashboard',
      routes: customerRoutes(dependencies()),
      files: createPageFiles('customer', () => domains.live.current().service),
    });
  };

  const loadOperator = async (): Promise<DashboardApp> => {
    const [{ createDashboardApp }, { operatorRoutes }, { createPageFiles }] = await Promise.all([
      import('../dashboard/edge/app.ts'),
      import('../dashboard/operator/routes.ts'),
      import('../dashboard/edge/files.ts'),
    ]);
    const [{ tokenDoor }, limits] = await Promise.all([
      import('../dashboard/edge/tokens.ts'),
      import('../dashboard/edge/call-limit.ts'),
    ]);
    const routes = operatorRoutes(dependencies());
    const { operator, operators } = signIn();
    return createDashboardApp({
      ...guard<SignedInOperator>(operator.read, async () => undefined, operators.exist),
      prefix: '/operator',
      routes,
      files: createPageFiles('operator', () => domains.live.current().service),
      tokens: {
        door: tokenDoor({
          database: store().database,
          clock,
          randomBytes,
          onInternal,
          limitCalls: limits.createCallLimit({ monotonic, ...limits.CALLS }),
        }),
        // Strangers may ask for it, so it is made once.
        describe: once(async () => {
          const { createOperatorDocument } = await import('../openapi/operator-document.ts');
          return createOperatorDocument({ version: VERSION, routes });
        }),
      },
    });
  };
  const { mount } = pageMounts(
    { config, observation, port: options.port },
    'the dashboard could not answer',
  );

  return {
    dashboard: mount(loadCustomer),
    console: mount(loadOperator),
    isCustomer: async (headers) =>
      (await signIn().customer.read(headers, { quiet: true })) !== undefined,
    async maskedKeyOf(headers) {
      if (readCookie(headers, SESSION_COOKIES.customer) === undefined) return undefined;
      // A page that is shown without the key is worth more than none.
      const key = await newestKey(headers).catch(() => undefined);
      return key?.row.masked;
    },
    sweepExpired,
    async close() {
      await opened?.database.close();
    },
  };
}

/** Syncs its commits: a revoked key must not come back after a power cut. */
function openDashboardStore({ base, store, path }: ServingDashboardOptions): Store {
  const { config, clock, randomBytes } = base;
  const { live } = path.domains;
  const database = openServingDatabase({
    url: config.databaseUrl,
    sync: config.ledgerSync,
    writer: store.writer,
    startReader: () => startThread('./reader-thread.ts'),
  });
  const plans = () => live.current().plans;
  return createStore({ database, ledger: store.ledger, clock, randomBytes, plans });
}

function signInOf(
  options: ServingDashboardOptions,
  { database, accounts, keys }: Store,
  secret: string,
): SignIn {
  const { base, path, mails, consoleUrl } = options;
  const { config, clock, randomBytes, observation } = base;
  return createSignIn({
    database,
    accounts,
    keys,
    clock,
    randomBytes,
    ...mails,
    secret,
    mode: config.signUp,
    service: () => path.domains.live.current().service,
    pages: {
      customer: () => `${publicUrl(config, options.port())}/dashboard`,
      operator: () => consoleUrl() ?? '',
    },
    async onDeletion(accountId) {
      await forgetThinking(database, accountId);
      await forgetIdempotent(database, accountId);
    },
    onTrouble: (message, error) => observation.log.error(message, error),
  });
}

function dependenciesOf(
  options: ServingDashboardOptions,
  store: Store,
  signIn: SignIn,
  secret: string,
): ConsoleDependencies {
  const { base, path, upkeep, draining } = options;
  const { config, clock, randomBytes } = base;
  const { live, serviceStates } = path.domains;
  return {
    store,
    signIn,
    topUps: createTopUps({ secret, clock, randomBytes }),
    mailMode: options.mailMode,
    limits: path.pipeline.limits,
    serviceState: serviceStates.current,
    inFlight: () => path.load().requestsInFlight,
    baseUrl: () => publicUrl(config, options.port()),
    offersResponses: config.responsesFormat === 'on',
    answerPlayground: options.answerPlayground,
    draining,
    clock,
    randomBytes,
    archives: upkeep.archives,
    catalog: live.current,
    fourEyesAbove: config.fourEyesAbove,
    catalogStatus: live.status,
    async reloadCatalog() {
      await serviceStates.reloadCatalog();
      return live.status();
    },
    upstreams: options.upstreams,
    warnings: options.warnings,
    problems: options.store.problems,
    machine: createMachine(options),
  };
}
