// Chooses the models of a key from those on offer.

import type { KeyModelsRecord } from '../../../dashboard/records/key.ts';
import { t } from '../../text/t.ts';
import { ChosenNames } from '../../ui/chosen-names.tsx';
import { ComboboxField } from '../../ui/combobox.tsx';
import { useResource } from '../../ui/resource.ts';

export function ModelsField({
  models,
  error,
  onChange,
}: {
  /** Slugs; empty: every model of the plan. */
  readonly models: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (models: readonly string[]) => void;
}) {
  const offered = useResource<KeyModelsRecord>('/model-names').data.value?.data ?? [];
  const open = offered.filter(({ slug }) => !models.includes(slug));
  return (
    <div class="stack">
      <ComboboxField
        label={t('Models')}
        hint={
          models.length === 0
            ? t('None chosen: every model of the plan.')
            : t('Requests for other models are rejected.')
        }
        error={error}
        value=""
        options={[
          { value: '', label: t('Add a model') },
          ...open.map(({ slug, name }) => ({
            value: slug,
            label: name === slug ? slug : `${slug} (${name})`,
          })),
        ]}
        onChange={(slug) => slug !== '' && onChange([...models, slug])}
      />
      <ChosenNames names={models} onRemove={(at) => onChange(models.toSpliced(at, 1))} />
    </div>
  );
}
