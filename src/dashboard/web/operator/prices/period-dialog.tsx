// A new price of a model: start time, rates, and hourly windows. Added to the draft; has no effect
// until published.

import { useState } from 'preact/hooks';
import type {
  DraftPeriod,
  PriceBookRecord,
  PricePeriodRecord,
} from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { type EntryUnit, preferredUnit, UnitSelect, written } from '../../ui/amount-field.tsx';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { multiply } from '../../ui/money.ts';
import { useAction } from '../../ui/resource.ts';
import { addPeriod } from './draft.ts';
import { eachRate, RateFields, type RatesInput, ratesIn, toRates } from './rates.tsx';
import { TermLines } from './terms.tsx';

export function PeriodDialog({
  book,
  model: first,
  onClose,
}: {
  readonly book: PriceBookRecord;
  readonly model: string;
  readonly onClose: () => void;
}) {
  const [model, setModel] = useState(first);
  const [from, setFrom] = useState(localInput(nextMonth()));
  const [unit, setUnit] = useState(preferredUnit);
  const [rates, setRates] = useState(() => ratesOf(book, first, unit));
  const [hours, setHours] = useState<readonly HoursInput[]>([]);
  const kept = keptTerms(book, model);
  const action = useAction(async () => {
    const period: DraftPeriod = {
      model,
      valid_from: new Date(from).toISOString().replace('.000Z', 'Z'),
      ...toRates(rates, unit),
      ...kept,
      ...(hours.length === 0
        ? {}
        : { windows: hours.map((each) => ({ ...toWindow(each, unit), ...kept })) }),
    };
    addPeriod(period);
    onClose();
  });
  const choose = (name: string) => {
    setModel(name);
    setRates(ratesOf(book, name, unit));
  };
  const chooseUnit = (next: EntryUnit) => {
    setUnit(next);
    setRates(ratesIn(rates, unit, next));
    setHours(hours.map((each) => ({ ...each, rates: ratesIn(each.rates, unit, next) })));
  };
  return (
    <FormDialog
      title={t('New price')}
      wide
      action={action}
      submit={t('Add to draft')}
      onClose={onClose}
    >
      <div class="fields">
        <SelectField
          label={t('Model')}
          options={book.models.map((each) => ({ value: each.model, label: each.model }))}
          value={model}
          onChange={choose}
        />
        <TextField
          label={t('From (your time)')}
          hint={utcHint(from)}
          type="datetime-local"
          required
          min={localInput(new Date())}
          value={from}
          onInput={setFrom}
        />
      </div>
      <div class="row">
        <UnitSelect unit={unit} choose={chooseUnit} />
        <span class="soft small">
          {t('1M service tokens cost {usdPerMillion} USD.', {
            usdPerMillion: book.usd_per_million,
          })}
        </span>
      </div>
      <RateFields rates={rates} unit={unit} onChange={setRates} />
      <TermLines terms={currentOf(book, model)} note={t('Kept from the current price:')} />
      {hours.map((each, index) => (
        <HoursFields
          key={index}
          hours={each}
          unit={unit}
          onChange={(next) => setHours(hours.with(index, next))}
          onRemove={() => setHours(hours.toSpliced(index, 1))}
        />
      ))}
      <div>
        <Button size="small" onClick={() => setHours([...hours, { ...NEW_HOURS, rates }])}>
          {t('Add rates for some hours')}
        </Button>
      </div>
    </FormDialog>
  );
}

function currentOf(book: PriceBookRecord, name: string): PricePeriodRecord | undefined {
  const prices = book.models.find(({ model }) => model === name)?.prices ?? [];
  const isCurrent = ({ in_force, windows }: PricePeriodRecord) =>
    in_force || windows.some((each) => each.in_force);
  return prices.find(isCurrent) ?? prices.at(-1);
}

/** Starts from the current price. */
function ratesOf(book: PriceBookRecord, name: string, unit: EntryUnit): RatesInput {
  const million = currentOf(book, name)?.svc_tokens;
  return eachRate((each) => {
    const rate = million?.[each];
    // Those that equal the input are defaults.
    const isDefault = each !== 'input' && each !== 'output' && rate === million?.input;
    return rate === undefined || isDefault ? '' : written('price', perToken(rate), unit);
  });
}

/** The tiers and service tiers of the current price, which the new one keeps. */
function keptTerms(
  book: PriceBookRecord,
  name: string,
): Pick<DraftPeriod, 'tiers' | 'service_tiers'> {
  const { tiers, service_tiers } = currentOf(book, name) ?? {};
  return {
    ...(tiers && {
      tiers: tiers.map(({ above_tokens, svc_tokens }) => {
        const rates = Object.entries(svc_tokens).map(([each, rate]) => [each, perToken(rate)]);
        return { above_tokens, ...(Object.fromEntries(rates) as typeof svc_tokens) };
      }),
    }),
    ...(service_tiers && { service_tiers }),
  };
}

function perToken(perMillion: string): string {
  return multiply(perMillion, '0.000001') ?? '';
}

function nextMonth(): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}

/** The value of a datetime-local input: the viewer's time without a zone. */
function localInput(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function utcHint(local: string): string {
  const at = new Date(local);
  if (Number.isNaN(at.getTime())) return t('Enter a future time.');
  return t('{at} UTC', { at: at.toISOString().slice(0, 16).replace('T', ' ') });
}

type HoursWindow = NonNullable<DraftPeriod['windows']>[number];
type Days = 'all' | 'week' | 'weekend';

type HoursInput = {
  readonly from: string;
  readonly to: string;
  readonly days: Days;
  readonly rates: RatesInput;
};

const NEW_HOURS = { from: '16:30', to: '00:30', days: 'all' } as const;

const DAYS: Readonly<Record<Days, NonNullable<HoursWindow['days']> | undefined>> = {
  all: undefined,
  week: ['mon', 'tue', 'wed', 'thu', 'fri'],
  weekend: ['sat', 'sun'],
};

function HoursFields({
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

function toWindow({ from, to, days, rates }: HoursInput, unit: EntryUnit): HoursWindow {
  const named = DAYS[days];
  return { from, to, ...(named === undefined ? {} : { days: named }), ...toRates(rates, unit) };
}
