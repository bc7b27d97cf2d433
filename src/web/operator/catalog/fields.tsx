// The fields of a table of the catalog, drawn by the types that its schema gives them.

import { useState } from 'preact/hooks';
import type { EntryField, EntryRecord } from '../../../dashboard/records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import {
  type EntryUnit,
  EntryField as RateEntry,
  readAmount,
  written,
} from '../../ui/amount-field.tsx';
import { Button } from '../../ui/button.tsx';
import { CheckField, Field, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { emptyRate, RATE_NAMES } from '../../ui/rate-names.ts';
import { choiceText, fieldText } from './labels.ts';
import { type FormValue, listOf, tableOf, textOf, withMember } from './values.ts';

type EntryTableProps = {
  readonly fields: readonly EntryField[];
  readonly names: EntryRecord['names'];
  /** What the server uses where a member is missing. */
  readonly defaults: FormValue;
  readonly value: FormValue;
  readonly onValue: (value: FormValue) => void;
  /** The problem at a path within the entry. */
  readonly problemAt: (path: string) => string | undefined;
  /** The path of the table, such as `served_by[0].`; empty for the entry itself. */
  readonly within: string;
  readonly unit: EntryUnit;
  readonly readOnly: boolean;
  /** The member that names the entry, which does not change. */
  readonly fixed?: string | undefined;
};

/** Rare members of a table within an entry are folded. */
export function TableFields(props: EntryTableProps) {
  const { fields, value, within } = props;
  const isShown = ({ name, type, required }: EntryField) =>
    within === '' || required || type === 'decimal' || value[name] !== undefined;
  const [first] = useState(() => fields.filter(isShown));
  const rest = fields.filter((field) => !first.includes(field));
  const draw = (field: EntryField) => <Member key={field.name} {...props} field={field} />;
  return (
    <>
      <div class="fields entry-fields">{first.map(draw)}</div>
      {rest.length > 0 && (
        <details>
          <summary>{t('More settings')}</summary>
          <div class="fields entry-fields">{rest.map(draw)}</div>
        </details>
      )}
    </>
  );
}

type MemberProps = EntryTableProps & { readonly field: EntryField };

function Member(props: MemberProps) {
  const { field, names, defaults, value, onValue, within, readOnly } = props;
  const { name, type, required } = field;
  const own = value[name];
  const path = `${within}${name}`;
  const set = (member: unknown) => onValue(withMember(value, name, member));
  const texts = { ...fieldText(name), error: props.problemAt(path) };
  const standard = textOf(defaults[name]);
  const none = required
    ? t('Choose')
    : standard === ''
      ? t('Default')
      : t('Default ({value})', { value: standard });
  const select = (known: readonly string[], shown = textOf(own), label = choiceText) => (
    <SelectField
      {...texts}
      value={shown}
      options={[
        { value: '', label: none },
        // A name that the catalog does not have is still shown.
        ...[...new Set([...known, shown])].flatMap((each) =>
          each === '' ? [] : [{ value: each, label: label(each) }],
        ),
      ]}
      disabled={readOnly}
      onChange={(text) => set(type === 'flag' && text !== '' ? text === 'true' : text)}
    />
  );
  if (type === 'other' || (type === 'text' && typeof own === 'object')) {
    return own === undefined ? null : (
      <p class="soft small wide">
        {t('{label}: {value}. Edit it in the text.', {
          label: texts.label,
          value: JSON.stringify(own),
        })}
      </p>
    );
  }
  if (type === 'table') {
    return (
      <Part label={texts.label} hint={texts.hint} problem={texts.error}>
        <TableFields
          {...props}
          fields={field.fields ?? []}
          defaults={{}}
          value={tableOf(own)}
          within={`${path}.`}
          onValue={set}
        />
      </Part>
    );
  }
  if (type === 'tables') return <Tables {...props} />;
  if (type === 'flag') {
    const label = (text: string) => (text === 'true' ? t('Yes') : t('No'));
    return select(['true', 'false'], own === undefined ? '' : String(own), label);
  }
  if (type === 'choices') return <Choices {...props} />;
  if (type === 'choice') return select(field.choices ?? []);
  if (name === 'upstream') return select(names.upstreams);
  if (name === 'profile') return select(names.profiles);
  if (type === 'decimal') return <Rate {...props} />;
  if (name === 'description') {
    return <TextArea {...texts} rows={3} value={textOf(own)} readOnly={readOnly} onInput={set} />;
  }
  if (name === 'valid_from' && (own === undefined || utcMinute(own) !== undefined)) {
    return (
      <TextField
        {...texts}
        type="datetime-local"
        value={utcMinute(own) ?? ''}
        required={required}
        readOnly={readOnly}
        onInput={(minute) => set(minute === '' ? '' : `${minute.padEnd(19, ':00')}Z`)}
      />
    );
  }
  const isFixed = name === props.fixed;
  const isList = type === 'texts';
  return (
    <TextField
      {...texts}
      hint={isFixed ? t('To rename it, duplicate it and remove this one.') : texts.hint}
      error={
        texts.error ??
        listOf(own)
          .map((_, at) => props.problemAt(`${path}[${at}]`))
          .find(Boolean)
      }
      value={isList ? listOf(own).join(', ') : textOf(own)}
      placeholder={isList ? listOf(defaults[name]).join(', ') : standard}
      inputMode={type === 'text' || isList ? 'text' : 'decimal'}
      readOnly={readOnly || isFixed}
      spellcheck={false}
      onInput={(text) =>
        set(isList && text !== '' ? text.split(',').map((one) => one.trim()) : text)
      }
    />
  );
}

/** An instant as a `datetime-local` field has it, in UTC, with seconds that are not zero. */
function utcMinute(instant: unknown): string | undefined {
  const at = new Date(textOf(instant));
  if (Number.isNaN(at.getTime())) return undefined;
  return at.toISOString().replace(/(:00)?\.\d+Z$/, '');
}

function Part({
  label,
  hint,
  problem,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  readonly children: preact.ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a visible legend.
    <div class="entry-part wide" role="group" aria-label={label}>
      <h3>{label}</h3>
      {hint && <p class="soft small">{hint}</p>}
      {problem && (
        <p class="entry-problem" role="alert">
          {problem}
        </p>
      )}
      {children}
    </div>
  );
}

function Tables(props: MemberProps) {
  const { field, value, onValue, within, problemAt, readOnly } = props;
  const { name } = field;
  const { label, hint } = fieldText(name);
  const tables = listOf(value[name]).map(tableOf);
  const set = (next: readonly unknown[]) => onValue(withMember(value, name, next));
  return (
    <Part label={label} hint={hint} problem={problemAt(`${within}${name}`)}>
      {tables.map((table, at) => (
        <Part
          key={at}
          label={t('{label} {number}', { label, number: at + 1 })}
          problem={problemAt(`${within}${name}[${at}]`)}
        >
          <TableFields
            {...props}
            fields={field.fields ?? []}
            defaults={{}}
            value={table}
            within={`${within}${name}[${at}].`}
            onValue={(next) => set(tables.with(at, next))}
          />
          {!readOnly && (
            <div>
              <Button
                kind="quiet-danger"
                size="small"
                aria-label={t('Remove {label} {number}', { label, number: at + 1 })}
                onClick={() => set(tables.toSpliced(at, 1))}
              >
                {t('Remove')}
              </Button>
            </div>
          )}
        </Part>
      ))}
      {!readOnly && (
        <div>
          <Button
            size="small"
            aria-label={t('Add to {label}', { label })}
            onClick={() => set([...tables, {}])}
          >
            {t('Add')}
          </Button>
        </div>
      )}
    </Part>
  );
}

function Choices({ field, value, onValue, within, problemAt, defaults, readOnly }: MemberProps) {
  const { name, choices = [] } = field;
  const chosen = listOf(value[name] ?? defaults[name]);
  const { label, hint } = fieldText(name);
  return (
    <Field label={label} hint={hint} error={problemAt(`${within}${name}`)} wide>
      {({ 'aria-describedby': described }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a visible legend.
        <div class="row entry-choices" role="group" aria-label={label} aria-describedby={described}>
          {choices.map((choice) => (
            <CheckField
              key={choice}
              label={choiceText(choice)}
              checked={chosen.includes(choice)}
              disabled={readOnly}
              onChange={(isOn) => {
                const next = choices.filter((one) =>
                  one === choice ? isOn : chosen.includes(one),
                );
                onValue({ ...value, [name]: next });
              }}
            />
          ))}
        </div>
      )}
    </Field>
  );
}

/** Typed in either unit; the entry has the catalog's unit. */
function Rate({ field, value, onValue, within, problemAt, unit, readOnly }: MemberProps) {
  const { name, required } = field;
  /** As typed, while it means the value of the entry. */
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const rateOf = (text: string) => readAmount('price', text, unit).tokens ?? text;
  const rate = textOf(value[name]);
  const shown = /^\d+(?:\.\d+)?$/.test(rate) ? written('price', rate, unit) : rate;
  const { label } = fieldText(name);
  if (readOnly) return <TextField label={label} readOnly value={shown} onInput={() => {}} />;
  const known = RATE_NAMES.find((each) => each === name);
  const isEmpty = Object.keys(value).length === 0;
  return (
    <RateEntry
      kind="price"
      unit={unit}
      label={label}
      error={problemAt(`${within}${name}`)}
      placeholder={required || isEmpty || known === undefined ? '' : emptyRate(known)}
      typed={typed !== undefined && rateOf(typed) === rate ? typed : shown}
      onInput={(text) => {
        setTyped(text);
        onValue(withMember(value, name, rateOf(text)));
      }}
    />
  );
}
