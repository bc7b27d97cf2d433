// The models of an upstream with their circuit breakers, and the switches that take one model or the
// whole upstream out of service.

import { useState } from 'preact/hooks';
import type {
  PlaceModelRecord,
  UpstreamDetailRecord,
} from '../../../dashboard/records/operator-server.ts';
import { t } from '../../text/t.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { post } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import type { ChangeDialogProps } from '../../ui/collection.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card, Empty } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { StateBadge, Time } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';

type Reload = () => Promise<void>;

export function PlacesCard({
  record,
  path,
  reload,
}: {
  readonly record: UpstreamDetailRecord;
  readonly path: string;
  readonly reload: Reload;
}) {
  const [disabling, setDisabling] = useState<string | undefined>(undefined);
  const whole = record.disabled !== null;
  return (
    <Card title={t('Models')} flush>
      <Table
        caption={t('Models at this upstream')}
        rows={record.models}
        empty={
          <Empty title={t('No models')}>
            {t('The catalog assigns no model to this upstream.')}
          </Empty>
        }
        rowKey={({ model, upstream_model }) => `${model} ${upstream_model}`}
        href={({ model }) => `/models/${model}`}
        columns={[
          { label: t('Model'), show: ({ model }) => model },
          { label: t('Upstream model'), show: ({ upstream_model }) => upstream_model },
          { label: t('Weight'), end: true, show: ({ weight }) => String(weight) },
          { label: t('State'), card: 'value', show: (place) => <PlaceState place={place} /> },
          {
            label: '',
            end: true,
            show: (place) =>
              whole ? null : place.disabled_reason === null ? (
                <Button
                  size="small"
                  needs="service.manage"
                  onClick={() => setDisabling(place.model)}
                >
                  {t('Disable')}
                </Button>
              ) : (
                <EnableButton path={path} model={place.model} small reload={reload} />
              ),
          },
        ]}
      />
      {disabling !== undefined && (
        <DisableDialog
          path={path}
          model={disabling}
          onDone={reload}
          onClose={() => setDisabling(undefined)}
        />
      )}
    </Card>
  );
}

function PlaceState({ place }: { readonly place: PlaceModelRecord }) {
  const { disabled, disabled_reason: reason, breaker, breaker_until: until } = place;
  if (disabled) {
    return (
      <span class="row">
        <StateBadge state="out_of_service" tone="warning" />
        {reason}
      </span>
    );
  }
  if (breaker === 'closed') return <StateBadge state={place.state} />;
  return (
    <span class="row">
      <StateBadge
        state={breaker === 'open' ? 'left_alone' : 'being_tried'}
        tone={breaker === 'open' ? 'danger' : 'warning'}
      />
      {until && <Time at={until} relative />}
    </span>
  );
}

export function EnableButton({
  path,
  model,
  small,
  reload,
}: {
  readonly path: string;
  readonly model?: string;
  readonly small?: boolean;
  readonly reload: Reload;
}) {
  return (
    <ActionButton
      needs="service.manage"
      {...(small ? { size: 'small' } : { kind: 'primary' })}
      act={async () => {
        await post(`${path}/enable`, model === undefined ? {} : { model });
        toast(t('Back in service.'));
        await reload();
      }}
    >
      {t('Return to service')}
    </ActionButton>
  );
}

/** For one model, or for the whole upstream. */
export function DisableDialog({
  path,
  model,
  ...dialog
}: ChangeDialogProps & { readonly path: string; readonly model?: string }) {
  const [reason, setReason] = useState('');
  return (
    <ConfirmDialog
      title={
        model === undefined
          ? t('Take this upstream out of service?')
          : t('Take {model} out of service here?', { model })
      }
      danger
      confirm={t('Take out of service')}
      consequences={[
        model === undefined
          ? t('It gets no new requests for any model until you return it to service.')
          : t('It gets no new requests for {model} until you return it to service.', { model }),
        t('Requests in progress finish normally.'),
        t('Models without another upstream use their fallbacks, or return 503.'),
      ]}
      act={() => post(`${path}/disable`, { reason, ...(model === undefined ? {} : { model }) })}
      done={t('Taken out of service.')}
      {...dialog}
    >
      <TextField
        label={t('Reason')}
        hint={t('For operators only. Not visible to customers.')}
        maxLength={200}
        value={reason}
        onInput={setReason}
      />
    </ConfirmDialog>
  );
}
