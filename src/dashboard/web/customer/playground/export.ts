// Exports a conversation as a Markdown file.

import { t } from '../../text/t.ts';
import type { StoredConversation } from './library.ts';
import type { Turn } from './request.ts';

export function markdownOf({ title, lanes }: StoredConversation): string {
  const parts = lanes.flatMap(({ model, turns }) => [
    ...(lanes.length > 1 ? [`## ${model}`] : []),
    ...turns.map((turn) => `### ${nameOf(turn, model)}\n\n${textOf(turn)}`),
  ]);
  return `# ${title || t('Untitled')}\n\n${parts.join('\n\n')}\n`;
}

function nameOf(turn: Turn, model: string): string {
  if (turn.kind === 'user') return t('You');
  return turn.kind === 'tool' ? t('Tool result') : (turn.facts.model ?? model);
}

function textOf(turn: Turn): string {
  if (turn.kind !== 'assistant') return turn.text;
  const calls = turn.answer.calls.map((call) => `\`${call.name}(${call.arguments})\``);
  return [turn.answer.text, ...calls].filter((part) => part !== '').join('\n\n');
}
