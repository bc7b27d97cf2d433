// The ledger's thread on a disk that is full while a file beside the database says so: SQLite gets
// no more pages and fails as on a real full disk.

import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';

const PAGES_MAX = 1_000_000;

const run = Database.prototype.run;
Database.prototype.run = function (this: Database, sql: string, ...rest) {
  if (sql.startsWith('BEGIN')) {
    // A database never shrinks below what it has, so 1 means: not one page more.
    const pages = existsSync(`${this.filename}.full`) ? 1 : PAGES_MAX;
    run.call(this, `PRAGMA max_page_count = ${pages}`);
  }
  return run.call(this, sql, ...rest);
};

// At once, for a message that comes before there is a handler is lost.
require('../../src/ledger/thread.ts');
