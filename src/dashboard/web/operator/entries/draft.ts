// The unpublished draft of an entry, kept in this browser. Keys are kept only as names of variables.

import { readStoredJson, store } from '../../ui/stored.ts';
import { type FormValue, listOf, tableOf, withMember } from './values.ts';

export type StoredDraft = {
  /** The entry of the file when the draft was begun, to find changes of the file since. */
  readonly base: FormValue;
  readonly value: FormValue;
};

const PREFIX = 'tollgate-catalog-draft:';
const SHOWABLE = /^(?:\$\{[A-Za-z_]\w*\}|<kept \d+>)$/;

export function readDraft(name: string): StoredDraft | undefined {
  const stored = readStoredJson(`${PREFIX}${name}`);
  if (typeof stored !== 'object' || stored === null) return undefined;
  const { base, value } = stored as Partial<StoredDraft>;
  return typeof base === 'object' && typeof value === 'object' ? { base, value } : undefined;
}

export function writeDraft(name: string, { base, value }: StoredDraft): void {
  store(`${PREFIX}${name}`, JSON.stringify({ base, value: withoutKeys(value) }));
}

export function dropDraft(name: string): void {
  store(`${PREFIX}${name}`, undefined);
}

function withoutKeys(value: FormValue): FormValue {
  const { api_key: key, api_keys: keys, proxy, aws } = value;
  const hasPassword = String(proxy ?? '').includes('@') && !SHOWABLE.test(String(proxy));
  const shown = (each: unknown) => SHOWABLE.test(String(each));
  return [
    ['api_key', key === undefined || shown(key) ? key : ''] as const,
    ['api_keys', keys === undefined ? undefined : listOf(keys).filter(shown)] as const,
    ['proxy', hasPassword ? '' : proxy] as const,
    [
      'aws',
      Object.fromEntries(
        Object.entries(tableOf(aws)).filter(([name, each]) => name === 'region' || shown(each)),
      ),
    ] as const,
  ].reduce<FormValue>((draft, [name, member]) => withMember(draft, name, member), value);
}
