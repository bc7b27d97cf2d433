// Hours of the day (UTC) with other rates.

import type { DraftPeriod } from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import type { EntryUnit } from '../../ui/amount-field.tsx';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { RateFields, type RatesInput, toRates } from './rates.tsx';

type HoursWindow = NonNullable<DraftPeriod['windows']>[number];
type Days = 'all' | 'week' | 'weekend';

export type HoursInput = {
  readonly from: string;
  readonly to: string;
  readonly days: Days;
  readonly rates: RatesInput;
};

export const NEW_HOURS = { from: '16:30', to: '00:30', days: 'all' } as const;

const DAYS: Readonly<Record<Days, NonNullable<HoursWindow['days']> | undefined>> = {
  all: undefined,
  week: ['mon', 'tue', 'wed', 'thu', 'fri'],
  weekend: ['sat', 'sun'],
};

export function HoursFields({
  hours,
  unit,
  onChange,
  onRemove,
}: {
  readonly hours: HoursInput;
  readonly unit: EntryUnit;
  readonly onChange: (hours: HoursInput) => void;
  readonly onRemove: () => void;
}) {
  const time = (label: string, name: 'from' | 'to') => (
    <TextField
      label={label}
      type="time"
      required
      value={hours[name]}
      onInput={(next) => onChange({ ...hours, [name]: next })}
    />
  );
  return (
    <fieldset class="stack">
      <legend class="legend">{t('Rates for these hours')}</legend>
      <div class="fields">
        {time(t('From (UTC)'), 'from')}
        {time(t('To (UTC)'), 'to')}
        <SelectField
          label={t('Days')}
          options={[
            { value: 'all', label: t('Every day') },
            { value: 'week', label: t('Monday to Friday') },
            { value: 'weekend', label: t('Saturday and Sunday') },
          ]}
          value={hours.days}
          onChange={(days) => onChange({ ...hours, days: days as Days })}
        />
      </div>
      <RateFields
        rates={hours.rates}
        unit={unit}
        onChange={(rates) => onChange({ ...hours, rates })}
      />
      <div>
        <Button size="small" kind="quiet-danger" onClick={onRemove}>
          {t('Remove hours')}
        </Button>
      </div>
    </fieldset>
  );
}

export function toWindow({ from, to, days, rates }: HoursInput, unit: EntryUnit): HoursWindow {
  const named = DAYS[days];
  return { from, to, ...(named === undefined ? {} : { days: named }), ...toRates(rates, unit) };
}
