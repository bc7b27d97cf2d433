// The parameters of the chosen format with their limits. What is not valid is shown at its field.

import type { CustomerModelRecord } from '../../../records/model.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField, type SelectOption, TextArea, TextField } from '../../ui/field.tsx';
import type { DraftField } from './draft.ts';
import { numbersOf, rangeOf, STOP_MAX, USER_MAX } from './parameters.ts';
import { MESSAGES_MAX_TOKENS } from './request.ts';
import { changeDraft, draft } from './state.ts';
import { EXAMPLE_TOOLS, readTools } from './tools.ts';

type Props = {
  readonly model: CustomerModelRecord;
  readonly problems: Partial<Readonly<Record<DraftField, string>>>;
};

const EFFORTS: readonly SelectOption[] = [
  { value: '', label: t('Model default') },
  { value: 'none', label: t('None') },
  { value: 'minimal', label: t('Minimal (same as low)') },
  { value: 'low', label: t('Low') },
  { value: 'medium', label: t('Medium (same as high)') },
  { value: 'high', label: t('High') },
  { value: 'xhigh', label: t('Extra high (same as high)') },
  { value: 'max', label: t('Max') },
];

const THINKING: readonly SelectOption[] = [
  { value: '', label: t('Model default') },
  { value: 'enabled', label: t('On') },
  { value: 'disabled', label: t('Off') },
];

const ANSWER_FORMATS: readonly SelectOption[] = [
  { value: '', label: t('Default') },
  { value: 'text', label: t('Text') },
  { value: 'json_object', label: t('JSON object') },
  { value: 'json_schema', label: t('JSON schema (as JSON object)') },
];

export function Parameters({ model, problems }: Props) {
  const { format, reasoning, thinking, answerFormat, stop, user } = draft.value;
  const isChat = format === 'chat';
  const { features } = model;
  const noReasoning = features.reasoning ? undefined : t('This model has no reasoning.');
  return (
    <>
      <div class="pair">
        {numbersOf(format, model.max_output_tokens).map((limits) => (
          <TextField
            key={limits.name}
            label={limits.label}
            type="number"
            inputMode={limits.step === 1 ? 'numeric' : 'decimal'}
            step="any"
            placeholder={
              !isChat && limits.name === 'maxTokens' ? String(MESSAGES_MAX_TOKENS) : t('Default')
            }
            hint={rangeOf(limits)}
            error={problems[limits.name]}
            value={draft.value[limits.name]}
            onInput={(text) => changeDraft({ [limits.name]: text })}
          />
        ))}
      </div>
      {isChat && (
        <SelectField
          label={t('Reasoning effort')}
          value={features.reasoning ? reasoning : ''}
          options={EFFORTS}
          onChange={(chosen) => changeDraft({ reasoning: chosen })}
          disabled={!features.reasoning}
          hint={noReasoning}
        />
      )}
      <SelectField
        label={t('Thinking')}
        value={features.reasoning ? thinking : ''}
        options={THINKING}
        onChange={(chosen) => changeDraft({ thinking: chosen })}
        disabled={!features.reasoning}
        hint={isChat ? undefined : noReasoning}
      />
      {isChat && (
        <SelectField
          label={t('Answer format')}
          value={features.json_mode ? answerFormat : ''}
          options={ANSWER_FORMATS}
          onChange={(chosen) => changeDraft({ answerFormat: chosen })}
          disabled={!features.json_mode}
          hint={
            features.json_mode
              ? t('For JSON, describe the fields in the prompt.')
              : t('This model has no JSON mode.')
          }
        />
      )}
      <TextArea
        label={t('Stop sequences')}
        rows={2}
        spellcheck={false}
        value={stop}
        error={problems.stop}
        hint={t('One per line, at most {max}', { max: String(STOP_MAX) })}
        onInput={(text) => changeDraft({ stop: text })}
      />
      <TextField
        label={t('End user')}
        value={user}
        error={problems.user}
        hint={t('For your usage records, at most {max} characters', { max: String(USER_MAX) })}
        onInput={(text) => changeDraft({ user: text })}
      />
    </>
  );
}

export function Tools({ model, problems }: Props) {
  const { tools, toolChoice } = draft.value;
  if (!model.features.tools) {
    return <p class="hint soft small">{t('This model does not support tools.')}</p>;
  }
  const read = readTools(tools);
  const defined = 'tools' in read ? read.tools : [];
  return (
    <details open={tools !== ''}>
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
          error={problems.tools}
          hint={t("You enter the results of the model's tool calls.")}
          onInput={(text) => changeDraft({ tools: text })}
        />
        {tools === '' && (
          <Button size="small" onClick={() => changeDraft({ tools: EXAMPLE_TOOLS })}>
            {t('Insert example')}
          </Button>
        )}
        <SelectField
          label={t('Tool choice')}
          value={toolChoice}
          error={problems.toolChoice}
          options={[
            { value: '', label: t('Default') },
            { value: 'auto', label: t('Model decides') },
            { value: 'none', label: t('No tool') },
            { value: 'required', label: t('At least one tool') },
            ...defined.map(({ name }) => ({ value: `tool:${name}`, label: name })),
          ]}
          onChange={(chosen) => changeDraft({ toolChoice: chosen })}
        />
      </div>
    </details>
  );
}
