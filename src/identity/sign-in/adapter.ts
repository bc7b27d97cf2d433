// How the library reaches our tables. Everything that it asks is asked within one realm, so that an
// operator's password never opens a customer's account. It knows sessions by the secret in the
// cookie; what is stored and looked up is the secret's digest.

import { type CleanedWhere, createAdapterFactory } from 'better-auth/adapters';
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  lt,
  lte,
  ne,
  type SQL,
} from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Database } from '../../store/contract.ts';
import {
  challenges,
  credentials,
  secondFactors,
  sessions,
  users,
} from '../../store/sign-in-tables.ts';
import type { Realm } from '../signed-in.ts';
import { digestOf } from './digest.ts';

type Row = Record<string, unknown>;

/** By the names that `library.ts` gives the library's models. */
const TABLES: Readonly<Record<string, SQLiteTable>> = {
  users,
  credentials,
  sessions,
  challenges,
  secondFactors,
};

const INSTANTS: readonly string[] = ['createdAt', 'updatedAt', 'expiresAt', 'lockedUntil'];

export function createSignInAdapter(dependencies: {
  readonly database: Database;
  readonly realm: Realm;
}) {
  const { realm, database } = dependencies;
  const { db } = database;

  function tableOf(model: string): SQLiteTable {
    const table = TABLES[model];
    if (table === undefined) throw new Error(`sign-in: the library asked for ${model}`);
    return table;
  }

  function columnOf(model: string, field: string): SQLiteColumn {
    const column = getTableColumns(tableOf(model))[field];
    if (column === undefined) throw new Error(`sign-in: the library asked for ${model}.${field}`);
    return column;
  }

  function filter(model: string, where: readonly CleanedWhere[] = []): SQL | undefined {
    const ours = eq(columnOf(model, 'realm'), realm);
    return and(ours, ...where.map((clause) => condition(model, clause)));
  }

  function condition(model: string, { field, value, operator, connector }: CleanedWhere): SQL {
    const column = columnOf(model, field);
    const stored = toStored(field, value);
    if (connector === 'OR') throw new Error('sign-in: the library asked with OR');
    switch (operator) {
      case 'eq':
        return eq(column, stored);
      case 'ne':
        return ne(column, stored);
      case 'lt':
        return lt(column, stored);
      case 'lte':
        return lte(column, stored);
      case 'gt':
        return gt(column, stored);
      case 'gte':
        return gte(column, stored);
      case 'in':
        return inArray(column, Array.isArray(stored) ? stored : [stored]);
      default:
        throw new Error(`sign-in: the library asked with ${operator}`);
    }
  }

  async function find(model: string, where?: readonly CleanedWhere[]): Promise<Row[]> {
    const rows: Row[] = await db.select().from(tableOf(model)).where(filter(model, where)).all();
    return rows.map((row) => toLibrary(row, where));
  }

  async function change(
    model: string,
    where: readonly CleanedWhere[],
    update: Row,
  ): Promise<Row[]> {
    const rows: Row[] = await db
      .update(tableOf(model))
      .set(stored(update))
      .where(filter(model, where))
      .returning()
      .all();
    return rows.map((row) => toLibrary(row, where));
  }

  async function remove(model: string, where: readonly CleanedWhere[]): Promise<Row[]> {
    const rows: Row[] = await db
      .delete(tableOf(model))
      .where(filter(model, where))
      .returning()
      .all();
    return rows.map((row) => toLibrary(row, where));
  }

  return createAdapterFactory({
    config: { adapterId: 'tollgate', supportsNumericIds: false },
    adapter: () => ({
      async create({ model, data }) {
        await db
          .insert(tableOf(model))
          .values({ ...stored(data), realm })
          .run();
        return data;
      },
      // The library's own types are generic over rows that it checks by itself.
      findOne: async <T>({ model, where }: { model: string; where: CleanedWhere[] }) =>
        ((await find(model, where))[0] ?? null) as T | null,
      async findMany<T>(asked: {
        model: string;
        where?: CleanedWhere[] | undefined;
        limit: number;
        sortBy?: { field: string; direction: 'asc' | 'desc' } | undefined;
      }) {
        const { model, where, limit, sortBy } = asked;
        const order = sortBy?.direction === 'desc' ? desc : asc;
        const rows: Row[] = await db
          .select()
          .from(tableOf(model))
          .where(filter(model, where))
          .orderBy(order(columnOf(model, sortBy?.field ?? 'id')))
          .limit(limit)
          .all();
        return rows.map((row) => toLibrary(row, where)) as T[];
      },
      update: async <T>(asked: { model: string; where: CleanedWhere[]; update: T }) =>
        ((await change(asked.model, asked.where, asked.update as Row))[0] ?? null) as T | null,
      updateMany: async ({ model, where, update }) => (await change(model, where, update)).length,
      async delete({ model, where }) {
        await remove(model, where);
      },
      deleteMany: async ({ model, where }) => (await remove(model, where)).length,
      count: async ({ model, where }) => (await find(model, where)).length,
    }),
  });
}

function stored(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => [field, toStored(field, value)]),
  );
}

function toStored(field: string, value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (field !== 'digest') return value;
  return Array.isArray(value)
    ? value.map((each) => digestOf(String(each)))
    : digestOf(String(value));
}

/** The secret is known only where the library has just asked by it. */
function toLibrary(row: Row, where: readonly CleanedWhere[] = []): Row {
  const asked = where.find(({ field, operator }) => field === 'digest' && operator === 'eq');
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => {
      if (field === 'digest') return [field, asked?.value ?? ''];
      const isInstant = INSTANTS.includes(field) && typeof value === 'number';
      return [field, isInstant ? new Date(value) : value];
    }),
  );
}
