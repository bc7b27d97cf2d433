// A list of models in the order in which they are written.

import { t } from '../../text/t.ts';
import { ChosenNames } from '../../ui/chosen-names.tsx';
import { SelectField } from '../../ui/field.tsx';
import type { FieldProps } from './field-props.ts';
import { choiceText, fieldText } from './labels.ts';
import { listOf, textOf, withMember } from './values.ts';

export function NamesField({
  field,
  record,
  value,
  onValue,
  problemAt,
  fallback,
  readOnly,
}: FieldProps) {
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
