// Shows the turns of the playground's conversation: text, reasoning, tool calls, and the cost of
// each answer.

import { Link } from 'wouter-preact';
import type { PricingRecord } from '../../../records/model.ts';
import {
  Alert,
  Button,
  formatCount,
  formatMilliseconds,
  formatTokens,
  formatUsd,
  roundDecimal,
} from '../../ui/index.ts';
import type { Answer, Problem, ToolCall } from './answer.ts';
import type { Running } from './conversation.ts';
import { costOf, estimateTokens } from './cost.ts';
import type { Facts, Turn } from './request.ts';

const NAMES = { user: 'You', assistant: 'Model', tool: 'Tool result' } as const;

/** `onRewind` moves the user's turn back into the editor. */
export function TurnView({
  turn,
  onRewind,
}: {
  readonly turn: Turn;
  readonly onRewind: (() => void) | undefined;
}) {
  return (
    <article class={`turn ${turn.kind}`}>
      <div class="turn-head">
        <h3>{NAMES[turn.kind]}</h3>
        {onRewind && (
          <Button kind="quiet" size="small" onClick={onRewind}>
            Edit from here
          </Button>
        )}
      </div>
      {turn.kind === 'assistant' ? (
        <>
          <AnswerView answer={turn.answer} isRunning={false} />
          <BillLine answer={turn.answer} facts={turn.facts} />
        </>
      ) : (
        <p class="turn-text">{turn.text}</p>
      )}
    </article>
  );
}

/** The answer in progress, with its estimated cost. */
export function RunningView({
  running: { answer, inputTokens, requestId },
  pricing,
}: {
  readonly running: Running;
  readonly pricing: PricingRecord;
}) {
  const calls = answer.calls.map((call) => call.arguments).join('');
  const output = estimateTokens(answer.text + answer.reasoning + calls);
  const { tokens, usd } = costOf(pricing, inputTokens, output);
  return (
    <article class="turn assistant" aria-busy="true">
      <div class="turn-head">
        <h3>{NAMES.assistant}</h3>
        <span class="badge accent live">{requestId === undefined ? 'Waiting' : 'Answering'}</span>
      </div>
      <AnswerView answer={answer} isRunning />
      <p class="bill">
        About {formatTokens(tokens.toFixed(6), 2)} service tokens (
        {formatUsd(roundDecimal(usd.toFixed(10), 8))}) so far: about {formatCount(inputTokens)} in,{' '}
        {formatCount(output)} out
      </p>
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
          <summary>Reasoning</summary>
          <p class="turn-text">{reasoning}</p>
        </details>
      )}
      {text !== '' && <p class="turn-text">{text}</p>}
      {calls.map((call) => (
        <CallView key={call.id} call={call} />
      ))}
      {problem !== undefined && <ProblemAlert problem={problem} />}
    </>
  );
}

function CallView({ call }: { readonly call: ToolCall }) {
  return (
    <div class="call">
      <div>
        Calls <code>{call.name}</code>
      </div>
      <pre>{call.arguments === '' ? '{}' : call.arguments}</pre>
    </div>
  );
}

export function ProblemAlert({
  problem: { message, code, param, requestId },
  retry,
}: {
  readonly problem: Problem;
  readonly retry?: () => void;
}) {
  return (
    <Alert
      tone="danger"
      actions={
        retry && (
          <Button size="small" onClick={retry}>
            Try again
          </Button>
        )
      }
    >
      <p>{message}</p>
      <p class="request-id">
        <code>{code}</code>
        {param !== undefined && (
          <>
            {' '}
            in <code>{param}</code>
          </>
        )}
        {requestId !== undefined && ` · Request ${requestId}`}
      </p>
    </Alert>
  );
}

/** The exact bill, once known. */
function BillLine({ answer, facts }: { readonly answer: Answer; readonly facts: Facts }) {
  const { bill, usage, finish } = answer;
  const { requestId, firstMs, totalMs, model, end } = facts;
  const parts = [
    bill === undefined
      ? undefined
      : `Charged ${formatTokens(bill.tokens)} service tokens (${formatUsd(bill.usd)})`,
    end === 'stopped' ? 'Stopped: output so far is charged' : undefined,
    usage === undefined
      ? undefined
      : `${formatCount(usage.input)} in${usage.cached > 0 ? ` (${formatCount(usage.cached)} cached)` : ''}, ${formatCount(usage.output)} out`,
    firstMs === undefined ? undefined : `first content after ${formatMilliseconds(firstMs)}`,
    `${formatMilliseconds(totalMs)} total`,
    bill?.isFallback === true && model !== undefined ? `answered by ${model}` : undefined,
    finish === undefined ? undefined : `finish reason ${finish}`,
  ].filter((part) => part !== undefined);
  return (
    <p class="bill">
      {parts.join(' · ')}
      {requestId !== undefined && (
        <>
          {' · '}
          <Link href={`/requests/${requestId}`}>{requestId}</Link>
        </>
      )}
    </p>
  );
}
