// Edits the results of the tools that the model called.

import { useState } from 'preact/hooks';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import type { ToolCall } from './answer.ts';
import { sendsOnEnter } from './keys.ts';

type ToolResult = { readonly callId: string; readonly text: string };

export function ToolAnswers({
  calls,
  onAnswer,
}: {
  readonly calls: readonly ToolCall[];
  readonly onAnswer: (results: readonly ToolResult[]) => void;
}) {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  const send = (): void => {
    onAnswer(calls.map(({ id }) => ({ callId: id, text: results[id] ?? '' })));
  };
  return (
    <form
      class="form code-fields"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {calls.map(({ id, name }) => (
        <TextArea
          key={id}
          label={rich('Result of {name}', { name: <code>{name}</code> })}
          rows={3}
          value={results[id] ?? ''}
          onInput={(text) => setResults({ ...results, [id]: text })}
          onKeyDown={sendsOnEnter(send)}
        />
      ))}
      <div class="actions">
        <Button type="submit" kind="primary">
          {t(
            '{count, plural, one {Send the result and continue} other {Send the results and continue}}',
            { count: calls.length },
          )}
        </Button>
      </div>
    </form>
  );
}
