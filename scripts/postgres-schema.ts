// The tables as PostgreSQL has them, made from the definitions in src/store: for drizzle-kit alone,
// which writes the migrations of drizzle/postgres from what is exported here. Texts are ordered by
// their bytes and integers have 64 bits, as in SQLite; a table whose rows are distinguished by when
// they were added gets the row number that SQLite has of itself. A test finds a table that is
// missing.

import { is, SQL, sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  type AnyPgTable,
  bigint,
  check,
  customType,
  foreignKey,
  type IndexColumn,
  index,
  integer,
  type PgTableExtraConfigValue,
  pgTable,
  primaryKey,
  smallint,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import {
  type AnySQLiteColumn,
  getTableConfig,
  SQLiteColumn,
  type IndexColumn as SQLiteIndexColumn,
  type SQLiteTable,
} from 'drizzle-orm/sqlite-core';
import * as archive from '../src/store/archive-tables.ts';
import * as cluster from '../src/store/cluster-tables.ts';
import * as console from '../src/store/console-tables.ts';
import * as money from '../src/store/money-tables.ts';
import * as refused from '../src/store/refused-tables.ts';
import * as said from '../src/store/said-tables.ts';
import * as series from '../src/store/series-tables.ts';
import * as signIn from '../src/store/sign-in-tables.ts';
import * as tables from '../src/store/tables.ts';

const text = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });
const bytes = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/**
 * Columns of the ledger's rows whose values need fewer bytes: places in short lists, and numbers of
 * rows.
 */
const NARROW: Readonly<Record<string, readonly string[]>> = {
  smallint: ['format', 'stream', 'outcome', 'ending', 'basis', 'doubt', 'kind'],
  integer: [
    'key',
    'model',
    'price',
    'upstream',
    'model_served',
    'price_served',
    'incarnation',
    'family',
  ],
};

const made = new Map<SQLiteTable, AnyPgTable>();

/**
 * The same table; `numbered` gives it a `rowid` that grows with every row, `narrow` short integers.
 */
function toPostgres(
  table: SQLiteTable,
  kind: 'numbered' | 'narrow' | 'plain' = 'plain',
): AnyPgTable {
  const { name, columns, ...rest } = getTableConfig(table);
  const isNarrow = kind === 'narrow';
  const builders = columns.map((column) => [column.name, columnOf(column, isNarrow)] as const);
  if (kind === 'numbered') {
    builders.push([
      'rowid',
      bigint('rowid', { mode: 'bigint' }).notNull().generatedAlwaysAsIdentity().unique(),
    ]);
  }
  const result = pgTable(name, Object.fromEntries(builders), (own) => {
    const mine = (column: AnySQLiteColumn): AnyPgColumn => columnNamed(own, column.name);
    return [
      ...rest.indexes.map(({ config }) => {
        const start = config.unique ? uniqueIndex(config.name) : index(config.name);
        const [first, ...more] = config.columns.map((column) => mine(plainColumn(column)));
        if (first === undefined) throw new TypeError(`${config.name} has no columns.`);
        const built = start.on(first as IndexColumn, ...(more as IndexColumn[]));
        return config.where === undefined ? built : built.where(config.where);
      }),
      ...rest.checks.map((each) => check(each.name, each.value)),
      ...rest.primaryKeys.map((key) => {
        const [first, ...more] = key.columns.map(mine);
        if (first === undefined) throw new TypeError(`A key of ${name} has no columns.`);
        return primaryKey({ columns: [first, ...more] });
      }),
      ...rest.foreignKeys.map((key) => {
        const { columns: from, foreignColumns, foreignTable } = key.reference();
        const target = made.get(foreignTable);
        if (target === undefined) throw new TypeError(`${name} comes before what it refers to.`);
        const there = foreignColumns.map((column) => columnNamed(target, column.name));
        const [mineFirst, ...mineMore] = from.map(mine);
        const [thereFirst, ...thereMore] = there;
        if (mineFirst === undefined || thereFirst === undefined) throw new TypeError(name);
        const built = foreignKey({
          columns: [mineFirst, ...mineMore],
          foreignColumns: [thereFirst, ...thereMore],
        });
        return key.onDelete === undefined ? built : built.onDelete(deletionOf(key.onDelete));
      }),
    ] satisfies PgTableExtraConfigValue[];
  });
  made.set(table, result);
  return result;
}

function columnOf(column: AnySQLiteColumn, isNarrow: boolean) {
  const { name, notNull, primary } = column;
  // A `serial`, of which the database counts the numbers.
  if (column.defaultFn !== undefined) {
    return bigint(name, { mode: 'bigint' }).primaryKey().generatedByDefaultAsIdentity();
  }
  const type = column.getSQLType();
  const plain =
    type === 'integer' ? integerOf(name, isNarrow) : type === 'blob' ? bytes(name) : text(name);
  const required = notNull ? plain.notNull() : plain;
  // What rows of earlier versions have in a column that they lacked.
  if (typeof column.default === 'string') required.default(sql`${sql.raw(`'${column.default}'`)}`);
  else if (is(column.default, SQL)) required.default(column.default);
  else if (column.hasDefault) throw new TypeError(`A default of ${name} has to be written here.`);
  if (column.isUnique) throw new TypeError(`${name} needs an index that has a name.`);
  return primary ? required.primaryKey() : required;
}

function integerOf(name: string, isNarrow: boolean) {
  if (isNarrow && NARROW['smallint']?.includes(name)) return smallint(name);
  if (isNarrow && NARROW['integer']?.includes(name)) return integer(name);
  return bigint(name, { mode: 'bigint' });
}

function columnNamed(table: object, name: string): AnyPgColumn {
  const column = (table as Readonly<Record<string, AnyPgColumn>>)[name];
  if (column === undefined) throw new TypeError(`There is no column ${name}.`);
  return column;
}

function plainColumn(column: SQLiteIndexColumn): SQLiteColumn {
  if (is(column, SQLiteColumn)) return column;
  throw new TypeError('An index over an expression has to be written for both databases.');
}

function deletionOf(action: string) {
  if (action === 'cascade' || action === 'no action') return action;
  throw new TypeError(`What ${action} means to PostgreSQL has to be written here.`);
}

export const accounts = toPostgres(tables.accounts, 'numbered');
export const apiKeys = toPostgres(tables.apiKeys, 'numbered');
export const blocks = toPostgres(tables.blocks, 'numbered');
export const auditEvents = toPostgres(tables.auditEvents);
export const settings = toPostgres(tables.settings);
export const serverNotes = toPostgres(tables.serverNotes);
export const incidentLimits = toPostgres(tables.incidentLimits);
export const reasoning = toPostgres(tables.reasoning);
export const idempotentRequests = toPostgres(tables.idempotentRequests);

export const texts = toPostgres(money.texts);
export const priceVersions = toPostgres(money.priceVersions);
export const balances = toPostgres(money.balances);
export const keyBudgets = toPostgres(money.keyBudgets);
export const openHolds = toPostgres(money.openHolds, 'narrow');
export const requests = toPostgres(money.requests, 'narrow');
export const movements = toPostgres(money.movements, 'narrow');
export const redemptionCodes = toPostgres(money.redemptionCodes, 'numbered');
export const archivedMonths = toPostgres(archive.archivedMonths);

export const usageHours = toPostgres(series.usageHours);
export const usageDays = toPostgres(series.usageDays);
export const usageEndUsers = toPostgres(series.usageEndUsers);
export const usageModels = toPostgres(series.usageModels);
export const usageAccounts = toPostgres(series.usageAccounts);
export const usageSpeeds = toPostgres(series.usageSpeeds);
export const usageMark = toPostgres(series.usageMark);

export const refusedRequests = toPostgres(refused.refusedRequests);
export const upstreamWords = toPostgres(said.upstreamWords);

export const users = toPostgres(signIn.users, 'numbered');
export const sessions = toPostgres(signIn.sessions);
export const challenges = toPostgres(signIn.challenges);
export const secondFactors = toPostgres(signIn.secondFactors);
export const signInTokens = toPostgres(signIn.signInTokens);
export const attempts = toPostgres(signIn.attempts);
export const invites = toPostgres(signIn.invites, 'numbered');
export const accountDeletions = toPostgres(signIn.accountDeletions);

export const nodes = toPostgres(cluster.nodes);
export const leases = toPostgres(cluster.leases);
export const approvals = toPostgres(console.approvals);
export const alerts = toPostgres(console.alerts);
export const operatorTokens = toPostgres(console.operatorTokens);
