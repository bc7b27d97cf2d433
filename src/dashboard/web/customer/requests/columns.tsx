// The columns of the request list.

import type { RequestFiltersRecord, RequestRecord } from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { stateColumn } from '../../ui/common-columns.tsx';
import { ProblemCell, StatusCell } from '../../ui/problem-view.tsx';
import { ServedModel, usedColumns } from '../../ui/request-columns.tsx';
import type { Column } from '../../ui/table.tsx';
import { Nothing, Time } from '../../ui/text.tsx';

export function requestColumns(
  choices: RequestFiltersRecord | undefined,
): readonly Column<RequestRecord>[] {
  const names = new Map(choices?.keys.map(({ id, name, masked }) => [id, name ?? masked]));
  return [
    { label: t('Started'), show: ({ started_at }) => <Time at={started_at} detail="second" /> },
    stateColumn(t('Outcome'), 'outcome'),
    {
      label: t('Model'),
      card: 'title',
      show: ({ model, model_served }) => <ServedModel requested={model} served={model_served} />,
    },
    { label: t('Status'), show: (request) => <StatusCell {...request} /> },
    {
      label: t('Problem'),
      wrap: true,
      show: ({ problem }) => <ProblemCell problem={problem} />,
    },
    {
      label: t('Key'),
      show: ({ key_id }) =>
        key_id === null ? <Nothing /> : <span class="nowrap">{names.get(key_id) ?? key_id}</span>,
    },
    {
      label: t('End user'),
      card: 'hidden',
      show: ({ end_user }) =>
        end_user ? <span class="nowrap">{end_user}</span> : <Nothing>{t('None')}</Nothing>,
    },
    ...usedColumns(t('Spent')),
  ];
}
