// Maintenance: the switch that refuses every request, with a message for callers.

import { useState } from 'preact/hooks';
import type { MaintenanceRecord } from '../../records/operator-lists.ts';
import {
  Alert,
  Button,
  Card,
  ConfirmDialog,
  Loaded,
  Page,
  post,
  TextField,
  toast,
  useResource,
} from '../ui/index.ts';

const STANDARD_WORDS = 'The service is in maintenance. Retry with back-off.';

export function MaintenancePage() {
  const resource = useResource<MaintenanceRecord>('/maintenance');
  const [turning, setTurning] = useState<boolean | undefined>(undefined);
  return (
    <Page
      title="Maintenance"
      lead="While it is on, every request of every customer is refused with 503 maintenance_mode. This console and the dashboard go on."
    >
      <Loaded resource={resource} lines={3}>
        {({ maintenance, message }) =>
          maintenance ? (
            <Alert
              tone="warning"
              title="Maintenance is on: nobody is served"
              actions={
                <Button kind="primary" onClick={() => setTurning(false)}>
                  Serve requests again
                </Button>
              }
            >
              Callers are told: {message ?? STANDARD_WORDS}
            </Alert>
          ) : (
            <Card
              title="Requests are served"
              actions={<Button onClick={() => setTurning(true)}>Turn maintenance on</Button>}
            >
              <p class="soft">
                Turn it on before work on the machine or on an upstream. Answers that are under way
                go on to their end.
              </p>
            </Card>
          )
        }
      </Loaded>
      {turning === true && (
        <TurnOnDialog onDone={resource.reload} onClose={() => setTurning(undefined)} />
      )}
      {turning === false && (
        <ConfirmDialog
          title="Serve requests again?"
          confirm="Serve again"
          consequences={['Requests are let in again, within a second.']}
          act={async () => {
            await post('/maintenance', { maintenance: false });
            toast('Maintenance is off.');
            await resource.reload();
          }}
          onClose={() => setTurning(undefined)}
        />
      )}
    </Page>
  );
}

function TurnOnDialog({
  onDone,
  onClose,
}: {
  readonly onDone: () => unknown;
  readonly onClose: () => void;
}) {
  const [message, setMessage] = useState('');
  return (
    <ConfirmDialog
      title="Turn maintenance on?"
      danger
      confirm="Refuse all requests"
      consequences={[
        'Every new request is refused with 503, within a second, until you turn it off.',
        'Answers that are under way go on to their end and are charged.',
        'Nothing is charged for what is refused.',
      ]}
      act={async () => {
        const words = message.trim();
        await post('/maintenance', {
          maintenance: true,
          ...(words === '' ? {} : { message: words }),
        });
        toast('Maintenance is on.');
        await onDone();
      }}
      onClose={onClose}
    >
      <TextField
        label="Message"
        hint="What callers are told, on one line, such as when you will be back. The standard words without it."
        placeholder={STANDARD_WORDS}
        maxLength={200}
        value={message}
        onInput={setMessage}
      />
    </ConfirmDialog>
  );
}
