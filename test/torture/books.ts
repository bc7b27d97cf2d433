// The books of one round, side by side, as the laws read them.

import type { ClientEntry } from './client.ts';
import type { Credit } from './credits.ts';
import type { Kill } from './killer.ts';
import type { Entry, Hold, LedgerBook, UsageRecord } from './ledger.ts';
import type { AccountName } from './scene.ts';
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
 * the books in time. `limits`: it did not know what the others had let in. `locks`: it waited for
 * what another node had locked, until PostgreSQL missed that one.
 */
export type Trouble = {
  readonly name: string;
  readonly keepsFrom: 'database' | 'limits' | 'locks';
  /** The start of the node that was hit; undefined where all were. */
  readonly generation: number | undefined;
  readonly fromMs: number;
  readonly toMs: number;
};

/** A command that judges the books by itself. */
export type Verdict = { readonly command: string; readonly ok: boolean; readonly said: string };

export type Books = {
  readonly accounts: readonly RoundAccount[];
  readonly clients: readonly ClientEntry[];
  readonly upstream: readonly Served[];
  readonly kills: readonly Kill[];
  readonly troubles: readonly Trouble[];
  /** What was done to a cluster, in order. */
  readonly played: readonly string[];
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
  /** How late the rig's own timers were at most: what it cannot tell apart. */
  readonly lagMs: number;
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
  /** What kept its node from the books while it was under way. */
  readonly trouble: Trouble | undefined;
};

/** The books joined by mark, in the order in which the clients asked. */
export function joinBooks(books: Books): Story[] {
  const { ledger } = books;
  const served = Map.groupBy(books.upstream, ({ mark }) => mark);
  const holds = new Map(ledger.holds.map((hold) => [hold.mark, hold]));
  const records = new Map(ledger.records.map((record) => [record.requestId, record]));
  const entries = Map.groupBy(ledger.entries, ({ transferId }) => requestOf(transferId));
  return books.clients.map((client) => {
    const { mark } = client.drawn;
    const hold = holds.get(mark);
    return {
      mark,
      client,
      served: served.get(mark) ?? [],
      hold,
      record: hold && records.get(hold.requestId),
      entries: (hold && entries.get(hold.requestId)) ?? [],
      kill: books.kills.find(
        ({ generation, atMs }) => generation === client.generation && atMs >= client.sentAtMs,
      ),
      trouble: books.troubles.find((each) => each.keepsFrom === 'database' && hits(each, client)),
    };
  });
}

/** Whether a request was under way on a node while something kept it from its work. */
export function hits({ generation, fromMs, toMs }: Trouble, client: ClientEntry): boolean {
  const isThere = generation === undefined || generation === client.generation;
  return isThere && client.sentAtMs <= toMs && client.endedAtMs >= fromMs;
}

/** `settle:req_…` and `loss:req_…` belong to a request; any other transfer to none. */
function requestOf(transferId: string): string {
  return /^(?:settle|loss):(.+)$/.exec(transferId)?.[1] ?? '';
}
