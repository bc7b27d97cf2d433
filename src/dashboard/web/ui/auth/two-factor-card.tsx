// The second factor, in the settings of both applications: whether there is one, and what can be done.
// What sets it up is loaded only where it is wanted.

import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import type { RecoveryCodesRecord, TwoFactorStartRecord } from '../../../records/auth.ts';
import { post, remove } from '../api.ts';
import { Button } from '../button.tsx';
import { ConfirmDialog, Dialog } from '../dialog.tsx';
import { Alert, Card, ErrorAlert } from '../parts.tsx';
import { useAction } from '../resource.ts';
import { loadSession, session } from '../session.ts';
import { Badge } from '../text.tsx';
import { toast } from '../toast.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import type { SetupProps } from './two-factor-setup.tsx';

const FEW_CODES = 3;

/** `onChanged` when sessions may have ended with it. */
export function TwoFactorCard({ onChanged }: { readonly onChanged: () => unknown }) {
  const isOn = session.value?.two_factor === true;
  return (
    <Card
      title="Second factor"
      actions={<Badge tone={isOn ? 'good' : 'warning'}>{isOn ? 'On' : 'Off'}</Badge>}
    >
      {isOn ? <Manage /> : <Begin onChanged={onChanged} />}
    </Card>
  );
}

type Setup = { readonly start: TwoFactorStartRecord; readonly View: ComponentType<SetupProps> };

function Begin({ onChanged }: { readonly onChanged: () => unknown }) {
  const [setup, setSetup] = useState<Setup>();
  const action = useAction(async () => {
    const [start, { TwoFactorSetup: View }] = await Promise.all([
      post<TwoFactorStartRecord>('/auth/two-factor'),
      import('./two-factor-setup.tsx'),
    ]);
    setSetup({ start, View });
  });
  return (
    <>
      <p>
        With a code from an app on your phone, a stolen password alone opens nothing. Any app for
        one-time codes will do.
      </p>
      <ErrorAlert error={action.error.value} />
      <div>
        <Button busy={action.busy.value} onClick={() => void action.run()}>
          Set it up
        </Button>
      </div>
      {setup && (
        <setup.View
          start={setup.start}
          onClose={(isDone) => {
            setSetup(undefined);
            if (isDone) void loadSession().then(onChanged);
          }}
        />
      )}
    </>
  );
}

function Manage() {
  const [codes, setCodes] = useState<readonly string[]>();
  const [isEnding, setEnding] = useState(false);
  const left = session.value?.recovery_codes_left ?? 0;
  const renew = useAction(async () => {
    const record = await post<RecoveryCodesRecord>('/auth/two-factor/recovery-codes');
    setCodes(record.codes);
    await loadSession();
  });
  return (
    <>
      {left <= FEW_CODES && (
        <Alert
          tone="warning"
          title={left === 1 ? 'One recovery code left' : `${left} recovery codes left`}
        >
          Make new ones before you need them: without the app and without a code nobody can sign in
          as you.
        </Alert>
      )}
      <p>Signing in asks for a code from your app. {left} recovery codes can stand in for it.</p>
      <ErrorAlert error={renew.error.value} />
      <div class="row">
        <Button busy={renew.busy.value} onClick={() => void renew.run()}>
          New recovery codes
        </Button>
        <Button kind="quiet-danger" onClick={() => setEnding(true)}>
          Turn it off
        </Button>
      </div>
      {codes && (
        <Dialog title="Your new recovery codes" onClose={() => setCodes(undefined)}>
          <p>The old ones no longer work.</p>
          <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />
        </Dialog>
      )}
      {isEnding && (
        <ConfirmDialog
          title="Turn the second factor off?"
          danger
          confirm="Turn it off"
          consequences={[
            'The password alone signs in from now on.',
            'The entry in your app and all recovery codes stop working.',
          ]}
          act={async () => {
            await remove('/auth/two-factor');
            await loadSession();
            toast('The second factor is off.');
          }}
          onClose={() => setEnding(false)}
        />
      )}
    </>
  );
}
