// The names of accounts and keys for lists that have only their ids.

import { inArray } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { accounts, apiKeys } from '../store/tables.ts';

type NamedKey = { readonly name: string | null; readonly masked: string };

export type NamesOfIds = {
  /** By id: the e-mail address; undefined where it has none. */
  readonly email: (accountId: string | null) => string | null;
  readonly key: (keyId: string | null) => NamedKey | undefined;
};

export async function readNames(
  { db }: Pick<Database, 'db'>,
  rows: readonly { readonly accountId: string | null; readonly keyId: string | null }[],
): Promise<NamesOfIds> {
  const accountIds = [...new Set(rows.flatMap(({ accountId }) => accountId ?? []))];
  const keyIds = [...new Set(rows.flatMap(({ keyId }) => keyId ?? []))];
  const [emails, keys] = await Promise.all([
    db
      .select({ id: accounts.id, email: accounts.email })
      .from(accounts)
      .where(inArray(accounts.id, accountIds))
      .all(),
    db
      .select({ id: apiKeys.id, name: apiKeys.name, masked: apiKeys.masked })
      .from(apiKeys)
      .where(inArray(apiKeys.id, keyIds))
      .all(),
  ]);
  const emailOf = new Map(emails.map(({ id, email }) => [id, email]));
  const keyOf = new Map(keys.map(({ id, ...key }) => [id, key]));
  return {
    email: (accountId) => (accountId === null ? null : (emailOf.get(accountId) ?? null)),
    key: (keyId) => (keyId === null ? undefined : keyOf.get(keyId)),
  };
}
