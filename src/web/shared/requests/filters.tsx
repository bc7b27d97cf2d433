// The filters of lists of requests. Each keeps its value in the page's address by itself.

import { useMemo } from 'preact/hooks';
import { t } from '../../text/t.ts';
import { SelectField, type SelectOption, TextField } from '../../ui/field.tsx';
import { Chip, ComboboxFilter, SelectFilter } from '../../ui/filter-fields.tsx';
import { useClearFilters, useFilter, useFilters } from '../../ui/filters.ts';
import { formatPeriod, lastDays, toLocalMinute } from '../../ui/period.ts';
import type { Audience } from '../audience.ts';
import { ERROR_CODES } from './problems.ts';

const OUTCOME_OPTIONS: readonly SelectOption[] = [
  { value: 'completed', label: t('Completed') },
  { value: 'stopped_balance', label: t('Balance used up') },
  { value: 'client_cancelled', label: t('Cancelled') },
  { value: 'failed', label: t('Failed') },
  { value: 'refused', label: t('Refused') },
];

const STATUS_OPTIONS: readonly SelectOption[] = [
  { value: '2xx', label: t('2xx: answered') },
  { value: '4xx', label: t('4xx: request refused') },
  { value: '5xx', label: t('5xx: server error') },
  ...['400', '401', '402', '403', '404', '413', '429', '500', '503'].map((value) => ({
    value,
    label: value,
  })),
];

const CODE_OPTIONS: readonly SelectOption[] = ERROR_CODES.map((value) => ({
  value,
  label: value,
}));

type Names = readonly string[];

/** `served` and `requested` are set by links from charts: exactly that model. */
const KINDS: Names = ['outcome', 'status', 'code', 'model', 'key', 'served', 'requested'];

const OWN_KINDS: Readonly<Record<Audience, Names>> = {
  account: ['id', 'end_user'],
  all: ['upstream', 'account'],
};

/** `from` and `to` are instants and win over `days`. */
const TIMES: Names = ['days', 'from', 'to'];

/** The filters that the address has set, as the query of the list. */
export function useRequestFilters(audience: Audience) {
  const [search] = useFilters();
  const clear = useClearFilters();
  const names = [...KINDS, ...OWN_KINDS[audience], ...TIMES];
  const set = Object.fromEntries(
    names.map((name) => [name, search.get(name) ?? '']).filter(([, value]) => value !== ''),
  );
  // One query while the filters are the same, also when something else of the address changes.
  const query = useMemo((): Readonly<Record<string, string>> => {
    const { days, from, to, ...kind } = set;
    return { ...kind, ...timeQuery(search) };
  }, [JSON.stringify(set)]);
  const isOfKind = Object.keys(set).some((name) => !TIMES.includes(name));
  return { query, isOfKind, clear: Object.keys(set).length > 0 ? clear : undefined };
}

/** How a request ended: its outcome, the status of its answer, and the code of its error. */
export function OutcomeFilters() {
  return (
    <>
      <SelectFilter name="outcome" label={t('Outcome')} options={OUTCOME_OPTIONS} />
      <SelectFilter name="status" label={t('Status')} options={STATUS_OPTIONS} />
      <ComboboxFilter name="code" label={t('Error code')} options={CODE_OPTIONS} />
    </>
  );
}

/** The models of a link from a chart: exactly the one that served, and the requested one. */
export function LinkedModels() {
  return (
    <>
      <LinkedModel name="served" label={t('Served by')} />
      <LinkedModel name="requested" label={t('Requested model')} />
    </>
  );
}

function LinkedModel(field: { readonly name: string; readonly label: string }) {
  const [value] = useFilter(field.name);
  return value === '' ? null : <SelectFilter {...field} options={[]} />;
}

const DAYS: readonly SelectOption[] = [
  { value: '', label: t('Any time') },
  { value: '1', label: t('Last 24 hours') },
  { value: '7', label: t('Last 7 days (UTC)') },
  { value: '30', label: t('Last 30 days (UTC)') },
  { value: '90', label: t('Last 90 days (UTC)') },
];

function timesOf(search: URLSearchParams) {
  const [days = '', from = '', to = ''] = TIMES.map((name) => search.get(name) ?? '');
  return { days, from, to, hasSpan: from !== '' || to !== '' };
}

/**
 * The time as the server reads it. The last days begin later after midnight, so a list has to keep one
 * result while its filters are the same: another query would read it from the start.
 */
function timeQuery(search: URLSearchParams) {
  const { days, from, to, hasSpan } = timesOf(search);
  const isPreset = DAYS.some(({ value }) => value !== '' && value === days);
  return hasSpan || !isPreset ? { from, to } : { from: lastDays(Number(days)).from };
}

/** The last days, or the instants of a link from a chart. */
export function TimeFilter() {
  const [search, set] = useFilters();
  const { days, from, to } = timesOf(search);
  const span = from === '' ? [] : [{ value: 'own', label: formatPeriod({ from, to }) }];
  const value = from === '' ? days : 'own';
  const choose = (next: string) => next !== 'own' && set({ days: next, from: '', to: '' });
  return (
    <Chip label={t('Time')} clear={value === '' ? undefined : () => choose('')}>
      <SelectField label={t('Time')} value={value} options={[...DAYS, ...span]} onChange={choose} />
    </Chip>
  );
}

/** Where the list begins: the newest request before this instant. */
export function BeforeFilter() {
  const [search, set] = useFilters();
  const { from, to } = timesOf(search);
  const isSet = from === '' && to !== '';
  const choose = (local: string) => {
    // While the year is being typed, the field has the year 2, 20 or 202.
    if (local !== '' && !local.startsWith('20')) return;
    const at = new Date(local);
    set({ days: '', from: '', to: Number.isNaN(at.getTime()) ? '' : at.toISOString() });
  };
  return (
    <Chip label={t('Before')} clear={isSet ? () => choose('') : undefined}>
      <TextField
        label={t('Before (local time)')}
        type="datetime-local"
        value={isSet ? toLocalMinute(to) : ''}
        onInput={choose}
      />
    </Chip>
  );
}
