// Applies what operators change while a server runs: commands through the audit trail, the catalog
// and its secrets through their files, all of them on SIGHUP. Logs and retries failures; none ends
// the server.

import { every } from '../async/every.ts';
import { createSerialize } from '../async/serialize.ts';
import type { CatalogStatus, LiveCatalog } from '../catalog/live.ts';
import { type CatalogNote, readReloadRequest, writeCatalogNote } from '../catalog/notes.ts';
import type { Alert } from '../core/alert.ts';
import { isoTime } from '../core/calendar.ts';
import { type Sentence, say, wordsOf } from '../core/sentence.ts';
import type { ServiceState } from '../core/service-state.ts';
import { accountsByPlan } from '../identity/accounts.ts';
import { createAuditTail } from '../identity/audit-tail.ts';
import type { ChangedAccounts } from '../identity/authenticate.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/contract.ts';
import type { CatalogFile } from './catalog-file.ts';
import { effectOf } from './change-effects.ts';
import { createFileWatch } from './file-watch.ts';
import { createServiceState } from './service-state.ts';
import type { SharedCatalog } from './shared-catalog.ts';

/** Poll interval. The documentation promises a second. */
const LOOK_MS = 250;

/** Problems of a refused catalog that are listed one by one. */
const LISTED_PROBLEMS_MAX = 50;

export type ServiceStates = {
  /** The state for a request that begins now. */
  readonly current: () => ServiceState;
  /** Problems with the catalog, without details about accounts; empty where there are none. */
  readonly warnings: () => readonly Sentence[];
  /** Reloads the catalog on an operator's request in the console. */
  readonly reloadCatalog: () => Promise<void>;
  /** Applies changes now instead of at the next poll. */
  readonly look: () => Promise<void>;
  /**
   * Looks once any running look has ended. `isAnew`: events may have been missed, so caches are
   * dropped.
   */
  readonly lookSoon: (isAnew: boolean) => void;
  /**
   * Starts to poll and to listen to SIGHUP. Returns a function that stops both. Calls
   * `resetUpstream` for each upstream that an operator marks as repaired, and `onSeen` with the
   * database time up to which all changes are applied and whether there were any.
   */
  readonly watch: (
    resetUpstream?: (upstream: string) => void,
    onSeen?: (atMs: number, hasChanges: boolean) => Promise<void>,
  ) => () => void;
};

export type OperatorsOptions = {
  readonly database: Database;
  readonly live: LiveCatalog;
  readonly file: Pick<CatalogFile, 'paths' | 'changedSettings' | 'isOutdated'>;
  /** Present where the nodes of a cluster share one catalog. */
  readonly shared?: SharedCatalog | undefined;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly alert: (alert: Alert) => void;
  /** What is cached of these accounts may be outdated, or of all of them. */
  readonly onChange: (changed?: ChangedAccounts) => void;
  /** Kept thinking or answers of an account may have been removed. */
  readonly onRemoval: () => void;
};

export async function createServiceStates(options: OperatorsOptions): Promise<ServiceStates> {
  const { database, live, file, shared, clock, log, alert, onChange, onRemoval } = options;
  const files = createFileWatch(file.paths);
  // Opened before the first read of the state, so that no event falls in between.
  const tail = createAuditTail(database);
  await tail.read();
  const operator = await createServiceState({ database, catalog: live.current, clock });
  /** Repaired upstreams that are not reset yet. */
  const mended = new Set<string>();
  let reset: (upstream: string) => void = () => undefined;
  let seen: (atMs: number, hasChanges: boolean) => Promise<void> = async () => undefined;
  let request = await readReloadRequest(database);
  let strandedPlans = await plansWithout();
  /** A look failed and has to be repeated. */
  let stale = false;
  let isNoteStale = true;
  let failing = false;
  const inTurn = createSerialize();
  let next: Promise<void> | undefined;

  async function look(): Promise<void> {
    // The ledger commits all the time, so `data_version` says nothing; the audit trail shows what
    // operators change.
    const { at, events } = await tail.read();
    const changed = new Set<string>();
    let hasNewKeys = false;
    for (const { action, subject, accountId } of events) {
      if (action === 'upstream.reset') mended.add(subject);
      const effect = effectOf(action);
      if (effect === 'removal' || effect === 'all') onRemoval();
      if (effect === 'key') hasNewKeys = true;
      if (effect === 'none') continue;
      if (effect === 'state' || effect === 'all' || accountId === null) stale = true;
      else changed.add(accountId);
    }
    if (changed.size > 0) onChange({ ids: changed, hasNewKeys });
    if (files.hasChanged()) await readFile('a file has changed');
    const hasChanges = stale || changed.size > 0;
    if (stale || clock() >= operator.changesAt()) await takeUp();
    if (isNoteStale) await writeNote();
    await seen(at, hasChanges);
  }

  async function takeUp(): Promise<void> {
    const asked = await readReloadRequest(database);
    const isAsked = asked !== request;
    if (await shared?.follow()) await reload('it was published to all nodes');
    if (isAsked) {
      request = asked;
      await readFile('the command line asked for it');
    }
    // Set again if a step fails or another change arrives.
    stale = false;
    await operator.refresh();
    onChange();
    for (const upstream of mended) reset(upstream);
    mended.clear();
    if (strandedPlans.length > 0) {
      strandedPlans = await plansWithout();
      isNoteStale = true;
    }
  }

  /** Settles first: a change of the files from here on is a new one. */
  function readFile(cause: string): Promise<void> {
    files.settle();
    return reload(cause);
  }

  async function reload(cause: string): Promise<void> {
    const before = live.status().version;
    const { version, digest, refused } = live.reload();
    stale = true;
    isNoteStale = true;
    if (version !== before) {
      // First: no later look offers this change where what follows fails.
      await shared?.offer();
      strandedPlans = await plansWithout();
      log.info(`catalog: version ${version} (${digest.slice(0, 12)}) is active, because ${cause}`);
      for (const warning of sentences()) log.error(`catalog: ${warning}`);
    } else if (refused !== undefined) {
      const { problems } = refused;
      log.error(
        `catalog: refused, version ${version} stays active: ${listed(problems.map(wordsOf)).join('; ')}`,
      );
      alert({ kind: 'catalog_refused', problems: problems.length });
    }
  }

  /** Plans that accounts are on and the catalog lacks, with the number of accounts. */
  async function plansWithout(): Promise<readonly (readonly [plan: string, accounts: number])[]> {
    const { plans } = live.current();
    return (await accountsByPlan(database)).filter(([plan]) => !plans.has(plan));
  }

  function sentences(): string[] {
    const settings = file.changedSettings();
    return [
      ...strandedPlans.map(
        ([plan, count]) =>
          `${count} accounts are on the plan ${plan}, which is not in the catalog; they are refused with 503 until the plan is back or they move to another one`,
      ),
      ...(file.isOutdated()
        ? [
            'the catalog file of this node differs from the published catalog; publish it with tollgate catalog reload',
          ]
        : []),
      ...(settings.length === 0
        ? []
        : [
            `${settings.join(', ')} changed; settings need a restart, the catalog's secrets do not`,
          ]),
    ];
  }

  async function writeNote(): Promise<void> {
    const note = noteOf(live.status(), live.current(), sentences(), request);
    await writeCatalogNote(database, note, clock());
    isNoteStale = false;
  }

  /** One after the other. A database that cannot be read is logged once and retried. */
  const guarded = (work: () => Promise<void>): Promise<void> => inTurn(() => attempt(work));

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      failing = false;
    } catch (error) {
      if (!failing) log.error('changes by operators could not be applied', error);
      failing = true;
      // Events may have been missed, so the next look drops the caches.
      stale = true;
    }
  }

  /** A look that has not begun serves all calls until then. */
  function lookOnce(): Promise<void> {
    next ??= guarded(() => {
      next = undefined;
      return look();
    });
    return next;
  }

  function lookSoon(isAnew: boolean): void {
    if (isAnew) stale = true;
    void lookOnce();
  }

  if (await shared?.join()) {
    await reload('the other nodes use it');
    await operator.refresh();
  }

  return {
    current: operator.current,
    warnings() {
      const { refused } = live.status();
      return [
        ...(refused === undefined
          ? []
          : [say('the last catalog was refused; the previous one is active', {}, 'catalog')]),
        ...(strandedPlans.length === 0
          ? []
          : [say('accounts are on plans that the catalog does not have', {}, 'plans')]),
      ];
    },
    reloadCatalog: () =>
      guarded(async () => {
        shared?.insist();
        await readFile('the console asked for it');
        await look();
      }),
    look: lookOnce,
    lookSoon,
    watch(resetUpstream = () => undefined, onSeen = async () => undefined) {
      reset = resetUpstream;
      seen = onSeen;
      const hangUp = (): void =>
        void guarded(async () => {
          await readFile('of SIGHUP');
          await look();
        });
      void guarded(look);
      process.on('SIGHUP', hangUp);
      const stopLooking = every(LOOK_MS, () => lookSoon(false));
      return () => {
        stopLooking();
        process.off('SIGHUP', hangUp);
      };
    },
  };
}

function noteOf(
  status: CatalogStatus,
  { models, upstreams, plans }: ServiceState['catalog'],
  warnings: readonly string[],
  request: string | undefined,
): CatalogNote {
  const { version, digest, origin, path = null, loadedAt, refused } = status;
  return {
    request: request ?? null,
    version,
    digest,
    origin,
    path,
    loaded_at: isoTime(loadedAt),
    models: models.length,
    upstreams: upstreams.size,
    plans: plans.size,
    warnings: [...warnings],
    refused:
      refused === undefined
        ? null
        : { at: isoTime(refused.at), problems: listed(refused.problems.map(wordsOf)) },
  };
}

function listed(problems: readonly string[]): string[] {
  const more = problems.length - LISTED_PROBLEMS_MAX;
  if (more <= 0) return [...problems];
  return [
    ...problems.slice(0, LISTED_PROBLEMS_MAX),
    `and ${more} more; tollgate catalog check has all`,
  ];
}
