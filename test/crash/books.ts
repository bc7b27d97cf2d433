// The records of all parties of one round, as the laws read them.

import { type ClientEntry, readAnswer } from './client.ts';
import type { Credit } from './credits.ts';
import type { Kill } from './killer.ts';
import type { Entry, Hold, LedgerBook, UsageRecord } from './ledger.ts';
import type { AccountName } from './setup.ts';
import type { Served } from './upstream.ts';

export type RoundAccount = {
  readonly name: AccountName;
  readonly id: string;
  readonly key: string;
  readonly concurrency: number;
  /** What it began with, in service tokens. */
  readonly credit: number;
};

/** What `/v1/account` said while the round ran. */
export type Sample = {
  readonly accountId: string;
  readonly atMs: number;
  readonly available: string;
};

/** What came of a burst of as many requests as an account may have, and one more. */
export type Burst = {
  readonly account: AccountName;
  readonly limit: number;
  readonly admitted: number;
  /** Status and code of the one above the limit. */
  readonly refusal: string;
};

/**
 * What kept a cluster from its work for a while, and was no kill. `database`: a node could not reach
 * the books in time. `locks`: it waited for what another node had locked, until PostgreSQL missed
 * that one. `limits`: it did not know what the others had let in. `clients`: it was not to be spoken
 * with.
 */
export type Trouble = {
  readonly name: string;
  readonly keepsFrom: 'database' | 'locks' | 'limits' | 'clients';
  /** The start of the node that was hit; undefined where all were. */
  readonly generation: number | undefined;
  readonly fromMs: number;
  readonly toMs: number;
};

/** A time in which the rig's own timers did not run, and how late they were afterwards. */
export type Lag = { readonly fromMs: number; readonly toMs: number; readonly lateMs: number };

/** A gateway took so long for the smallest of answers. */
export type GatewayLag = Lag & { readonly generation: number };

/** All tries of one `Idempotency-Key`, in order. */
export type KeyedEntry = { readonly mark: string; readonly tries: readonly ClientEntry[] };

/** A command that judges the books by itself. */
export type Verdict = { readonly command: string; readonly ok: boolean; readonly said: string };

export type Books = {
  readonly accounts: readonly RoundAccount[];
  readonly clients: readonly ClientEntry[];
  readonly keyed: readonly KeyedEntry[];
  readonly upstream: readonly Served[];
  readonly kills: readonly Kill[];
  readonly troubles: readonly Trouble[];
  /** What was done to a cluster and had an effect, in order. */
  readonly played: readonly string[];
  /** How much longer every sync of the disk took. */
  readonly syncMs?: number;
  /** How many gateways there were. */
  readonly nodes: number;
  readonly credits: readonly Credit[];
  readonly samples: readonly Sample[];
  readonly bursts: readonly Burst[];
  readonly verdicts: readonly Verdict[];
  /** From the last start until no hold was open; undefined where one stayed open. */
  readonly quiescentAfterMs: number | undefined;
  /** The first of all exit codes that was not 0. */
  readonly exitCode: number;
  /** When the rig itself was late: it cannot tell apart what happened then. */
  readonly lags: readonly Lag[];
  readonly gatewayLags: readonly GatewayLag[];
  readonly ledger: LedgerBook;
};

/** All that is known of one request. */
export type Story = {
  readonly mark: string;
  readonly client: ClientEntry;
  readonly served: readonly Served[];
  readonly hold: Hold | undefined;
  readonly record: UsageRecord | undefined;
  readonly entries: readonly Entry[];
  /** The kill that ended the process that had this request, where one did. */
  readonly kill: Kill | undefined;
  /** Faults that delayed its node while it was in progress. */
  readonly troubles: readonly Trouble[];
};

/** The books joined by mark, in the order in which the clients asked. */
export function joinBooks(books: Books): Story[] {
  const { ledger } = books;
  const served = Map.groupBy(books.upstream, ({ mark }) => mark);
  const holds = new Map(ledger.holds.map((hold) => [hold.mark, hold]));
  const holdsById = new Map(ledger.holds.map((hold) => [hold.requestId, hold]));
  const records = new Map(ledger.records.map((record) => [record.requestId, record]));
  const entries = Map.groupBy(ledger.entries, ({ transferId }) => requestOf(transferId));
  return books.clients.map((client) => {
    const { mark } = client.drawn;
    // A request that cost nothing has no end user in the books, which is the mark.
    const id = readAnswer(client).headers.get('x-request-id') ?? '';
    const hold = holds.get(mark) ?? holdsById.get(id);
    const own = served.get(mark) ?? [];
    return {
      mark,
      client,
      served: own,
      hold,
      record: hold && records.get(hold.requestId),
      entries: (hold && entries.get(hold.requestId)) ?? [],
      kill: books.kills.find((kill) => endedBy(kill, client, hold)),
      troubles: books.troubles.filter((trouble) => hits(trouble, client, own)),
    };
  });
}

/** What was acknowledged or booked shortly before a kill may be known a little later than it was. */
const KILL_SEAM_MS = 100;

/** Its client waited for an answer then, or its hold was open. */
function endedBy({ generation, atMs }: Kill, client: ClientEntry, hold: Hold | undefined): boolean {
  if (generation !== client.generation || atMs < client.sentAtMs) return false;
  const holdEndedAtMs = hold === undefined ? 0 : (hold.endedAtMs ?? Number.POSITIVE_INFINITY);
  return Math.max(client.endedAtMs, holdEndedAtMs) >= atMs - KILL_SEAM_MS;
}

/** What an upstream has ended, or a client has left, is booked this soon unless something prevents it. */
const BOOKED_MS = 1_000;

/**
 * Whether a request was in progress on a node while a fault delayed it. Of the books that
 * is as long as there is something to book: an upstream may go on when its client has left.
 */
function hits(
  { keepsFrom, generation, fromMs, toMs }: Trouble,
  { generation: own, sentAtMs, endedAtMs, left }: ClientEntry,
  served: readonly Served[],
): boolean {
  if (generation !== undefined && generation !== own) return false;
  const lastMs = Math.max(left?.atMs ?? 0, served.at(-1)?.ended?.atMs ?? 0) + BOOKED_MS;
  const untilMs = keepsFrom === 'database' ? Math.max(endedAtMs, lastMs) : endedAtMs;
  return sentAtMs <= toMs && untilMs >= fromMs;
}

export function isKeptFrom({ troubles }: Story, what: Trouble['keepsFrom']): boolean {
  return troubles.some(({ keepsFrom }) => keepsFrom === what);
}

/** A machine that was busy is busy a little before and after, for every process. */
const AROUND_MS = 2_000;

/** How late the rig's own timers were around that time, at most. */
export function lagAround({ lags }: Pick<Books, 'lags'>, atMs: number): number {
  const around = lags.filter(
    ({ fromMs, toMs }) => fromMs <= atMs + AROUND_MS && toMs >= atMs - AROUND_MS,
  );
  return Math.max(0, ...around.map(({ lateMs }) => lateMs));
}

/** `settle:req_…` and `loss:req_…` belong to a request; any other transfer to none. */
function requestOf(transferId: string): string {
  return /^(?:settle|loss):(.+)$/.exec(transferId)?.[1] ?? '';
}
