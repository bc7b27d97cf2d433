// The conversation with one model: turns, the answer in progress, what went wrong, and tool results.

import { useEffect, useState } from 'preact/hooks';
import type { CustomerModelRecord } from '../../../dashboard/records/model.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Card, Empty } from '../../ui/parts.tsx';
import { AddBalance } from '../add-balance.tsx';
import type { ToolCall } from './answer.ts';
import type { Conversation } from './conversation.ts';
import { sendsOnEnter } from './keys.ts';
import { NO_BALANCE } from './refusal.ts';
import { isSent, openCalls, type Turn } from './request.ts';
import { ProblemAlert, RunningView, TurnView } from './turns.tsx';

export type Lane = {
  readonly conversation: Conversation;
  readonly model: CustomerModelRecord;
};

export function LaneView({
  lane: { conversation, model },
  isCompared,
  onRun,
  onEdit,
}: {
  readonly lane: Lane;
  /** It is one of two and has its own button to stop. */
  readonly isCompared: boolean;
  /** Sends these turns. */
  readonly onRun: (turns: readonly Turn[]) => void;
  /** Moves a message back into the editor. */
  readonly onEdit: (index: number) => void;
}) {
  const turns = conversation.turns.value;
  const running = conversation.running.value;
  const problem = conversation.problem.value;
  const isIdle = running === undefined;
  const calls = isIdle ? openCalls(turns) : [];
  useFollow(conversation);
  return (
    <Card title={isCompared ? model.id : t('Conversation')}>
      {turns.length === 0 && isIdle && (
        <Empty title={t('No messages yet')}>{t('Write a message below.')}</Empty>
      )}
      {turns.map((turn, index) => (
        <TurnView key={index} turn={turn} isSent={isSent(turn, index, turns)}>
          {isIdle && turn.kind === 'user' && (
            <Button kind="quiet" size="small" onClick={() => onEdit(index)}>
              {t('Edit from here')}
            </Button>
          )}
          {isIdle && turn.kind === 'assistant' && index === turns.length - 1 && (
            <Button kind="quiet" size="small" onClick={() => onRun(turns.slice(0, index))}>
              {t('Answer again')}
            </Button>
          )}
        </TurnView>
      ))}
      {running !== undefined && (
        <RunningView running={running} onStop={isCompared ? conversation.stop : undefined} />
      )}
      {problem !== undefined && (
        <ProblemAlert problem={problem}>
          {problem.code === NO_BALANCE && <AddBalance size="small" kind="primary" />}
          <Button size="small" onClick={() => onRun(turns)}>
            {t('Try again')}
          </Button>
        </ProblemAlert>
      )}
      <p class="sr-only" role="status">
        {isIdle ? '' : t('The model is answering.')}
      </p>
      {calls.length > 0 && (
        <ToolResults
          key={turns.length}
          calls={calls}
          onSend={(results) => onRun([...turns, ...results])}
        />
      )}
    </Card>
  );
}

const NEAR_THE_END_PIXELS = 160;

/** Keeps the end of the answer visible unless the user has scrolled up. */
function useFollow({ turns, running }: Conversation): void {
  const page = document.documentElement;
  const isAtEnd = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_THE_END_PIXELS;
  useEffect(() => {
    if (isAtEnd && running.value !== undefined) page.scrollTop = page.scrollHeight;
  }, [running.value, turns.value]);
}

function ToolResults({
  calls,
  onSend,
}: {
  readonly calls: readonly ToolCall[];
  readonly onSend: (results: readonly Turn[]) => void;
}) {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  const send = (): void =>
    onSend(calls.map(({ id }) => ({ kind: 'tool', callId: id, text: results[id] ?? '' })));
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
