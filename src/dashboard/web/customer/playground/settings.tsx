// The request settings beside the conversation: format, model, system prompt, limits, reasoning and
// tools.

import type { CustomerModelRecord } from '../../../records/model.ts';
import {
  Button,
  Card,
  CheckField,
  Field,
  formatCount,
  formatUsd,
  Segments,
  SelectField,
  TextArea,
  TextField,
} from '../../ui/index.ts';
import { changeDraft, draft } from './draft.ts';
import { type Format, MESSAGES_MAX_TOKENS, REASONING } from './request.ts';
import { EXAMPLE_TOOLS, readTools } from './tools.ts';

const FORMATS: readonly { readonly id: Format; readonly label: string }[] = [
  { id: 'chat', label: 'Chat completions' },
  { id: 'messages', label: 'Messages' },
];

type Props = {
  readonly models: readonly CustomerModelRecord[];
  readonly model: CustomerModelRecord;
};

export function SettingsCard({ models, model }: Props) {
  const { format, system, stream } = draft.value;
  return (
    <Card title="Settings">
      <Field label="Format">
        {({ id }) => (
          <div id={id}>
            <Segments
              label="Format"
              choices={FORMATS}
              active={format}
              onChange={(chosen) => changeDraft({ format: chosen })}
            />
          </div>
        )}
      </Field>
      <SelectField
        label="Model"
        value={model.id}
        options={models.map(({ id, display_name: name }) => ({
          value: id,
          label: name === id ? id : `${name} (${id})`,
        }))}
        onChange={(chosen) => changeDraft({ model: chosen })}
        hint={priceOf(model)}
      />
      <TextArea
        label="System prompt"
        rows={3}
        value={system}
        onInput={(text) => changeDraft({ system: text })}
      />
      <Bounds model={model} />
      <Tools model={model} />
      <CheckField
        label="Stream the answer"
        checked={stream}
        onChange={(checked) => changeDraft({ stream: checked })}
      />
    </Card>
  );
}

function priceOf({ pricing, max_output_tokens: output }: CustomerModelRecord): string {
  return `${formatUsd(pricing.input)} input, ${formatUsd(pricing.output)} output per 1M tokens. Max output ${formatCount(output)} tokens.`;
}

function Bounds({ model }: Pick<Props, 'model'>) {
  const { format, temperature, maxTokens, reasoning } = draft.value;
  return (
    <>
      <div class="pair">
        <TextField
          label="Temperature"
          type="number"
          inputMode="decimal"
          min={0}
          max={format === 'chat' ? 2 : 1}
          step={0.1}
          placeholder="Default"
          value={temperature}
          onInput={(text) => changeDraft({ temperature: text })}
        />
        <TextField
          label="Max tokens"
          type="number"
          inputMode="numeric"
          min={1}
          step={1}
          placeholder={format === 'chat' ? 'Maximum' : String(MESSAGES_MAX_TOKENS)}
          value={maxTokens}
          onInput={(text) => changeDraft({ maxTokens: text })}
        />
      </div>
      <SelectField
        label={format === 'chat' ? 'Reasoning effort' : 'Thinking'}
        value={model.features.reasoning ? reasoning : ''}
        options={REASONING[format].map(([value, label]) => ({ value, label }))}
        onChange={(chosen) => changeDraft({ reasoning: chosen })}
        disabled={!model.features.reasoning}
        hint={model.features.reasoning ? undefined : 'This model has no reasoning.'}
      />
    </>
  );
}

function Tools({ model }: Pick<Props, 'model'>) {
  const { tools } = draft.value;
  if (!model.features.tools)
    return <p class="hint soft small">This model does not support tools.</p>;
  const read = readTools(tools);
  const count = 'tools' in read ? read.tools.length : undefined;
  return (
    <details open={tools !== ''}>
      <summary>Tools{count === undefined || count === 0 ? '' : ` (${count})`}</summary>
      <div class="stack tools code-fields">
        <TextArea
          label="Tool definitions (JSON)"
          rows={9}
          spellcheck={false}
          value={tools}
          error={'problem' in read ? read.problem : undefined}
          hint="You enter the results of the model's tool calls."
          onInput={(text) => changeDraft({ tools: text })}
        />
        {tools === '' && (
          <Button size="small" onClick={() => changeDraft({ tools: EXAMPLE_TOOLS })}>
            Insert example
          </Button>
        )}
      </div>
    </details>
  );
}
