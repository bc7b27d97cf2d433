// The settings of the playground as typed, and the parameters of all formats with their limits. Pure.

import type { CustomerModelRecord } from '../../../dashboard/records/model.ts';
import { t } from '../../text/t.ts';

export type Format = 'chat' | 'messages' | 'responses';

export type Model = Pick<CustomerModelRecord, 'id' | 'max_output_tokens'> & {
  readonly features: Pick<CustomerModelRecord['features'], 'reasoning' | 'tools' | 'json_mode'>;
};

/** As in chat completions; `budget_tokens` is of Messages alone. */
export type ParameterName =
  | ('temperature' | 'top_p' | 'max_tokens' | 'frequency_penalty' | 'presence_penalty')
  | ('budget_tokens' | 'reasoning_effort' | 'thinking' | 'response_format' | 'stop' | 'user');

export type Settings = {
  readonly format: Format;
  readonly model: string;
  /** The second model of a comparison; empty: none. */
  readonly other: string;
  readonly system: string;
  /** A missing or empty one leaves the choice to the model. */
  readonly parameters: Readonly<Partial<Record<ParameterName, string>>>;
  readonly tools: string;
  /** `auto`, `none`, `required`, or `tool:` and its name. */
  readonly toolChoice: string;
  readonly stream: boolean;
};

export const NO_SETTINGS: Settings = {
  format: 'chat',
  model: '',
  other: '',
  system: '',
  parameters: {},
  tools: '',
  toolChoice: '',
  stream: true,
};

export type Parameter = {
  readonly name: ParameterName;
  readonly label: string;
  readonly input:
    | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly step: Step }
    | { readonly kind: 'choice'; readonly options: readonly string[] }
    | { readonly kind: 'lines' }
    | { readonly kind: 'text'; readonly maxLength: number };
  readonly hint?: string;
  /** What is sent if the field is empty, if anything is. */
  readonly sentIfEmpty?: number | undefined;
  /** Why the model does not take the parameter. */
  readonly unsupported?: string | undefined;
};

type Step = 1 | 'any';

/** The Messages format requires `max_tokens` in every request. */
const MESSAGES_MAX_TOKENS = 4_096;

const STOP_MAX = 16;
const USER_MAX = 256;

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The parameters of a format, in the order of the form. */
export function parametersOf(format: Format, model: Model): readonly Parameter[] {
  const isMessages = format === 'messages';
  const share = (min: number, max: number) => ({ kind: 'number', min, max, step: 'any' }) as const;
  const tokens = { kind: 'number', min: 1, max: model.max_output_tokens, step: 1 } as const;
  const { reasoning, json_mode: jsonMode } = model.features;
  const noReasoning = reasoning ? undefined : t('This model has no reasoning.');
  const penalties: readonly Parameter[] = [
    { name: 'frequency_penalty', label: t('Frequency penalty'), input: share(-2, 2) },
    { name: 'presence_penalty', label: t('Presence penalty'), input: share(-2, 2) },
  ];
  const openai: readonly Parameter[] = [
    {
      name: 'response_format',
      label: t('Answer format'),
      input: { kind: 'choice', options: ['text', 'json_object', 'json_schema'] },
      hint: t('For JSON, describe the fields in the prompt.'),
      unsupported: jsonMode ? undefined : t('This model has no JSON mode.'),
    },
    {
      name: 'reasoning_effort',
      label: t('Reasoning effort'),
      input: { kind: 'choice', options: EFFORTS },
      unsupported: noReasoning,
    },
  ];
  const messages: readonly Parameter[] = [
    { name: 'budget_tokens', label: t('Thinking budget'), input: tokens },
  ];
  const both: readonly Parameter[] = [
    {
      name: 'thinking',
      label: t('Thinking'),
      input: { kind: 'choice', options: ['enabled', 'disabled'] },
      unsupported: noReasoning,
    },
    {
      name: 'stop',
      label: t('Stop sequences'),
      input: { kind: 'lines' },
      hint: t('One per line, at most {max}', { max: String(STOP_MAX) }),
    },
  ];
  return [
    { name: 'temperature', label: t('Temperature'), input: share(0, isMessages ? 1 : 2) },
    { name: 'top_p', label: t('Top P'), input: share(0.01, 1) },
    {
      name: 'max_tokens',
      label: t('Max tokens'),
      input: tokens,
      sentIfEmpty: isMessages ? MESSAGES_MAX_TOKENS : undefined,
    },
    ...(format === 'chat' ? penalties : []),
    ...(isMessages ? messages : openai),
    ...(format === 'responses' ? [] : both),
    {
      name: 'user',
      label: t('End user'),
      input: { kind: 'text', maxLength: USER_MAX },
      hint: t('For your usage records, at most {max} characters', { max: String(USER_MAX) }),
    },
  ];
}

export type ParameterValues = Readonly<Partial<Record<ParameterName, unknown>>>;

/** The parameters to send to a model: none that it does not take or that is left to it. */
export function parameterValues({ format, parameters }: Settings, model: Model): ParameterValues {
  const values = parametersOf(format, model).map(
    (parameter) => [parameter.name, toSend(parameter, parameters[parameter.name] ?? '')] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function toSend({ input, sentIfEmpty, unsupported }: Parameter, text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '');
  const isEmpty = input.kind === 'lines' ? lines.length === 0 : text.trim() === '';
  if (isEmpty || unsupported !== undefined) return sentIfEmpty;
  if (input.kind === 'number') return Number(text);
  return input.kind === 'lines' ? lines : text.trim();
}
