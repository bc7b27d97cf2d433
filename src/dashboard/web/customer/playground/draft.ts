// The settings of the playground as typed, and the request settings that they mean.

import { t } from '../../text/t.ts';
import {
  numberProblem,
  numbersOf,
  readNumber,
  readStop,
  STOP_MAX,
  USER_MAX,
} from './parameters.ts';
import type { Format, NumberName, Settings } from './request.ts';
import { readTools } from './tools.ts';

export type Draft = Readonly<Record<NumberName, string>> & {
  readonly format: Format;
  readonly model: string;
  /** The second model of a comparison; empty: none. */
  readonly other: string;
  readonly system: string;
  /** The message that is being written. */
  readonly text: string;
  readonly stop: string;
  readonly reasoning: string;
  readonly thinking: string;
  readonly answerFormat: string;
  readonly tools: string;
  readonly toolChoice: string;
  readonly user: string;
  readonly stream: boolean;
};

export const EMPTY_DRAFT: Draft = {
  format: 'chat',
  ...{ model: '', other: '', system: '', text: '', stop: '' },
  ...{ temperature: '', topP: '', maxTokens: '', thinkingBudget: '' },
  ...{ frequencyPenalty: '', presencePenalty: '' },
  ...{ reasoning: '', thinking: '', answerFormat: '', tools: '', toolChoice: '', user: '' },
  stream: true,
};

export type DraftField = NumberName | 'stop' | 'tools' | 'toolChoice' | 'user';

type ModelFacts = {
  readonly id: string;
  readonly max_output_tokens: number;
  readonly features: {
    readonly reasoning: boolean;
    readonly tools: boolean;
    readonly json_mode: boolean;
  };
};

/** The settings to send to a model, or the reason for each field that is not valid. */
export function readDraft(
  draft: Draft,
  { id, features, max_output_tokens: maxOutput }: ModelFacts,
):
  | { readonly settings: Settings }
  | { readonly problems: Partial<Readonly<Record<DraftField, string>>> } {
  const isChat = draft.format === 'chat';
  const limits = numbersOf(draft.format, maxOutput);
  const read = readTools(features.tools ? draft.tools : '');
  const stop = readStop(draft.stop);
  const tools = 'tools' in read ? read.tools : [];
  const choice = draft.toolChoice.replace(/^tool:/, '');
  const isKnown =
    !draft.toolChoice.startsWith('tool:') || tools.some(({ name }) => name === choice);
  const problems = {
    ...Object.fromEntries(
      limits.flatMap((each) => {
        const problem = numberProblem(draft[each.name], each);
        return problem === undefined ? [] : [[each.name, problem]];
      }),
    ),
    ...('problem' in read ? { tools: read.problem } : {}),
    ...(isKnown || 'problem' in read ? {} : { toolChoice: t('This tool is not defined.') }),
    ...(stop.length > STOP_MAX
      ? { stop: t('At most {max} sequences, one per line', { max: String(STOP_MAX) }) }
      : {}),
    ...(draft.user.length > USER_MAX
      ? { user: t('At most {max} characters', { max: String(USER_MAX) }) }
      : {}),
  };
  if (Object.keys(problems).length > 0) return { problems };
  const numbers = Object.fromEntries(limits.map(({ name }) => [name, readNumber(draft[name])]));
  return {
    settings: {
      ...numbers,
      format: draft.format,
      model: id,
      system: draft.system,
      stop,
      reasoning: isChat && features.reasoning ? draft.reasoning : '',
      thinking: features.reasoning ? draft.thinking : '',
      answerFormat: isChat && features.json_mode ? draft.answerFormat : '',
      tools,
      toolChoice: draft.toolChoice,
      user: draft.user.trim(),
      stream: draft.stream,
    },
  };
}
