// The labels of audit events.

import type { AuditEventRecord } from '../../../records/operator-lists.ts';
import { formatInstant, formatTokens, humanize } from '../../ui/format.ts';

/** `api_key.revoked` is `API key revoked`. */
export function actionWords(action: string): string {
  return humanize(action.replaceAll('.', ' ')).replace(/^Api key/, 'API key');
}

/** The details of an event: the change first, then other members by name. */
export function detailWords(detail: AuditEventRecord['detail']): string {
  const { from, to, ...rest } = detail;
  const change = to === undefined ? [] : [`${valueWords(from)} → ${valueWords(to)}`];
  const others = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${nameWords(name)}: ${memberWords(name, value)}`);
  return [...change, ...others].join('; ');
}

/** Event members use snake case or camel case. */
function nameWords(name: string): string {
  return humanize(name.replace(/[A-Z]/g, (letter) => `_${letter}`)).toLowerCase();
}

type Value = AuditEventRecord['detail'][string] | undefined;

function memberWords(name: string, value: Value): string {
  const isInstant = name.endsWith('_at') && typeof value === 'number';
  if (isInstant) return formatInstant(new Date(value).toISOString());
  return name === 'amount' ? formatTokens(String(value)) : valueWords(value);
}

function valueWords(value: Value): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}

/** The display name of the actor. */
export function actorWords(actor: string): string {
  if (actor.startsWith('operator:')) return actor.slice('operator:'.length);
  if (actor.startsWith('acct_')) return 'Owner';
  return ACTORS[actor] ?? actor;
}

const ACTORS: Readonly<Record<string, string>> = {
  operator: 'Command line',
  system: 'System',
  visitor: 'Visitor',
};
