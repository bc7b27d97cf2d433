// The request settings beside the conversation: presets, format, models, system prompt, parameters and
// tools.

import { useState } from 'preact/hooks';
import type { CustomerModelRecord } from '../../../records/model.ts';
import { t } from '../../text/t.ts';
import { formatUsd } from '../../ui/amount-text.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, Field, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { formatCount } from '../../ui/format.ts';
import { Card } from '../../ui/parts.tsx';
import { Segments } from '../../ui/tabs.tsx';
import type { DraftField } from './draft.ts';
import { Parameters, Tools } from './parameter-fields.tsx';
import type { Format } from './request.ts';
import { changeDraft, draft, LANES, library, libraryVersion, restore } from './state.ts';

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
      <Presets />
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

/** Settings under a name, without the message. */
function Presets() {
  const [name, setName] = useState<string | undefined>(undefined);
  void libraryVersion.value;
  const presets = library().presets();
  const [chosen, setChosen] = useState('');
  const isKnown = presets.some((preset) => preset.name === chosen);
  const changed = (): void => {
    libraryVersion.value = libraryVersion.peek() + 1;
  };
  if (name !== undefined) {
    return (
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          const { text: _, ...settings } = draft.value;
          library().savePreset({ name: name.trim(), draft: settings });
          setChosen(name.trim());
          setName(undefined);
          changed();
        }}
      >
        <TextField
          label={t('Name of the preset')}
          hint={t('Keeps the system prompt and all settings in this browser.')}
          required
          pattern=".*\S.*"
          maxLength={60}
          value={name}
          onInput={setName}
        />
        <div class="actions">
          <Button size="small" onClick={() => setName(undefined)}>
            {t('Cancel')}
          </Button>
          <Button size="small" type="submit">
            {t('Save preset')}
          </Button>
        </div>
      </form>
    );
  }
  return (
    <div>
      {presets.length > 0 && (
        <SelectField
          label={t('Preset')}
          value={isKnown ? chosen : ''}
          options={[
            { value: '', label: t('None') },
            ...presets.map((preset) => ({ value: preset.name, label: preset.name })),
          ]}
          onChange={(next) => {
            setChosen(next);
            const preset = presets.find((each) => each.name === next);
            if (preset) restore(preset.draft);
          }}
        />
      )}
      <div class="row">
        <Button kind="quiet" size="small" onClick={() => setName(isKnown ? chosen : '')}>
          {t('Save as preset')}
        </Button>
        {isKnown && (
          <Button
            kind="quiet-danger"
            size="small"
            onClick={() => {
              library().removePreset(chosen);
              setChosen('');
              changed();
            }}
          >
            {t('Delete preset')}
          </Button>
        )}
      </div>
    </div>
  );
}
