// A new price of a model, from the one that applies now. Added to the draft of the catalog's text; has
// no effect until published.

import { useEffect, useState } from 'preact/hooks';
import type {
  CatalogTextRecord,
  DraftPeriod,
  EntryRecord,
} from '../../../dashboard/records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { preferredUnit, UnitField } from '../../ui/amount-field.tsx';
import { post } from '../../ui/api.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { ErrorAlert } from '../../ui/parts.tsx';
import { useAction } from '../../ui/resource.ts';
import { changePrices, textOfDraft } from '../catalog/draft.ts';
import { TableFields } from '../catalog/fields.tsx';
import { type FormValue, listOf, tableOf, toEntry } from '../catalog/values.ts';

export function PriceDialog({
  record,
  models,
  model: first,
  onClose,
}: {
  readonly record: CatalogTextRecord;
  readonly models: readonly string[];
  readonly model: string;
  readonly onClose: () => void;
}) {
  const [model, setModel] = useState(first);
  const [unit, setUnit] = useState(preferredUnit);
  const [entry, setEntry] = useState<EntryRecord | undefined>(undefined);
  const [value, setValue] = useState<FormValue>({});
  const fields = entry?.fields.find(({ name }) => name === 'prices')?.fields ?? [];
  const loading = useAction(async () => {
    const body = { text: textOfDraft(record), kind: 'model', id: model };
    const answer = await post<EntryRecord>('/catalog/entry', body);
    setValue({ ...currentPrice(answer), valid_from: nextMonth() });
    setEntry(answer);
  });
  useEffect(() => void loading.run(), [model]);
  const action = useAction(async () => {
    const period = { model, ...toEntry(value, fields) } as DraftPeriod;
    await changePrices(record, { add: [period] });
    onClose();
  });
  return (
    <FormDialog
      title={t('New price')}
      wide
      action={action}
      submit={t('Add to draft')}
      onClose={onClose}
    >
      <ErrorAlert error={loading.error.value} />
      <div class="fields">
        <SelectField
          label={t('Model')}
          options={models.map((each) => ({ value: each, label: each }))}
          value={model}
          onChange={setModel}
        />
        <UnitField unit={unit} choose={setUnit} />
      </div>
      {entry && (
        <TableFields
          key={model}
          {...{ fields, names: entry.names, value, unit }}
          defaults={{}}
          within=""
          problemAt={() => undefined}
          readOnly={false}
          onValue={setValue}
        />
      )}
    </FormDialog>
  );
}

/** The price that applies now, with its windows and terms. */
function currentPrice({ entry }: EntryRecord): FormValue {
  const begun = listOf(entry?.['prices'])
    .map(tableOf)
    .filter(({ valid_from: from }) => Date.parse(String(from)) <= Date.now());
  return begun.at(-1) ?? tableOf(entry?.['price']);
}

function nextMonth(): string {
  const now = new Date();
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  return new Date(first).toISOString().replace('.000Z', 'Z');
}
