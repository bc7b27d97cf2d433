// Shows the turns of a conversation: messages with images, answers as they were written, reasoning, tool
// calls, and the cost of each answer.

import type { ComponentChildren } from 'preact';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { Alert } from '../../ui/parts.tsx';
import { CodeBlock } from '../../ui/tabs.tsx';
import { Badge } from '../../ui/text.tsx';
import type { Answer, Problem } from './answer.ts';
import { BillLine, StoppedCharge } from './bill.tsx';
import { type Running, STOPPED } from './conversation.ts';
import { Pictures } from './picture-view.tsx';
import type { Turn } from './request.ts';
import { textBlocks } from './text-blocks.ts';

export function TurnView({
  turn,
  isSent,
  children,
}: {
  readonly turn: Turn;
  /** False for a message without answer, which later requests leave out. */
  readonly isSent: boolean;
  /** Buttons of the turn. */
  readonly children: ComponentChildren;
}) {
  return (
    <article class={`turn ${turn.kind}`}>
      <div class="turn-head">
        <h3>{nameOf(turn)}</h3>
        {!isSent && <Badge tone="warning">{t('No answer; not resent')}</Badge>}
        <div class="row">{children}</div>
      </div>
      {turn.kind === 'assistant' ? (
        <>
          <AnswerView answer={turn.answer} isRunning={false} />
          <BillLine answer={turn.answer} facts={turn.facts} />
        </>
      ) : (
        <>
          {turn.kind === 'user' && <Pictures pictures={turn.pictures} />}
          {turn.text !== '' && <p class="turn-text">{turn.text}</p>}
        </>
      )}
    </article>
  );
}

/** Answers have the name of the model that answered. */
function nameOf(turn: Turn): string {
  if (turn.kind === 'user') return t('You');
  return turn.kind === 'tool' ? t('Tool result') : (turn.facts.model ?? turn.facts.asked);
}

/** The answer in progress. */
export function RunningView({
  running: { answer, requestId, asked },
  onStop,
}: {
  readonly running: Running;
  /** Absent if another button stops it. */
  readonly onStop?: (() => void) | undefined;
}) {
  return (
    <article class="turn assistant" aria-busy="true">
      <div class="turn-head">
        <h3>{asked}</h3>
        <div class="row">
          <span class="badge accent live">
            {requestId === undefined ? t('Waiting') : t('Answering')}
          </span>
          {onStop && (
            <Button size="small" aria-label={t('Stop {model}', { model: asked })} onClick={onStop}>
              {t('Stop')}
            </Button>
          )}
        </div>
      </div>
      <AnswerView answer={answer} isRunning />
    </article>
  );
}

function AnswerView({
  answer: { reasoning, text, calls, problem },
  isRunning,
}: {
  readonly answer: Answer;
  readonly isRunning: boolean;
}) {
  return (
    <>
      {reasoning !== '' && (
        <details class="reasoning" open={isRunning && text === '' && calls.length === 0}>
          <summary>{t('Reasoning')}</summary>
          <p class="turn-text">{reasoning}</p>
        </details>
      )}
      {textBlocks(text).map((block, index) =>
        block.kind === 'code' ? (
          <CodeBlock key={index} code={block.text} label={block.language || t('Code')} />
        ) : (
          <p key={index} class="turn-text">
            {block.text}
          </p>
        ),
      )}
      {calls.map(({ id, name, arguments: json }) => (
        <div key={id} class="call">
          <div>{rich('Calls {name}', { name: <code>{name}</code> })}</div>
          <pre>{json === '' ? '{}' : json}</pre>
        </div>
      ))}
      {problem !== undefined && <ProblemAlert problem={problem} />}
      {text !== '' && !isRunning && (
        <div class="row">
          <CopyButton kind="quiet" text={text} label={t('Copy answer')} />
        </div>
      )}
    </>
  );
}

export function ProblemAlert({
  problem: { message, code, param, request_id: requestId },
  children,
}: {
  readonly problem: Problem;
  /** Buttons. */
  readonly children?: ComponentChildren;
}) {
  return (
    <Alert tone="danger" actions={children}>
      <p>{message}</p>
      {code === STOPPED.code && (
        <p>
          <StoppedCharge requestId={requestId} />
        </p>
      )}
      <p class="request-id">
        <code>{code}</code>{' '}
        {param !== undefined && <>{rich('in {param}', { param: <code>{param}</code> })}</>}
        {requestId !== undefined && t(' · Request {requestId}', { requestId })}
      </p>
    </Alert>
  );
}
