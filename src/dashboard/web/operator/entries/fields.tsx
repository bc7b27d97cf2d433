// One field of an entry, drawn by the type that the schema gives it.

import { t } from '../../text/t.ts';
import { ChosenNames } from '../../ui/chosen-names.tsx';
import { CheckField, Field, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import type { FieldProps } from './field-props.ts';
import { KeysField } from './keys.tsx';
import { choiceText, fieldText } from './labels.ts';
import { RatesField } from './rates.tsx';
import { ServedByField } from './served-by.tsx';
import { listOf, tableOf, textOf, withMember } from './values.ts';

export function EntryFieldInput(props: FieldProps) {
  const { field, value, onValue, readOnly, record, within = '' } = props;
  const { name } = field;
  const set = (member: unknown) => onValue(withMember(value, name, member));
  const path = `${within}${name}`;
  const common = {
    label: fieldText(name).label,
    hint: fieldText(name).hint,
    error: props.problemAt(path),
  };
  if (name === 'api_keys') return <KeysField {...props} />;
  if (name === 'served_by') {
    return (
      <ServedByField
        {...props}
        draw={(each) => <EntryFieldInput key={each.field.name} {...each} />}
      />
    );
  }
  if (name === 'price' || name === 'cost') return <RatesField {...props} />;
  if (name === 'fallbacks' || name === 'models') return <NamesField {...props} />;
  if (name === 'upstream' || name === 'profile') {
    return (
      <SelectField
        {...common}
        value={textOf(value[name])}
        options={namesFor(props)}
        disabled={readOnly}
        onChange={set}
      />
    );
  }
  switch (field.type) {
    case 'flag':
      return (
        <SelectField
          {...common}
          value={value[name] === undefined ? '' : String(value[name])}
          options={[
            { value: '', label: defaultText(props.fallback === true ? t('Yes') : t('No')) },
            { value: 'true', label: t('Yes') },
            { value: 'false', label: t('No') },
          ]}
          disabled={readOnly}
          onChange={(text) => set(text === '' ? undefined : text === 'true')}
        />
      );
    case 'choice':
      return (
        <SelectField
          {...common}
          value={textOf(value[name])}
          options={choicesOf(props)}
          disabled={readOnly}
          onChange={set}
        />
      );
    case 'choices':
      return <Choices {...props} />;
    case 'table':
      return <SubTable {...props} />;
    case 'texts':
      return (
        <TextField
          {...common}
          value={listOf(value[name]).join(', ')}
          readOnly={readOnly}
          onInput={(text) => set(text === '' ? undefined : splitNames(text))}
        />
      );
    default:
      break;
  }
  if (name === 'description') {
    return (
      <TextArea
        {...common}
        rows={3}
        value={textOf(value[name])}
        readOnly={readOnly}
        onInput={set}
      />
    );
  }
  const isNumber = field.type === 'integer' || field.type === 'number';
  const isNamed = record.id !== null && within === '' && (name === 'slug' || name === 'id');
  return (
    <TextField
      {...common}
      hint={isNamed ? t('To rename it, duplicate it and remove this one.') : common.hint}
      value={textOf(value[name])}
      placeholder={textOf(props.fallback)}
      inputMode={isNumber ? 'decimal' : 'text'}
      readOnly={readOnly || isNamed}
      spellcheck={false}
      onInput={set}
    />
  );
}

/** While typing, the text after the last comma may still be empty. */
function splitNames(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

const defaultText = (value: string): string => t('Default ({value})', { value });

function choicesOf({ field, fallback }: FieldProps) {
  const known = (field.choices ?? []).map((value) => ({ value, label: choiceText(value) }));
  const none = field.required
    ? { value: '', label: t('Choose') }
    : { value: '', label: defaultText(textOf(fallback)) };
  return [none, ...known];
}

/** A name that the file does not have is still shown. */
function namesFor({ field, value, record }: FieldProps) {
  const { dialect } = value;
  const known =
    field.name === 'profile'
      ? record.names.profiles.filter((each) => each.dialect === dialect).map(({ name }) => name)
      : record.names.upstreams;
  const current = textOf(value[field.name]);
  const all = current === '' || known.includes(current) ? known : [...known, current];
  const none = field.required ? t('Choose') : defaultText(textOf(dialect));
  return [{ value: '', label: none }, ...all.map((name) => ({ value: name, label: name }))];
}

function Choices({ field, value, onValue, problemAt, fallback, readOnly }: FieldProps) {
  const isSet = value[field.name] !== undefined;
  const chosen = listOf(isSet ? value[field.name] : fallback);
  const all = field.choices ?? [];
  return (
    <Field label={fieldText(field.name).label} error={problemAt(field.name)} wide>
      {({ 'aria-describedby': described }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a visible legend.
        <div
          class="row entry-choices"
          role="group"
          aria-label={fieldText(field.name).label}
          aria-describedby={described}
        >
          {all.map((choice) => (
            <CheckField
              key={choice}
              label={choiceText(choice)}
              checked={chosen.includes(choice)}
              disabled={readOnly}
              onChange={(isOn) =>
                onValue({
                  ...value,
                  [field.name]: all.filter((each) =>
                    each === choice ? isOn : chosen.includes(each),
                  ),
                })
              }
            />
          ))}
        </div>
      )}
    </Field>
  );
}

function SubTable(props: FieldProps) {
  const { field, value, onValue, within = '' } = props;
  const table = tableOf(value[field.name]);
  return (
    <div class="fields wide">
      {(field.fields ?? []).map((each) => (
        <EntryFieldInput
          key={each.name}
          {...props}
          field={each}
          fallback={undefined}
          value={table}
          within={`${within}${field.name}.`}
          onValue={(next) => onValue(withMember(value, field.name, next))}
        />
      ))}
    </div>
  );
}

function NamesField({ field, record, value, onValue, problemAt, fallback, readOnly }: FieldProps) {
  const { name } = field;
  const isSet = value[name] !== undefined;
  const chosen = listOf(isSet ? value[name] : fallback).map(String);
  const all = name === 'models' ? ['*', ...record.names.models] : record.names.models;
  const open = all.filter((each) => !chosen.includes(each) && each !== record.id);
  const set = (next: readonly string[]) => onValue(withMember(value, name, next));
  const problem = chosen.map((_, at) => problemAt(`${name}[${at}]`)).find((each) => each);
  return (
    <div class="stack">
      <ChosenNames
        names={chosen}
        textOf={modelText}
        onRemove={!readOnly && isSet ? (at) => set(chosen.toSpliced(at, 1)) : undefined}
      />
      <SelectField
        label={fieldText(name).label}
        hint={fieldText(name).hint}
        error={problem ?? problemAt(name)}
        value=""
        disabled={readOnly}
        options={[
          { value: '', label: t('Add a model') },
          ...open.map((each) => ({ value: each, label: modelText(each) })),
        ]}
        onChange={(each) => {
          if (each !== '')
            set(each === '*' ? ['*'] : [...chosen.filter((one) => one !== '*'), each]);
        }}
      />
    </div>
  );
}

const modelText = (name: string): string =>
  name === '*' ? t('All models') : choiceText(textOf(name));
