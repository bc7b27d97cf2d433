// What operators change while a server runs, and how it gets there: the command line through the
// audit trail, the catalog and its secrets through their files, all of it through SIGHUP. Made by
// serve. Whatever fails here is logged and tried again; nothing of it ends the server.

import { every } from '../async/every.ts';
import { createSerialize } from '../async/serialize.ts';
import type { CatalogStatus, LiveCatalog } from '../catalog/live.ts';
import { type CatalogNote, readReloadRequest, writeCatalogNote } from '../catalog/notes.ts';
import type { Alert } from '../core/alert.ts';
import { isoTime } from '../core/calendar.ts';
import type { OperatorState } from '../core/operator.ts';
import { accountsByPlan } from '../identity/accounts.ts';
import { createAuditTail } from '../identity/audit-tail.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/contract.ts';
import type { CatalogFile } from './catalog-file.ts';
import { createFileWatch } from './file-watch.ts';
import { createOperatorState } from './operator-state.ts';
import type { SharedCatalog } from './shared-catalog.ts';

/** How soon a running server takes up what has changed; a second is promised. */
const LOOK_MS = 250;

/** Problems of a refused catalog that are told one by one. */
const TOLD_PROBLEMS_MAX = 50;

export type OperatorStates = {
  /** What a request that begins now is served by. */
  readonly current: () => OperatorState;
  /** What is wrong with the catalog, in words for everybody; empty when nothing is. */
  readonly warnings: () => readonly string[];
  /** Loads the catalog anew, because an operator asked for it in the console. */
  readonly reloadCatalog: () => Promise<void>;
  /** Takes up what has changed now, and not with the next look. */
  readonly look: () => Promise<void>;
  /**
   * Looks as soon as no other look is under way. `isAnew`: something may have been missed, so that
   * nothing that is remembered counts.
   */
  readonly lookSoon: (isAnew: boolean) => void;
  /**
   * Begins to look for changes and to listen to SIGHUP. Returns the function that ends both.
   * `resetUpstream` is told of each upstream that an operator says is mended; `onSeen` until when,
   * by the database's clock, everything has taken effect here, and whether anything was new.
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
  /** Where nodes sell by one catalog. */
  readonly shared?: SharedCatalog | undefined;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly alert: (alert: Alert) => void;
  /** Something in the database has changed: what was remembered of it may be wrong now. */
  readonly onChange: () => void;
};

export async function createOperatorStates(options: OperatorsOptions): Promise<OperatorStates> {
  const { database, live, file, shared, clock, log, alert, onChange } = options;
  const files = createFileWatch(file.paths);
  // Before what it tells of is read for the first time, so that nothing falls in between.
  const tail = createAuditTail(database);
  await tail.read();
  const operator = await createOperatorState({ database, catalog: live.current, clock });
  /** Upstreams that are mended and were not told so yet. */
  const mended = new Set<string>();
  let reset: (upstream: string) => void = () => undefined;
  let seen: (atMs: number, hasChanges: boolean) => Promise<void> = async () => undefined;
  let request = await readReloadRequest(database);
  let strandedPlans = await plansWithout();
  /** What is still to be done where it has failed. */
  let stale = false;
  let untold = true;
  let failing = false;
  const inTurn = createSerialize();
  let isLookWaiting = false;

  async function look(): Promise<void> {
    // The ledger commits all the time; what an operator changes is in the audit trail.
    const { at, events } = await tail.read();
    for (const { action, subject } of events) if (action === 'upstream.reset') mended.add(subject);
    if (events.length > 0) stale = true;
    if (files.hasChanged()) await readFile('a file has changed');
    const hasChanges = stale;
    if (stale || clock() >= operator.changesAt()) await takeUp();
    if (untold) await tell();
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
    // Where something of it fails, or more comes meanwhile, it is stale again.
    stale = false;
    await operator.refresh();
    onChange();
    for (const upstream of mended) reset(upstream);
    mended.clear();
    if (strandedPlans.length > 0) {
      strandedPlans = await plansWithout();
      untold = true;
    }
  }

  /** What comes into the files from now on is news again. */
  function readFile(cause: string): Promise<void> {
    files.settle();
    return reload(cause);
  }

  async function reload(cause: string): Promise<void> {
    const before = live.status().version;
    const { version, digest, refused } = live.reload();
    stale = true;
    untold = true;
    if (version !== before) {
      strandedPlans = await plansWithout();
      log.info(
        `catalog: version ${version} (${digest.slice(0, 12)}) is in force, because ${cause}`,
      );
      for (const warning of sentences()) log.error(`catalog: ${warning}`);
      await shared?.offer();
    } else if (refused !== undefined) {
      const { problems } = refused;
      log.error(
        `catalog: refused, version ${version} stays in force: ${told(problems).join('; ')}`,
      );
      alert({ kind: 'catalog_refused', problems: problems.length });
    }
  }

  /** Plans that accounts are on and that the catalog lacks, with how many accounts. */
  async function plansWithout(): Promise<readonly (readonly [plan: string, accounts: number])[]> {
    const { plans } = live.current();
    return (await accountsByPlan(database)).filter(([plan]) => !plans.has(plan));
  }

  function sentences(): string[] {
    const settings = file.changedSettings();
    return [
      ...strandedPlans.map(
        ([plan, count]) =>
          `${count} accounts are on the plan ${plan}, which the catalog does not have; they are refused with 503 until it does, or they are on another plan`,
      ),
      ...(file.isOutdated()
        ? [
            'the catalog file of this node is not what the nodes sell by; tollgate catalog reload makes it that',
          ]
        : []),
      ...(settings.length === 0
        ? []
        : [
            `${settings.join(', ')} changed; settings need a restart, the catalog's secrets do not`,
          ]),
    ];
  }

  async function tell(): Promise<void> {
    const note = noteOf(live.status(), live.current(), sentences(), request);
    await writeCatalogNote(database, note, clock());
    untold = false;
  }

  /**
   * One after the other. A database that cannot be read for a moment is logged once, and looked at
   * again.
   */
  const guarded = (work: () => Promise<void>): Promise<void> => inTurn(() => attempt(work));

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      failing = false;
    } catch (error) {
      if (!failing) log.error('what operators have changed could not be taken up', error);
      failing = true;
      // Whatever was missed meanwhile: what is remembered is forgotten with the next look.
      stale = true;
    }
  }

  function lookSoon(isAnew: boolean): void {
    if (isAnew) stale = true;
    if (isLookWaiting) return;
    isLookWaiting = true;
    void guarded(async () => {
      isLookWaiting = false;
      await look();
    });
  }

  if (await shared?.join()) {
    await reload('the other nodes sell by it');
    await operator.refresh();
  }

  return {
    current: operator.current,
    warnings() {
      const { refused } = live.status();
      return [
        ...(refused === undefined
          ? []
          : ['the last catalog was refused; the one before is in force']),
        ...(strandedPlans.length === 0
          ? []
          : ['accounts are on plans that the catalog does not have']),
      ];
    },
    reloadCatalog: () =>
      guarded(async () => {
        shared?.insist();
        await readFile('the console asked for it');
        await look();
      }),
    look: () => guarded(look),
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
  { models, upstreams, plans }: OperatorState['catalog'],
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
      refused === undefined ? null : { at: isoTime(refused.at), problems: told(refused.problems) },
  };
}

function told(problems: readonly string[]): string[] {
  const more = problems.length - TOLD_PROBLEMS_MAX;
  if (more <= 0) return [...problems];
  return [
    ...problems.slice(0, TOLD_PROBLEMS_MAX),
    `and ${more} more; tollgate catalog check has all`,
  ];
}
