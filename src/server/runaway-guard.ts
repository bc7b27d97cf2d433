// Pauses a key whose spend in ten minutes is far above its habit, and mails its owner: a job of the
// leader, which reads what was booked since its last look. `core/runaway.ts` defines both. A pause
// is decided again in its own transaction, so two leaders pause a key once and mail its owner once.
// A mail that was not sent is owed, also by the next leader.

import { every, type Stop } from '../async/every.ts';
import { createPause } from '../async/yield.ts';
import { formatTokens, type Micro, micro } from '../core/money.ts';
import { allowedSpend, createSpendWindow, habitSpan, type RunawayLimits } from '../core/runaway.ts';
import { IdentityError } from '../identity/error.ts';
import type { Keys } from '../identity/keys.ts';
import type { RunawayPause } from '../identity/pause-mails.ts';
import { type Mail, runawayMail, type WriteMail } from '../identity/sign-in/mails.ts';
import { createRecentSpend } from '../ledger/recent-spend.ts';
import type { Mailer } from '../mail/mail.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/contract.ts';
import type { RaiseAlert } from './observation.ts';

export type RunawayGuardOptions = {
  readonly database: Database;
  readonly keys: Pick<
    Keys,
    'find' | 'isPausable' | 'pauseRunaway' | 'overduePauseMails' | 'markPauseMailed'
  >;
  readonly limits: RunawayLimits;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly mail: Mailer['send'];
  readonly writeMail: WriteMail;
  /** The URL of the customers' pages. */
  readonly pages: () => string;
  readonly alert: RaiseAlert;
  /** A key was paused: what servers cache of it is outdated. */
  readonly onPause: () => void;
  readonly log: Pick<Log, 'error'>;
};

const EVERY_MS = 5_000;
const OVERDUE_EVERY_MS = 30_000;

/** What a key may spend until the next hour, so that most looks read nothing about it. */
type Allowance = Micro | 'any';

type RunawayGuard = {
  /** Compares what was booked since the last look. */
  readonly look: () => Promise<void>;
  /** Sends the mails of earlier pauses that are still owed, one after the other. */
  readonly sendOverdue: () => Promise<void>;
  /** Does both every few seconds. Returns a function that stops it. */
  readonly begin: () => Stop;
};

export function createRunawayGuard(options: RunawayGuardOptions): RunawayGuard {
  const { database, keys, limits, clock, monotonic, log } = options;
  const spend = createRecentSpend(database, monotonic);
  let window = createSpendWindow<number>();
  /** By key; emptied when the hours of the habit change. */
  const allowances = new Map<number, Allowance>();
  let hour = 0;
  /** The last row that is in the window; undefined where all of it has to be read. */
  let read: number | undefined;
  /** The last row at the start: the habit is complete once the usage series includes it. */
  let first: number | undefined;
  /** The pauses whose alerts were raised here, by operation. */
  const alerted = new Set<string>();

  async function look(): Promise<void> {
    const nowMs = clock();
    const last = await readOn(nowMs);
    first ??= last;
    if ((await spend.mark()) < first) return;
    const { untilMs } = habitSpan(nowMs);
    if (untilMs !== hour) allowances.clear();
    hour = untilMs;
    const pause = createPause(monotonic);
    for (const [key, spent] of window.above(limits.floor, nowMs)) {
      const allowance = allowances.get(key);
      const isHabit = allowance === 'any' || (allowance !== undefined && spent <= allowance);
      if (!isHabit) await judge(key, spent, nowMs);
      await pause();
    }
  }

  /** Resolves with the last row of the books. */
  async function readOn(nowMs: number): Promise<number> {
    const after = read;
    // Set again at the end: a part that was read must not count twice.
    read = undefined;
    if (after === undefined) window = createSpendWindow();
    const until = await spend.last();
    await spend.recent({ after: after ?? 0, until }, nowMs, (charge) => window.add(charge, nowMs));
    read = until;
    return until;
  }

  async function judge(key: number, spent: Micro, nowMs: number): Promise<void> {
    const id = await spend.keyId(key);
    const row = await keys.find(id).catch(missing);
    // The playground has no key.
    if (row === undefined || !(await keys.isPausable(row))) return;
    const family = { accountId: row.accountId, family: row.family ?? row.id };
    const factor = BigInt(limits.factor);
    const enough = micro((spent + factor - 1n) / factor);
    const busiestHour = await spend.busiestHour(family, habitSpan(nowMs), enough);
    const allowed = busiestHour === undefined ? 'any' : allowedSpend(limits, busiestHour);
    if (busiestHour !== undefined && allowed !== 'any' && spent > allowed) {
      const pause = await keys.pauseRunaway(id, {
        spent: formatTokens(spent),
        allowed: formatTokens(allowed),
        busiest_hour: formatTokens(busiestHour),
      });
      if (pause === undefined) return;
      options.onPause();
      const mail = await announce(pause);
      // Not awaited: the mail server may take minutes.
      deliver(pause, mail).catch(onMailError);
    } else {
      allowances.set(key, allowed);
    }
  }

  /** Raises the alert of a pause. Resolves with the mail to the owner. */
  function announce({ row, operationId, detail }: RunawayPause): Promise<Mail> {
    const { spent, allowed } = detail;
    if (!alerted.has(operationId)) {
      options.alert({
        kind: 'key_runaway',
        accountId: row.accountId,
        keyId: row.id,
        spent,
        allowed,
      });
    }
    alerted.add(operationId);
    const key = { name: row.name, masked: row.masked, pausedAt: row.pausedAt ?? clock() };
    const cost = { spent, busiestHour: detail.busiest_hour };
    return options.writeMail(runawayMail(options.pages(), key, cost));
  }

  async function deliver(pause: RunawayPause, mail: Mail): Promise<void> {
    const outcome = await options.mail({ ...mail, to: pause.email });
    if (outcome !== 'failed') await keys.markPauseMailed(pause, outcome);
  }

  async function sendOverdue(): Promise<void> {
    for (const pause of await keys.overduePauseMails()) {
      await deliver(pause, await announce(pause));
    }
  }

  const onMailError = (error: unknown): void =>
    log.error('the mail about a paused key could not be sent; retrying', error);

  return {
    look,
    sendOverdue,
    begin() {
      const stopLooking = every(EVERY_MS, look, (error) =>
        log.error('the spend of keys could not be compared with their habit; retrying', error),
      );
      const stopSending = every(OVERDUE_EVERY_MS, sendOverdue, onMailError);
      return () => {
        stopLooking();
        stopSending();
      };
    },
  };
}

function missing(error: unknown): undefined {
  if (error instanceof IdentityError && error.code === 'key_not_found') return undefined;
  throw error;
}
