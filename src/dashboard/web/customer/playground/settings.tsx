// The request settings beside the conversation: format, models, system prompt, parameters and tools.

import type { CustomerModelRecord } from '../../../records/model.ts';
import { t } from '../../text/t.ts';
import { formatUsd } from '../../ui/amount-text.ts';
import { CheckField, Field, SelectField, TextArea } from '../../ui/field.tsx';
import { formatCount } from '../../ui/format.ts';
import { Card } from '../../ui/parts.tsx';
import { Segments } from '../../ui/tabs.tsx';
import type { DraftField } from './draft.ts';
import { Parameters, Tools } from './parameter-fields.tsx';
import type { Format } from './request.ts';
import { changeDraft, draft, LANES } from './state.ts';

const FORMATS: readonly { readonly id: Format; readonly label: string }[] = [
  { id: 'chat', label: t('Chat completions') },
  { id: 'messages', label: t('Messages') },
];

type Props = {
  readonly models: readonly CustomerModelRecord[];
  readonly model: CustomerModelRecord;
  readonly problems: Partial<Readonly<Record<DraftField, string>>>;
};

export function SettingsCard({ models, model, problems }: Props) {
  const { format, system, stream, other } = draft.value;
  const choices = models.map(({ id, display_name: name }) => ({
    value: id,
    label: name === id ? id : `${name} (${id})`,
  }));
  return (
    <Card title={t('Settings')}>
      <Field label={t('Format')}>
        {({ id }) => (
          <div id={id}>
            <Segments
              label={t('Format')}
              choices={FORMATS}
              active={format}
              onChange={(chosen) => changeDraft({ format: chosen })}
            />
          </div>
        )}
      </Field>
      <SelectField
        label={t('Model')}
        value={model.id}
        options={choices}
        onChange={(chosen) => changeDraft({ model: chosen })}
        hint={priceOf(model)}
      />
      <SelectField
        label={t('Compare with')}
        value={models.some(({ id }) => id === other) ? other : ''}
        options={[{ value: '', label: t('No second model') }, ...choices]}
        onChange={(chosen) => {
          if (chosen === '') LANES[1].load([]);
          changeDraft({ other: chosen });
        }}
      />
      <TextArea
        label={t('System prompt')}
        rows={3}
        value={system}
        onInput={(text) => changeDraft({ system: text })}
      />
      <Parameters model={model} problems={problems} />
      <Tools model={model} problems={problems} />
      <CheckField
        label={t('Stream the answer')}
        checked={stream}
        onChange={(checked) => changeDraft({ stream: checked })}
      />
    </Card>
  );
}

function priceOf({ pricing, max_output_tokens: output }: CustomerModelRecord): string {
  return t('{input} input, {output} output per 1M tokens. Max output {max} tokens.', {
    input: formatUsd(pricing.input),
    output: formatUsd(pricing.output),
    max: formatCount(output),
  });
}
