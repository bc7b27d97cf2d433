// The columns of the request list.

import type { RequestFiltersRecord, RequestRecord } from '../../../records/customer-request.ts';
import {
  Badge,
  type Column,
  formatCount,
  formatMilliseconds,
  Nothing,
  Time,
  Tokens,
} from '../../ui/index.ts';

const OUTCOMES = {
  completed: { label: 'Completed', tone: 'good' },
  stopped_balance: { label: 'Balance used up', tone: 'warning' },
  client_cancelled: { label: 'Cancelled', tone: 'neutral' },
  failed: { label: 'Failed', tone: 'danger' },
} as const;

/** The badge of an outcome. Customers see all failures as one. */
export function OutcomeBadge({ outcome }: { readonly outcome: string }) {
  const known =
    OUTCOMES[outcome.endsWith('failed') ? 'failed' : (outcome as keyof typeof OUTCOMES)];
  return <Badge tone={known.tone}>{known.label}</Badge>;
}

export function requestColumns(
  choices: RequestFiltersRecord | undefined,
): readonly Column<RequestRecord>[] {
  const names = new Map(choices?.keys.map(({ id, name, masked }) => [id, name ?? masked]));
  return [
    { label: 'Started', show: ({ started_at }) => <Time at={started_at} detail="second" /> },
    { label: 'Outcome', show: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
    {
      label: 'Model',
      show: ({ model, model_served }) => (
        <span class="nowrap">
          {model_served ?? model}
          {model_served !== null && model_served !== model && (
            <span class="soft"> for {model}</span>
          )}
        </span>
      ),
    },
    {
      label: 'Key',
      show: ({ key_id }) => <span class="nowrap">{names.get(key_id) ?? key_id}</span>,
    },
    { label: 'Input', end: true, show: ({ input_tokens }) => formatCount(input_tokens) },
    { label: 'Output', end: true, show: ({ output_tokens }) => formatCount(output_tokens) },
    { label: 'Duration', end: true, show: ({ duration_ms }) => formatMilliseconds(duration_ms) },
    { label: 'Spent', end: true, show: ({ debited }) => <Tokens amount={debited} /> },
    {
      label: 'End user',
      show: ({ end_user }) =>
        end_user ? <span class="nowrap">{end_user}</span> : <Nothing>None</Nothing>,
    },
  ];
}
