// A new price of a model: start time, rates, and hourly windows. Added to the draft; has no effect
// until published.

import { useState } from 'preact/hooks';
import type { DraftPeriod, PriceBookRecord } from '../../../records/operator-catalog.ts';
import { Button, Field, FormDialog, SelectField, useAction } from '../../ui/index.ts';
import { addPeriod, perToken } from './draft.ts';
import { HoursFields, type HoursInput, NEW_HOURS, toWindow } from './hours.tsx';
import { RateFields, type RatesInput, toRates } from './rates.tsx';

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
  const [rates, setRates] = useState(() => ratesOf(book, first));
  const [hours, setHours] = useState<readonly HoursInput[]>([]);
  const action = useAction(async () => {
    const period: DraftPeriod = {
      model,
      valid_from: new Date(from).toISOString().replace('.000Z', 'Z'),
      ...toRates(rates),
      ...(hours.length === 0 ? {} : { windows: hours.map(toWindow) }),
    };
    addPeriod(period);
    onClose();
  });
  const choose = (name: string) => {
    setModel(name);
    setRates(ratesOf(book, name));
  };
  return (
    <FormDialog title="New price" wide action={action} submit="Add to draft" onClose={onClose}>
      <div class="fields">
        <SelectField
          label="Model"
          options={book.models.map((each) => ({ value: each.model, label: each.model }))}
          value={model}
          onChange={choose}
        />
        <Field label="From (your time)" hint={utcHint(from)}>
          {(described) => (
            <input
              {...described}
              class="input"
              type="datetime-local"
              required
              min={localInput(new Date())}
              value={from}
              onInput={(event) => setFrom(event.currentTarget.value)}
            />
          )}
        </Field>
      </div>
      <p class="soft small">
        In service tokens per model token. 1M service tokens cost {book.usd_per_million} USD, so
        0.15 means {usdOf('0.15', book.usd_per_million)} USD per 1M tokens.
      </p>
      <RateFields rates={rates} onChange={setRates} />
      {hours.map((each, index) => (
        <HoursFields
          key={index}
          hours={each}
          onChange={(next) => setHours(hours.with(index, next))}
          onRemove={() => setHours(hours.toSpliced(index, 1))}
        />
      ))}
      <div>
        <Button size="small" onClick={() => setHours([...hours, { ...NEW_HOURS, rates }])}>
          Add rates for some hours
        </Button>
      </div>
    </FormDialog>
  );
}

/** Starts from the current price. */
function ratesOf(book: PriceBookRecord, name: string): RatesInput {
  const prices = book.models.find(({ model }) => model === name)?.prices ?? [];
  const period =
    prices.find(({ in_force, windows }) => in_force || windows.some((each) => each.in_force)) ??
    prices.at(-1);
  if (period === undefined) return { input: '', cached_input: '', cache_write: '', output: '' };
  const { svc_tokens: million } = period;
  const input = perToken(million.input);
  const orInput = (rate: string) => (perToken(rate) === input ? '' : perToken(rate));
  return {
    input,
    cached_input: orInput(million.cached_input),
    cache_write: orInput(million.cache_write),
    output: perToken(million.output),
  };
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
  if (Number.isNaN(at.getTime())) return 'Enter a future time.';
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function usdOf(rate: string, usdPerMillion: string): string {
  return String(Math.round(Number(rate) * Number(usdPerMillion) * 1e6) / 1e6);
}
