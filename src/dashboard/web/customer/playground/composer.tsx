// Edits the next turn: a message, or the results of the tools that the model called.

import { useState } from 'preact/hooks';
import { Button, TextArea } from '../../ui/index.ts';
import type { ToolCall } from './answer.ts';

/** Ctrl+Enter or Command+Enter sends, because Enter inserts a line break. */
function sendsOn(act: () => void) {
  return (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    act();
  };
}

export function Composer({
  text,
  onInput,
  isRunning,
  onSend,
  onStop,
}: {
  readonly text: string;
  readonly onInput: (text: string) => void;
  readonly isRunning: boolean;
  readonly onSend: () => void;
  readonly onStop: () => void;
}) {
  const send = (): void => {
    if (!isRunning && text.trim() !== '') onSend();
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextArea
        label="Message"
        rows={3}
        required
        value={text}
        onInput={onInput}
        onKeyDown={sendsOn(send)}
        hint="Press Ctrl+Enter to send."
      />
      <div class="actions">
        {isRunning && <Button onClick={onStop}>Stop</Button>}
        <Button type="submit" kind="primary" busy={isRunning}>
          Send
        </Button>
      </div>
    </form>
  );
}

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
          label={
            <>
              Result of <code>{name}</code>
            </>
          }
          rows={3}
          value={results[id] ?? ''}
          onInput={(text) => setResults({ ...results, [id]: text })}
          onKeyDown={sendsOn(send)}
        />
      ))}
      <div class="actions">
        <Button type="submit" kind="primary">
          Send the {calls.length === 1 ? 'result' : 'results'} and continue
        </Button>
      </div>
    </form>
  );
}
