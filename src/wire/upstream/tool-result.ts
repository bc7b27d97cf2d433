// The text of a tool result in formats without a flag for a failed tool.

import type { ToolTurn } from '../../core/generation.ts';
import type { UpstreamProfile } from '../../core/profile.ts';

/** The model must not mistake a failure for a success. */
const ERROR_MARK = 'The tool reported an error:\n';

export function resultText(turn: ToolTurn, profile: UpstreamProfile): string {
  const text = turn.text === '' ? profile.emptyToolResult : turn.text;
  return turn.isError ? ERROR_MARK + text : text;
}
