// What operators change while a server runs, and how it gets there: the command line through the
// audit trail, the catalog and its secrets through their files, all of it through SIGHUP. Made by
// serve. Whatever fails here is logged and tried again; nothing of it ends the server.

import type { CatalogStatus, LiveCatalog } from '../catalog/live.ts';
import { type CatalogNote, readReloadRequest, writeCatalogNote } from '../catalog/notes.ts';
import type { Alert } from '../core/alert.ts';
import { isoTime } from '../core/calendar.ts';
import type { OperatorState } from '../core/operator.ts';
import { accountsByPlan } from '../identity/accounts.ts';
import { auditedSubjects, lastAuditEvent } from '../identity/audit.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/database.ts';
import type { CatalogFile } from './catalog-file.ts';
import { createFileWatch } from './file-watch.ts';
import { createOperatorState } from './operator-state.ts';

/** How soon a running server takes up what has changed; a second is promised. */
const LOOK_MS = 250;

/** Problems of a refused catalog that are told one by one. */
const TOLD_PROBLEMS_MAX = 50;

export type Operators = {
  /** What a request that begins now is served by. */
  readonly current: () => OperatorState;
  /** What is wrong with the catalog, in words for everybody; empty when nothing is. */
  readonly warnings: () => readonly string[];
  /** Loads the catalog anew, because an operator asked for it in the console. */
  readonly reloadCatalog: () => void;
  /** Takes up what has changed now, and not with the next look. */
  readonly look: () => void;
  /**
   * Begins to look for changes and to listen to SIGHUP. Returns the function that ends both.
   * `resetUpstream` is told of each upstream that an operator says is mended.
   */
  readonly watch: (resetUpstream?: (upstream: string) => void) => () => void;
};

export type OperatorsOptions = {
  readonly database: Database;
  readonly live: LiveCatalog;
  readonly file: Pick<CatalogFile, 'paths' | 'changedSettings'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly alert: (alert: Alert) => void;
  /** Something in the database has changed: what was remembered of it may be wrong now. */
  readonly onChange: () => void;
};

export function createOperators(options: OperatorsOptions): Operators {
  const { database, live, file, clock, log, alert, onChange } = options;
  const files = createFileWatch(file.paths);
  const operator = createOperatorState({ database, catalog: live.current, clock });
  let commits = database.foreignCommits();
  let change = lastAuditEvent(database);
  let taken = change;
  let reset: (upstream: string) => void = () => undefined;
  let request = readReloadRequest(database);
  let strandedPlans = plansWithout();
  /** What is still to be done where it has failed. */
  let stale = false;
  let untold = true;
  let failing = false;

  function look(): void {
    const commitsNow = database.foreignCommits();
    // The ledger commits all the time; what an operator changes is in the audit trail.
    const changeNow = commitsNow === commits ? change : lastAuditEvent(database);
    if (changeNow !== change) stale = true;
    commits = commitsNow;
    change = changeNow;
    if (files.hasChanged()) reload('a file has changed');
    if (stale || clock() >= operator.changesAt()) takeUp();
    if (untold) tell();
  }

  function takeUp(): void {
    const asked = readReloadRequest(database);
    if (asked !== request) {
      request = asked;
      reload('the command line asked for it');
    }
    operator.refresh();
    onChange();
    for (const upstream of auditedSubjects(database, 'upstream.reset', taken)) reset(upstream);
    taken = change;
    if (strandedPlans.length > 0) {
      strandedPlans = plansWithout();
      untold = true;
    }
    stale = false;
  }

  function reload(cause: string): void {
    files.settle();
    const before = live.status().version;
    const { version, digest, refused } = live.reload();
    stale = true;
    untold = true;
    if (version !== before) {
      strandedPlans = plansWithout();
      log.info(
        `catalog: version ${version} (${digest.slice(0, 12)}) is in force, because ${cause}`,
      );
      for (const warning of sentences()) log.error(`catalog: ${warning}`);
    } else if (refused !== undefined) {
      const { problems } = refused;
      log.error(
        `catalog: refused, version ${version} stays in force: ${told(problems).join('; ')}`,
      );
      alert({ kind: 'catalog_refused', problems: problems.length });
    }
  }

  /** Plans that accounts are on and that the catalog lacks, with how many accounts. */
  function plansWithout(): readonly (readonly [plan: string, accounts: number])[] {
    const { plans } = live.current();
    return accountsByPlan(database).filter(([plan]) => !plans.has(plan));
  }

  function sentences(): string[] {
    const settings = file.changedSettings();
    return [
      ...strandedPlans.map(
        ([plan, count]) =>
          `${count} accounts are on the plan ${plan}, which the catalog does not have; they are refused with 503 until it does, or they are on another plan`,
      ),
      ...(settings.length === 0
        ? []
        : [
            `${settings.join(', ')} changed; settings need a restart, the catalog's secrets do not`,
          ]),
    ];
  }

  function tell(): void {
    const note = noteOf(live.status(), live.current(), sentences(), request);
    writeCatalogNote(database, note, clock());
    untold = false;
  }

  /** A database that cannot be read for a moment is logged once, and looked at again. */
  function guarded(work: () => void): void {
    try {
      work();
      failing = false;
    } catch (error) {
      if (!failing) log.error('what operators have changed could not be taken up', error);
      failing = true;
    }
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
    reloadCatalog() {
      reload('the console asked for it');
      look();
    },
    look: () => guarded(look),
    watch(resetUpstream = () => undefined) {
      reset = resetUpstream;
      const hangUp = (): void =>
        guarded(() => {
          reload('of SIGHUP');
          look();
        });
      guarded(look);
      process.on('SIGHUP', hangUp);
      const timer = setInterval(() => guarded(look), LOOK_MS);
      return () => {
        clearInterval(timer);
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
