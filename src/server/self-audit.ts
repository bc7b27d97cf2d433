// Audits the books every hour and shortly after the start. An account with a difference gets no new
// answers until a later audit finds it clean; other accounts are not affected. Each audit runs in a
// thread, so neither the event loop nor the ledger waits for it. In a cluster the leader audits,
// and the other nodes adopt its findings.

import type { Awaitable } from '../async/awaitable.ts';
import { every } from '../async/every.ts';
import type { Alert } from '../core/alert.ts';
import { messageOf } from '../core/message-of.ts';
import { type Sentence, say } from '../core/sentence.ts';
import type { AuditState, Difference, LiveRequests } from '../ledger/audit.ts';
import type { Log } from '../observe/log.ts';
import type { AuditReport, AuditRequest } from './self-audit-thread.ts';
import { type AskedThread, askThread } from './thread.ts';

export type SelfAuditOptions = {
  /** The database URL. */
  readonly url: string;
  readonly everyMs: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Called right before each audit. */
  readonly live: () => Awaitable<LiveRequests>;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly alert: (alert: Alert) => void;
  /** Called with the findings, for the other nodes, and the time at which the audit began. */
  readonly onFound?: (found: SharedAudit, lookedAt: number) => void;
};

/** The findings that nodes exchange, as plain data. */
export type SharedAudit = {
  readonly failure: string | undefined;
  readonly last: AuditState['last'];
  readonly differences: readonly Difference[];
};

export type SelfAudit = {
  /** Starts the schedule. Returns a function that stops it. */
  readonly begin: () => () => void;
  /** Adopts the findings of another node. */
  readonly adopt: (found: SharedAudit) => void;
  /** Whether the books of this account differ, so that its new requests are rejected. */
  readonly isStopped: (accountId: string) => boolean;
  /** Warnings without details about accounts; empty where there are none. */
  readonly warnings: () => readonly Sentence[];
  /** The number of known differences. */
  readonly differences: () => number;
  /** For the console. */
  readonly state: () => AuditState;
  /** Audits all books now; `false` where an audit is already running. */
  readonly run: () => boolean;
  readonly close: () => void;
};

/** The first audit waits for the start to end; stopped and suspected accounts are audited again. */
const FIRST_MS = 5_000;
const RECHECK_MS = 60_000;

export function createSelfAudit(options: SelfAuditOptions): SelfAudit {
  const { url, everyMs, clock, live, log, alert, onFound = () => undefined } = options;
  /** By account; null for differences that belong to no account. */
  let found = new Map<string | null, readonly Difference[]>();
  /** Seen in one audit only, with its account. */
  const suspected = new Map<string, string>();
  let failure: string | undefined;
  let thread: AskedThread<AuditReport> | undefined;
  /** The last audit of all books. */
  let last: AuditState['last'];

  /** `false` where an audit is running. */
  function start(accountIds?: readonly string[]): boolean {
    if (thread !== undefined) return false;
    const startedAt = clock();
    const conclude = (report: AuditReport): void => {
      thread = undefined;
      if (accountIds === undefined) {
        const outcome = report.ok ? { ok: true, count: report.count } : { ok: false, count: 0 };
        last = { ...outcome, startedAt, endedAt: clock() };
      }
      judge(report, accountIds);
      onFound({ failure, last, differences: [...found.values()].flat() }, startedAt);
    };
    thread = askThread<AuditRequest, AuditReport>('./self-audit-thread.ts', async () => ({
      url,
      live: await live(),
      nowMs: startedAt,
      ...(accountIds === undefined ? {} : { accountIds }),
    }));
    thread.answer
      .catch((error: unknown): AuditReport => ({ ok: false, cause: messageOf(error) }))
      .then(conclude);
    return true;
  }

  function judge(report: AuditReport, accountIds: readonly string[] | undefined): void {
    if (!report.ok) {
      failure = report.cause;
      log.error(`audit: the books could not be read: ${report.cause}`);
      alert({ kind: 'audit_failed' });
      return;
    }
    const believed = report.differences.filter(isBelieved);
    suspect(report.differences, accountIds);
    const now = Map.groupBy(believed, ({ accountId }) => accountId);
    const looked = accountIds ?? [...found.keys()];
    for (const accountId of looked) {
      if (accountId === null || now.has(accountId) || !found.has(accountId)) continue;
      log.info(`audit: ${accountId} is clean again and served`);
    }
    if (accountIds === undefined) {
      failure = undefined;
      found = now;
      const doubted = report.differences.length - believed.length;
      logFindings(believed, report.count - doubted);
      return;
    }
    logFindings(believed.filter(({ accountId }) => !found.has(accountId)));
    for (const accountId of accountIds) {
      const differences = now.get(accountId);
      if (differences === undefined) found.delete(accountId);
      else found.set(accountId, differences);
    }
  }

  /**
   * Requests begin, end and are written during the audit, and the wall clock may jump. So a
   * difference to a running request counts only if the next audit, a minute later, finds it again.
   */
  function isBelieved(difference: Difference): boolean {
    return !FLEETING.has(difference.kind) || suspected.has(nameOf(difference));
  }

  function suspect(
    differences: readonly Difference[],
    accountIds: readonly string[] | undefined,
  ): void {
    for (const [name, accountId] of [...suspected]) {
      if (accountIds?.includes(accountId) ?? true) suspected.delete(name);
    }
    for (const difference of differences) {
      const { kind, accountId } = difference;
      if (FLEETING.has(kind) && accountId !== null) suspected.set(nameOf(difference), accountId);
    }
  }

  function logFindings(differences: readonly Difference[], count = differences.length): void {
    for (const { kind, accountId, subject, detail } of differences) {
      const stopped = accountId === null ? '' : `; account ${accountId} gets no new answers`;
      log.error(`audit: ${kind} of ${subject}: ${detail}${stopped}`);
    }
    if (count > 0) alert({ kind: 'audit_difference', count });
    if (count > differences.length) {
      log.error(
        `audit: ${count - differences.length} more differences; tollgate doctor names them`,
      );
    }
  }

  function recheck(): void {
    const stopped = [...found.keys()].flatMap((accountId) => accountId ?? []);
    const accountIds = new Set([...stopped, ...suspected.values()]);
    if (accountIds.size > 0) start([...accountIds]);
  }

  function begin(): () => void {
    const first = setTimeout(() => start(), Math.min(FIRST_MS, everyMs));
    first.unref();
    const stopAudits = every(everyMs, () => start());
    const stopRechecks = every(Math.min(RECHECK_MS, everyMs), recheck);
    return () => {
      clearTimeout(first);
      stopAudits();
      stopRechecks();
    };
  }

  return {
    begin,
    adopt(shared) {
      failure = shared.failure;
      last = shared.last;
      found = Map.groupBy(shared.differences, ({ accountId }) => accountId);
    },
    isStopped: (accountId) => found.has(accountId),
    differences: () => [...found.values()].reduce((sum, { length }) => sum + length, 0),
    state: () => ({
      running: thread !== undefined,
      everyMs,
      last,
      differences: [...found.values()].flat(),
      stopped: [...found.keys()].flatMap((accountId) => accountId ?? []),
    }),
    run: () => start(),
    warnings: () => (failure === undefined ? warningsOf(found) : [FAILED, ...warningsOf(found)]),
    close() {
      thread?.stop();
      thread = undefined;
    },
  };
}

/** Kinds that concern running requests, which change between the two reads of an audit. */
const FLEETING: ReadonlySet<Difference['kind']> = new Set(['orphan', 'unheld']);

function nameOf({ kind, subject }: Difference): string {
  return `${kind} ${subject}`;
}

const PAGE = 'self-audit';

const FAILED = say('the audit could not look at the books', {}, PAGE);

function warningsOf(found: ReadonlyMap<string | null, readonly Difference[]>): Sentence[] {
  const counts = new Map<Difference['kind'], number>();
  for (const { kind } of [...found.values()].flat()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) =>
    say('the audit found {count} × {kind}', { count: String(count), kind }, PAGE),
  );
}
