// The anchor of an archived month: what its files contain and the balances at both ends, as one line
// of JSON with the hash of the account's anchor before it. The database keeps the hash; the audit
// writes the text again. A version of the format never changes.

import { isoTime } from './calendar.ts';
import { formatTokens, type Micro } from './money.ts';

const ANCHOR_VERSION = 1;

/** The `previous` of an account's first anchor. */
const NO_PREVIOUS_ANCHOR = '0'.repeat(64);

export type Anchor = {
  readonly accountId: string;
  readonly month: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly requests: number;
  readonly movements: number;
  readonly opening: Micro;
  readonly credited: Micro;
  readonly debited: Micro;
  readonly loss: Micro;
  readonly closing: Micro;
  readonly head: Uint8Array;
  readonly movementsDigest: Uint8Array;
  readonly receiptsDigest: Uint8Array;
  readonly receiptsBytes: number;
  readonly booksDigest: Uint8Array;
  readonly booksBytes: number;
  readonly lastRow: number;
  readonly archivedAt: number;
  readonly previous: Uint8Array | null;
};

/** The order of the members is fixed, because the hash covers exactly these characters. */
export function anchorBody(anchor: Anchor): string {
  return JSON.stringify({
    anchor: ANCHOR_VERSION,
    account: anchor.accountId,
    month: anchor.month,
    previous: anchor.previous?.toHex() ?? NO_PREVIOUS_ANCHOR,
    first: anchor.firstSequence,
    last: anchor.lastSequence,
    requests: anchor.requests,
    movements: anchor.movements,
    opening: formatTokens(anchor.opening),
    credited: formatTokens(anchor.credited),
    debited: formatTokens(anchor.debited),
    loss: formatTokens(anchor.loss),
    closing: formatTokens(anchor.closing),
    head: anchor.head.toHex(),
    movements_sha256: anchor.movementsDigest.toHex(),
    receipts: { bytes: anchor.receiptsBytes, sha256: anchor.receiptsDigest.toHex() },
    books: { bytes: anchor.booksBytes, sha256: anchor.booksDigest.toHex() },
    last_row: anchor.lastRow,
    archived_at: isoTime(anchor.archivedAt),
  });
}
