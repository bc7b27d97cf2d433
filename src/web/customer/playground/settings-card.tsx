// The request settings above the conversation: models and format, and folded the system prompt,
// parameters and tools.

import type { CustomerModelRecord } from '../../../dashboard/records/model.ts';
import { t } from '../../text/t.ts';
import { formatUsd } from '../../ui/amount-text.ts';
import { Button } from '../../ui/button.tsx';
import {
  CheckField,
  SelectField,
  type SelectOption,
  TextArea,
  TextField,
} from '../../ui/field.tsx';
import { formatCount } from '../../ui/format.ts';
import { Segments } from '../../ui/tabs.tsx';
import { type Format, type Parameter, parametersOf } from './settings.ts';
import { changeSettings, conversations, settings } from './state.ts';
import { chosenTool, EXAMPLE_TOOLS, readTools, toolChoices } from './tools.ts';

const FORMATS: readonly { readonly id: Format; readonly label: string }[] = [
  { id: 'chat', label: t('Chat completions') },
  { id: 'messages', label: t('Messages') },
  { id: 'responses', label: t('Responses') },
];

export function SettingsCard({
  models,
  model,
  offersResponses,
}: {
  readonly models: readonly CustomerModelRecord[];
  readonly model: CustomerModelRecord;
  readonly offersResponses: boolean;
}) {
  const { format, system, stream, other } = settings.value;
  const choices = models.map(({ id, display_name: name }) => ({
    value: id,
    label: name === id ? id : `${name} (${id})`,
  }));
  const parameters = parametersOf(format, model);
  return (
    <div class="card">
      <div class="card-body">
        <div class="filters">
          <SelectField
            label={t('Model')}
            value={model.id}
            options={choices}
            onChange={(chosen) => changeSettings({ model: chosen })}
          />
          <SelectField
            label={t('Compare with')}
            value={models.some(({ id }) => id === other) ? other : ''}
            options={[{ value: '', label: t('No second model') }, ...choices]}
            onChange={(chosen) => {
              if (chosen === '') conversations[1]?.load([]);
              changeSettings({ other: chosen });
            }}
          />
          <Segments
            label={t('Format')}
            choices={FORMATS.filter(({ id }) => offersResponses || id !== 'responses')}
            active={format}
            onChange={(chosen) => changeSettings({ format: chosen })}
          />
        </div>
        <p class="soft small">{priceOf(model)}</p>
        <details>
          <summary>{t('Settings')}</summary>
          <div class="stack tools">
            <TextArea
              label={t('System prompt')}
              rows={2}
              value={system}
              onInput={(text) => changeSettings({ system: text })}
            />
            <div class="filters">
              {parameters.map((parameter) => (
                <ParameterField key={parameter.name} parameter={parameter} />
              ))}
            </div>
            {model.features.tools ? (
              <Tools />
            ) : (
              <p class="hint soft small">{t('This model does not support tools.')}</p>
            )}
            <CheckField
              label={t('Stream the answer')}
              checked={stream}
              onChange={(checked) => changeSettings({ stream: checked })}
            />
          </div>
        </details>
      </div>
    </div>
  );
}

function priceOf({ pricing, max_output_tokens: output }: CustomerModelRecord): string {
  return t('{input} input, {output} output per 1M tokens. Max output {max} tokens.', {
    input: formatUsd(pricing.input),
    output: formatUsd(pricing.output),
    max: formatCount(output),
  });
}

function ParameterField({ parameter }: { readonly parameter: Parameter }) {
  const { name, label, input, hint, sentIfEmpty, unsupported } = parameter;
  const { parameters } = settings.value;
  const change = (text: string) => changeSettings({ parameters: { ...parameters, [name]: text } });
  const field = {
    label,
    hint: unsupported ?? hint,
    value: parameters[name] ?? '',
    onInput: change,
  };
  switch (input.kind) {
    case 'number':
      return (
        <TextField
          {...field}
          type="number"
          inputMode={input.step === 1 ? 'numeric' : 'decimal'}
          min={input.min}
          max={input.max}
          step={input.step}
          placeholder={sentIfEmpty === undefined ? t('Default') : String(sentIfEmpty)}
          hint={t('{min} to {max}', { min: String(input.min), max: formatCount(input.max) })}
        />
      );
    case 'choice':
      return (
        <SelectField
          label={label}
          hint={field.hint}
          value={unsupported === undefined ? field.value : ''}
          options={optionsOf(input.options)}
          onChange={change}
          disabled={unsupported !== undefined}
        />
      );
    case 'lines':
      return <TextArea {...field} rows={2} spellcheck={false} />;
    case 'text':
      return <TextField {...field} maxLength={input.maxLength} />;
  }
}

/** The values as they are sent. */
function optionsOf(values: readonly string[]): readonly SelectOption[] {
  return [
    { value: '', label: t('Default') },
    ...values.map((value) => ({ value, label: chosenTool(value) ?? value })),
  ];
}

function Tools() {
  const { tools, toolChoice } = settings.value;
  const read = readTools(tools);
  const [defined, problem] = typeof read === 'string' ? [[], read] : [read, undefined];
  const choices = toolChoices(defined);
  return (
    <details>
      <summary>
        {defined.length === 0
          ? t('Tools')
          : t('Tools ({count})', { count: String(defined.length) })}
      </summary>
      <div class="stack tools code-fields">
        <TextArea
          label={t('Tool definitions (JSON)')}
          rows={9}
          spellcheck={false}
          value={tools}
          error={problem}
          hint={t("You enter the results of the model's tool calls.")}
          onInput={(text) => changeSettings({ tools: text })}
        />
        {tools === '' && (
          <Button size="small" onClick={() => changeSettings({ tools: EXAMPLE_TOOLS })}>
            {t('Insert example')}
          </Button>
        )}
        <SelectField
          label={t('Tool choice')}
          value={choices.includes(toolChoice) ? toolChoice : ''}
          options={optionsOf(choices)}
          onChange={(chosen) => changeSettings({ toolChoice: chosen })}
        />
      </div>
    </details>
  );
}
