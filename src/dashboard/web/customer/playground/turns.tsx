// Shows the turns of a conversation: messages with images, answers as they were written, reasoning, tool
// calls, and the cost of each answer.

import type { ComponentChildren } from 'preact';
import type { PricingRecord } from '../../../records/model.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { Alert } from '../../ui/parts.tsx';
import { CodeBlock } from '../../ui/tabs.tsx';
import { Badge } from '../../ui/text.tsx';
import type { Answer, Problem, ToolCall } from './answer.ts';
import { BillLine, RunningBill, StoppedCharge } from './bill.tsx';
import { type Running, STOPPED } from './conversation.ts';
import { Pictures } from './picture-view.tsx';
import type { Turn } from './request.ts';
import { textBlocks } from './text-blocks.ts';

/** `actions` are buttons of the turn. */
export function TurnView({
  turn,
  isSent,
  actions,
}: {
  readonly turn: Turn;
  /** False for a message without answer, which later requests leave out. */
  readonly isSent: boolean;
  readonly actions?: ComponentChildren;
}) {
  return (
    <article class={`turn ${turn.kind}`}>
      <div class="turn-head">
        <h3>{nameOf(turn)}</h3>
        {!isSent && <Badge tone="warning">{t('No answer; not resent')}</Badge>}
        <div class="row">{actions}</div>
      </div>
      {turn.kind === 'assistant' && (
        <>
          <AnswerView answer={turn.answer} isRunning={false} />
          <BillLine answer={turn.answer} facts={turn.facts} />
        </>
      )}
      {turn.kind === 'tool' && <p class="turn-text">{turn.text}</p>}
      {turn.kind === 'user' && (
        <>
          <Pictures pictures={turn.pictures ?? []} />
          {turn.text !== '' && <p class="turn-text">{turn.text}</p>}
        </>
      )}
    </article>
  );
}

/** Answers have the name of the model that answered. */
function nameOf(turn: Turn): string {
  if (turn.kind === 'user') return t('You');
  if (turn.kind === 'tool') return t('Tool result');
  return turn.facts.model ?? turn.facts.asked ?? t('Model');
}

/** The answer in progress, with its estimated cost. */
export function RunningView({
  running,
  pricing,
  onStop,
}: {
  readonly running: Running;
  readonly pricing: PricingRecord;
  /** Absent if another button stops it. */
  readonly onStop?: (() => void) | undefined;
}) {
  return (
    <article class="turn assistant" aria-busy="true">
      <div class="turn-head">
        <h3>{running.asked}</h3>
        <div class="row">
          <span class="badge accent live">
            {running.requestId === undefined ? t('Waiting') : t('Answering')}
          </span>
          {onStop && (
            <Button
              size="small"
              aria-label={t('Stop {model}', { model: running.asked })}
              onClick={onStop}
            >
              {t('Stop')}
            </Button>
          )}
        </div>
      </div>
      <AnswerView answer={running.answer} isRunning />
      <RunningBill running={running} pricing={pricing} />
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
      {calls.map((call) => (
        <CallView key={call.id} call={call} />
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

function CallView({ call }: { readonly call: ToolCall }) {
  return (
    <div class="call">
      <div>{rich('Calls {name}', { name: <code>{call.name}</code> })}</div>
      <pre>{call.arguments === '' ? '{}' : call.arguments}</pre>
    </div>
  );
}

export function ProblemAlert({
  problem: { message, code, param, request_id: requestId },
  actions,
}: {
  readonly problem: Problem;
  readonly actions?: ComponentChildren;
}) {
  return (
    <Alert tone="danger" actions={actions}>
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
