// The conversation with one model: turns, the answer in progress, what went wrong, and tool results.

import { useEffect, useState } from 'preact/hooks';
import type { CustomerModelRecord } from '../../../records/model.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Card, Empty } from '../../ui/parts.tsx';
import type { ToolCall } from './answer.ts';
import { sendsOnEnter } from './keys.ts';
import { isSent, openCalls, type Turn } from './request.ts';
import type { Lane } from './state.ts';
import { ProblemAlert, RunningView, TurnView } from './turns.tsx';

export function LaneView({
  lane,
  model,
  isCompared,
  onRun,
  onEdit,
}: {
  readonly lane: Lane;
  readonly model: CustomerModelRecord;
  /** It is one of two and has its own button to stop. */
  readonly isCompared: boolean;
  /** Sends the turns of the lane as they are. */
  readonly onRun: () => void;
  /** Moves a message back into the editor. */
  readonly onEdit: (index: number) => void;
}) {
  const turns = lane.turns.value;
  const running = lane.running.value;
  const problem = lane.problem.value;
  const isIdle = running === undefined;
  const calls = isIdle ? openCalls(turns) : [];
  const last = turns.length - 1;
  useFollow(lane);

  const again = (index: number): void => {
    lane.rewind(index);
    onRun();
  };
  const actionsOf = (turn: Turn, index: number) => {
    if (!isIdle) return undefined;
    if (turn.kind === 'user') {
      return (
        <Button kind="quiet" size="small" onClick={() => onEdit(index)}>
          {t('Edit from here')}
        </Button>
      );
    }
    if (turn.kind !== 'assistant' || index !== last) return undefined;
    return (
      <Button kind="quiet" size="small" onClick={() => again(index)}>
        {t('Answer again')}
      </Button>
    );
  };

  return (
    <Card title={isCompared ? model.id : t('Conversation')}>
      {turns.length === 0 && isIdle && (
        <Empty title={t('No messages yet')}>{t('Write a message below.')}</Empty>
      )}
      {turns.map((turn, index) => (
        <TurnView
          key={index}
          turn={turn}
          isSent={isSent(turn, index, turns)}
          actions={actionsOf(turn, index)}
        />
      ))}
      {running !== undefined && (
        <RunningView
          running={running}
          pricing={model.pricing}
          onStop={isCompared ? lane.stop : undefined}
        />
      )}
      {problem !== undefined && (
        <ProblemAlert
          problem={problem}
          actions={
            <>
              <Button size="small" onClick={onRun}>
                {t('Try again')}
              </Button>
              {turns[last]?.kind === 'user' && (
                <Button size="small" onClick={() => onEdit(last)}>
                  {t('Edit message')}
                </Button>
              )}
            </>
          }
        />
      )}
      <p class="sr-only" role="status">
        {isIdle ? '' : t('The model is answering.')}
      </p>
      {calls.length > 0 && (
        <ToolAnswers
          key={turns.length}
          calls={calls}
          onAnswer={(results) => {
            for (const { callId, text } of results) lane.answerCall(callId, text);
            onRun();
          }}
        />
      )}
    </Card>
  );
}

const NEAR_THE_END_PIXELS = 160;

/** Keeps the end of the answer visible unless the user has scrolled up. */
function useFollow({ turns, running }: Lane): void {
  const page = document.documentElement;
  const isAtEnd = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_THE_END_PIXELS;
  useEffect(() => {
    if (isAtEnd && running.value !== undefined) page.scrollTop = page.scrollHeight;
  }, [running.value, turns.value]);
}

type ToolResult = { readonly callId: string; readonly text: string };

function ToolAnswers({
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
