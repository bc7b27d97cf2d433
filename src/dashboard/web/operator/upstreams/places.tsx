// The models at an upstream, each with its breaker, and taking one of them or all out of service.

import { useState } from 'preact/hooks';
import type { PlaceModelRecord, UpstreamDetailRecord } from '../../../records/operator-server.ts';
import {
  Button,
  Card,
  ConfirmDialog,
  Empty,
  post,
  StateBadge,
  Table,
  TextField,
  Time,
  toast,
  useAction,
} from '../../ui/index.ts';

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
    <Card title="Models" flush>
      {record.models.length === 0 ? (
        <Empty title="No models">No model of the catalog is served by this upstream.</Empty>
      ) : (
        <Table
          caption="Models at this upstream"
          rows={record.models}
          rowKey={({ model, upstream_model }) => `${model} ${upstream_model}`}
          href={({ model }) => `/models/${model}`}
          columns={[
            { label: 'Model', show: ({ model }) => model },
            { label: 'Called there', show: ({ upstream_model }) => upstream_model },
            { label: 'Weight', end: true, show: ({ weight }) => String(weight) },
            { label: 'State', show: (place) => <PlaceState place={place} /> },
            {
              label: '',
              end: true,
              show: (place) =>
                whole ? null : place.disabled_reason === null ? (
                  <Button size="small" onClick={() => setDisabling(place.model)}>
                    Take out
                  </Button>
                ) : (
                  <EnableButton path={path} model={place.model} small reload={reload} />
                ),
            },
          ]}
        />
      )}
      {disabling !== undefined && (
        <DisableDialog
          path={path}
          model={disabling}
          reload={reload}
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
  if (breaker === 'closed') return <StateBadge state="in_service" tone="good" />;
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
  const enable = useAction(async () => {
    await post(`${path}/enable`, model === undefined ? {} : { model });
    toast('It is in service again.');
    await reload();
  });
  return (
    <Button
      {...(small ? { size: 'small' } : { kind: 'primary' })}
      busy={enable.busy.value}
      onClick={() => void enable.run()}
    >
      Put back into service
    </Button>
  );
}

/** Of one model, or of the whole upstream. */
export function DisableDialog({
  path,
  model,
  reload,
  onClose,
}: {
  readonly path: string;
  readonly model?: string;
  readonly reload: Reload;
  readonly onClose: () => void;
}) {
  const [reason, setReason] = useState('');
  return (
    <ConfirmDialog
      title={model === undefined ? 'Take this upstream out of service?' : `Take ${model} out here?`}
      danger
      confirm="Take out of service"
      consequences={[
        model === undefined
          ? 'No new request goes there, for any model, until you put it back.'
          : `No new request for ${model} goes there until you put it back.`,
        'Requests under way there end as they began.',
        'A model that nobody else serves is answered by its fallbacks, or with 503.',
      ]}
      act={async () => {
        await post(`${path}/disable`, { reason, ...(model === undefined ? {} : { model }) });
        toast('It is out of service.');
        await reload();
      }}
      onClose={onClose}
    >
      <TextField
        label="Reason"
        hint="For you and other operators; customers do not see it."
        maxLength={200}
        value={reason}
        onInput={setReason}
      />
    </ConfirmDialog>
  );
}
