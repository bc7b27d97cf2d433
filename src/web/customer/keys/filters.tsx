// Search and filter of the keys, kept in the page's address.

import type { ComponentChildren } from 'preact';
import type { KeySummaryRecord } from '../../../dashboard/records/key.ts';
import { t } from '../../text/t.ts';
import { SelectField, type SelectOption } from '../../ui/field.tsx';
import { Chip, FilterBar, SentField } from '../../ui/filter-fields.tsx';
import { formatCount } from '../../ui/format.ts';

export const KEY_STATES: readonly SelectOption[] = [
  { value: 'kept', label: t('Not revoked') },
  { value: 'active', label: t('Active') },
  { value: 'expiring', label: t('Expiring within 7 days') },
  { value: 'expired', label: t('Expired') },
  { value: 'revoked', label: t('Revoked') },
  { value: 'all', label: t('All') },
];

export function KeyFilters({
  text,
  state,
  counts,
  onText,
  onState,
  children,
}: {
  readonly text: string;
  readonly state: string;
  readonly counts: KeySummaryRecord['counts'] | undefined;
  readonly onText: (text: string) => void;
  readonly onState: (state: string) => void;
  /** Actions beside the filters. */
  readonly children?: ComponentChildren;
}) {
  const countOf = (value: string): string => {
    const count = counts?.[value as keyof KeySummaryRecord['counts']];
    return count === undefined ? '' : ` (${formatCount(count)})`;
  };
  return (
    <FilterBar clear={undefined}>
      <SentField label={t('Search')} placeholder={t('Name or key')} value={text} onSend={onText} />
      <Chip label={t('State')} clear={() => onState('all')}>
        <SelectField
          label={t('State')}
          value={state}
          options={KEY_STATES.map(({ value, label }) => ({
            value,
            label: `${label}${countOf(value)}`,
          }))}
          onChange={onState}
        />
      </Chip>
      {children}
    </FilterBar>
  );
}

/** A whole key never goes into an address: its masked form finds it as well. */
export function maskedIn(text: string): string {
  return text.replaceAll(/(sk-[A-Za-z0-9]{4})[A-Za-z0-9]{40}([A-Za-z0-9]{4})/g, '$1…$2');
}
