// Events of the audit trail in words.

import type { AuditEventRecord } from '../../../records/operator-lists.ts';
import { humanize } from '../../ui/index.ts';

/** `api_key.revoked` is `API key revoked`. */
export function actionWords(action: string): string {
  return humanize(action.replaceAll('.', ' ')).replace(/^Api key/, 'API key');
}

/** What an event says beyond its action: from what to what, and the rest by name. */
export function detailWords(detail: AuditEventRecord['detail']): string {
  const { from, to, ...rest } = detail;
  const change = to === undefined ? [] : [`${valueWords(from)} → ${valueWords(to)}`];
  const others = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${humanize(name).toLowerCase()}: ${memberWords(name, value)}`);
  return [...change, ...others].join('; ');
}

type Value = AuditEventRecord['detail'][string] | undefined;

function memberWords(name: string, value: Value): string {
  const isInstant = name.endsWith('_at') && typeof value === 'number';
  return isInstant ? new Date(value).toISOString() : valueWords(value);
}

function valueWords(value: Value): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}
