// The name of a key, and what it may do and spend: fields, the dialogs that change them, and the
// spend against a budget in lists.

import type { ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import type { BoundKeyRecord } from '../../../dashboard/records/key.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import {
  EntryField,
  type EntryUnit,
  inUnit,
  preferredUnit,
  readAmount,
  UnitSelect,
  written,
} from '../../ui/amount-field.tsx';
import { patch, post } from '../../ui/api.ts';
import type { ChangeDialogProps } from '../../ui/collection.tsx';
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx';
import { CheckField, fieldError, TextField } from '../../ui/field.tsx';
import { type Action, useAction } from '../../ui/resource.ts';
import { Nothing } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';
import { ModelsField } from './models-field.tsx';

const PERIODS = ['total', 'day', 'month'] as const;
type Period = (typeof PERIODS)[number];

const BUDGETS: Readonly<Record<Period, string>> = {
  total: t('Budget in total'),
  day: t('Budget per day'),
  month: t('Budget per month'),
};

type Bounds = Pick<BoundKeyRecord, 'models' | 'networks' | 'budget' | 'runaway_guard'>;

type BoundsState = {
  readonly unit: EntryUnit;
  readonly typed: Readonly<Record<Period, string>>;
  readonly models: readonly string[];
  readonly networks: string;
  readonly isGuarded: boolean;
};

const listed = (text: string): readonly string[] | null => {
  const items = text.split(/[\s,]+/).filter((item) => item !== '');
  return items.length === 0 ? null : items;
};

function budgetOf({ typed, unit }: BoundsState) {
  const amount = (period: Period) => readAmount('amount', typed[period], unit).tokens ?? null;
  return { total: amount('total'), day: amount('day'), month: amount('month') };
}

function boundsOf({ models, networks, isGuarded }: BoundsState) {
  return {
    models: models.length === 0 ? null : models,
    networks: listed(networks),
    runaway_guard: isGuarded,
  };
}

function differing<Body extends object>(from: Body, to: Body): Partial<Body> {
  const entries = Object.entries(to).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(from[name as keyof Body]),
  );
  return Object.fromEntries(entries) as Partial<Body>;
}

/** The body for the server: only what was changed, so that a change of another person stays. */
function changedBounds(from: BoundsState, to: BoundsState) {
  return {
    budget: differing(budgetOf(from), budgetOf(to)),
    ...differing(boundsOf(from), boundsOf(to)),
  };
}

/** The state of `BoundsFields`, and what the server gets of it. */
export function useBounds(record?: Bounds) {
  const [first] = useState((): BoundsState => {
    const unit = preferredUnit();
    const amountOf = (period: Period): string => {
      const limit = record?.budget?.[period]?.limit;
      return limit === undefined ? '' : written('amount', limit, unit);
    };
    return {
      unit,
      typed: { total: amountOf('total'), day: amountOf('day'), month: amountOf('month') },
      models: record?.models ?? [],
      networks: record?.networks?.join(', ') ?? '',
      isGuarded: record?.runaway_guard ?? true,
    };
  });
  const [state, setState] = useState(first);
  /** Keeps the amounts, written in the other unit. */
  const choose = (unit: EntryUnit): void => {
    const inOther = (period: Period) => inUnit('amount', state.typed[period], state.unit, unit);
    const typed = { total: inOther('total'), day: inOther('day'), month: inOther('month') };
    setState({ ...state, unit, typed });
  };
  return { state, setState, choose, body: changedBounds(first, state) };
}

export const BOUNDS_FIELDS = ['models', 'networks', 'budget'] as const;

export function BoundsFields<Args extends readonly unknown[]>({
  bounds: { state, setState, choose },
  action,
}: {
  readonly bounds: ReturnType<typeof useBounds>;
  readonly action: Action<Args>;
}) {
  const { unit, typed } = state;
  return (
    <div class="stack">
      {PERIODS.map((period) => (
        <EntryField
          key={period}
          kind="amount"
          unit={unit}
          typed={typed[period]}
          label={BUDGETS[period]}
          hint={period === 'total' ? t('Empty: no limit') : t('UTC')}
          error={period === 'total' ? fieldError(action, 'budget') : undefined}
          onInput={(text) => setState({ ...state, typed: { ...typed, [period]: text } })}
        >
          {period === 'total' && <UnitSelect unit={unit} choose={choose} />}
        </EntryField>
      ))}
      <ModelsField
        models={state.models}
        error={fieldError(action, 'models')}
        onChange={(models) => setState({ ...state, models })}
      />
      <TextField
        label={t('Networks')}
        hint={t('Addresses or CIDR ranges, such as 192.0.2.0/24. Leave it empty to allow all.')}
        value={state.networks}
        error={fieldError(action, 'networks')}
        onInput={(networks) => setState({ ...state, networks })}
      />
      <CheckField
        label={t('Pause it automatically if its spend is far above its habit')}
        checked={state.isGuarded}
        onChange={(isGuarded) => setState({ ...state, isGuarded })}
      />
    </div>
  );
}

export function KeyNameField<Args extends readonly unknown[]>({
  name,
  action,
  ...field
}: Pick<ComponentProps<typeof TextField>, 'hint' | 'placeholder' | 'onInput'> & {
  readonly name: string;
  readonly action: Action<Args>;
}) {
  const error = fieldError(action, 'name');
  return <TextField {...field} label={t('Name')} maxLength={100} value={name} error={error} />;
}

type Props = ChangeDialogProps & { readonly record: BoundKeyRecord };

export function EditKeyDialog({ record, onDone, onClose }: Props) {
  const before = record.name ?? '';
  const [name, setName] = useState(before);
  const bounds = useBounds(record);
  const action = useAction(async () => {
    const body = { ...(name !== before && { name }), ...bounds.body };
    await patch(`/keys/${record.id}`, body);
    toast(t('Key changed.'));
    await onDone();
    onClose();
  });
  return (
    <FormDialog
      title={t('Edit {name}', { name: record.name ?? record.masked })}
      action={action}
      fields={['name', ...BOUNDS_FIELDS]}
      submit={t('Save')}
      onClose={onClose}
    >
      <KeyNameField name={name} action={action} onInput={setName} />
      <BoundsFields bounds={bounds} action={action} />
    </FormDialog>
  );
}

export function PauseKeyDialog({ record, ...dialog }: Props) {
  return (
    <ConfirmDialog
      title={t('Pause this key?')}
      confirm={t('Pause key')}
      consequences={[
        t('Within 1 second, its requests are rejected with 403 key_paused, until you resume it.'),
        t('Requests in progress finish normally.'),
      ]}
      act={() => post(`/keys/${record.id}/pause`)}
      done={t('Key paused.')}
      {...dialog}
    />
  );
}

export function ResumeKeyDialog({ record, ...dialog }: Props) {
  return (
    <ConfirmDialog
      title={t('Resume this key?')}
      confirm={t('Resume key')}
      consequences={[
        t('Its requests are served again within 1 second.'),
        PAUSED[record.paused_reason ?? 'user'],
        ...(record.paused_reason === 'runaway'
          ? [t('It is not paused automatically again for 48 hours.')]
          : []),
      ]}
      act={() => post(`/keys/${record.id}/resume`)}
      done={t('Key resumed.')}
      {...dialog}
    />
  );
}

const PAUSED: Readonly<Record<NonNullable<BoundKeyRecord['paused_reason']>, string>> = {
  user: t('It was paused by its owner.'),
  operator: t('It was paused by the operator.'),
  runaway: t('It was paused because its spend was far above its habit. Check what uses it first.'),
};

/** What the bounds leave, one line each; nothing for a key without them. */
export function KeyBounds({
  record: { budget, models, networks },
}: {
  readonly record: BoundKeyRecord;
}) {
  if (budget === null && models === null && networks === null) return <Nothing />;
  return (
    <>
      {PERIODS.map((period) => {
        const limit = budget?.[period] ?? null;
        if (limit === null) return null;
        return (
          <div key={period} class="small" title={BUDGETS[period]}>
            <Amount tokens={limit.spent} usd={limit.spent_usd} /> /{' '}
            <Amount tokens={limit.limit} usd={limit.limit_usd} />{' '}
            <span class="soft nowrap">{SHORT[period]}</span>
          </div>
        );
      })}
      {models !== null && (
        <div class="soft small" title={models.join(', ')}>
          {t('{count, plural, one {# model} other {# models}}', { count: models.length })}
        </div>
      )}
      {networks !== null && (
        <div class="soft small" title={networks.join(', ')}>
          {t('{count, plural, one {# network} other {# networks}}', { count: networks.length })}
        </div>
      )}
    </>
  );
}

const SHORT: Readonly<Record<Period, string>> = {
  total: t('in total'),
  day: t('today'),
  month: t('this month'),
};
