// The ledger thread of the lower bound: one compact row a request with a receipt chained by
// SHA-256, one transaction a batch, full sync, and plain numbers as input.

import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

declare const self: Worker;

/** Numbers of one command to the ledger, the same for a hold and a settlement. */
export const COMMAND = {
  ...{ kind: 0, request: 1, account: 2, held: 3, input: 4, output: 5, startedMs: 6, debited: 7 },
  length: 8,
};

export const KIND = { hold: 0, settle: 1 };

const CREDIT = 10 ** 15;
const RECEIPT_BYTES = 200;

const TABLES = `
  CREATE TABLE accounts (
    id INTEGER PRIMARY KEY, posted INTEGER NOT NULL, held INTEGER NOT NULL,
    CHECK (held BETWEEN 0 AND posted)
  ) STRICT;
  CREATE TABLE holds (
    request INTEGER PRIMARY KEY, account INTEGER, key INTEGER, flags INTEGER, model INTEGER,
    price INTEGER, amount INTEGER, prompt INTEGER, bound INTEGER, started INTEGER, upstream INTEGER,
    output INTEGER, boot INTEGER
  ) STRICT;
  CREATE TABLE requests (
    id INTEGER PRIMARY KEY, account INTEGER, key INTEGER, flags INTEGER, model INTEGER,
    served INTEGER, price INTEGER, price_served INTEGER, outcome INTEGER, input INTEGER,
    cached INTEGER, cache_write INTEGER, output INTEGER, reasoning INTEGER, estimated INTEGER,
    held INTEGER, charged INTEGER, debited INTEGER, loss INTEGER, end_user INTEGER,
    started INTEGER, took INTEGER, sequence INTEGER, hash BLOB, attempts BLOB
  ) STRICT;
  CREATE INDEX requests_account ON requests (account, id);
  INSERT INTO accounts VALUES (7, ${CREDIT}, 0);
`;

function openLedger(path: string): (batch: Float64Array) => void {
  const db = new Database(path, { create: true, readwrite: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = FULL');
  db.run('PRAGMA wal_autocheckpoint = 4000');
  db.run(TABLES);
  const reserve = db.prepare(
    'UPDATE accounts SET held = held + ?1 WHERE id = ?2 AND posted - held >= ?1 RETURNING posted - held',
  );
  const open = db.prepare('INSERT INTO holds VALUES (?, ?, 12, 1, 3, 4, ?, ?, ?, ?, 5, 0, 1)');
  const close = db.prepare('DELETE FROM holds WHERE request = ? AND amount = ?');
  const spend = db.prepare(
    'UPDATE accounts SET posted = posted - ?1, held = held - ?2 WHERE id = ?3 RETURNING posted',
  );
  const book = db.prepare(
    `INSERT INTO requests VALUES
     (?, ?, 12, 1, 3, 3, 4, 4, 1, ?, 0, 0, ?, 0, 22, ?, ?, ?, 0, NULL, ?, 3, ?, ?, NULL)`,
  );
  const receipt = Buffer.alloc(RECEIPT_BYTES);
  let sequence = 0;
  return (batch) => {
    db.run('BEGIN IMMEDIATE');
    for (let at = 0; at < batch.length; at += COMMAND.length) {
      const number = (name: keyof typeof COMMAND): number => batch[at + COMMAND[name]] ?? 0;
      const request = number('request');
      const [account, held] = [number('account'), number('held')];
      const [input, output, startedMs] = [number('input'), number('output'), number('startedMs')];
      if (number('kind') === KIND.hold) {
        reserve.get(held, account);
        open.run(request, account, held, input, output, startedMs);
      } else {
        const debited = number('debited');
        close.run(request, held);
        spend.get(debited, held, account);
        receipt.writeDoubleLE(request, 32);
        const hash = new Bun.CryptoHasher('sha256').update(receipt).digest();
        receipt.set(hash);
        sequence += 1;
        const money = [held, debited, debited] as const;
        book.run(request, account, input, output, ...money, startedMs, sequence, hash);
      }
    }
    db.run('COMMIT');
  };
}

if (!Bun.isMainThread) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-floor-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const write = openLedger(join(folder, 'floor.db'));
  self.onmessage = ({ data }: MessageEvent<Float64Array>) => {
    write(data);
    self.postMessage(null);
  };
}
