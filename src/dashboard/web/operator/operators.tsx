// The operators themselves: who may sign in to this console. Made here by a link that sets their
// password; the first one, and the last resort, is the command line.

import { useState } from 'preact/hooks';
import type { OperatorLinkRecord, OperatorRecord } from '../../records/operator-people.ts';
import {
  Badge,
  Button,
  Card,
  ConfirmDialog,
  Dialog,
  Empty,
  Form,
  fieldError,
  ListTable,
  Page,
  post,
  remove,
  session,
  TextField,
  Time,
  toast,
  useAction,
  useList,
} from '../ui/index.ts';
import { ShownOnceDialog } from './shown-once.tsx';

export function OperatorsPage() {
  const list = useList<OperatorRecord>('/operators');
  const [adding, setAdding] = useState(false);
  const [link, setLink] = useState<OperatorLinkRecord | undefined>(undefined);
  const [asked, setAsked] = useState<{ what: 'reset' | 'remove'; whom: OperatorRecord }>();
  const own = session.value?.email;
  const add = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      New operator
    </Button>
  );
  return (
    <Page
      title="Operators"
      lead="All of them may do everything here. Each is named in the audit trail with what they did."
      actions={add}
    >
      <Card flush>
        <ListTable
          caption="Operators"
          list={list}
          rowKey={({ id }) => id}
          empty={<Empty title="No operators">Make one on the command line.</Empty>}
          columns={[
            {
              label: 'E-mail address',
              show: ({ email }) => (
                <>
                  {email} {email === own && <Badge tone="neutral">you</Badge>}
                </>
              ),
            },
            {
              label: 'Second factor',
              show: ({ two_factor }) => (
                <Badge tone={two_factor ? 'good' : 'warning'}>{two_factor ? 'on' : 'off'}</Badge>
              ),
            },
            { label: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
            {
              label: '',
              end: true,
              show: (whom) =>
                whom.email !== own && (
                  <span class="row">
                    <Button
                      kind="quiet"
                      size="small"
                      aria-label={`Reset the sign-in of ${whom.email}`}
                      onClick={() => setAsked({ what: 'reset', whom })}
                    >
                      Reset
                    </Button>
                    <Button
                      kind="quiet-danger"
                      size="small"
                      aria-label={`Remove ${whom.email}`}
                      onClick={() => setAsked({ what: 'remove', whom })}
                    >
                      Remove
                    </Button>
                  </span>
                ),
            },
          ]}
        />
      </Card>
      {adding && (
        <AddDialog
          onAdded={(made) => {
            setAdding(false);
            setLink(made);
            void list.reload();
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {link && (
        <ShownOnceDialog
          title={`The link for ${link.email}`}
          label="the link"
          lines={[link.link]}
          onClose={() => setLink(undefined)}
        >
          It opens the page on which {link.email} chooses a password, once and within 30 minutes.
          They have to reach the console's address.
        </ShownOnceDialog>
      )}
      {asked?.what === 'reset' && (
        <ConfirmDialog
          title={`Reset the sign-in of ${asked.whom.email}?`}
          danger
          confirm="Reset the sign-in"
          consequences={[
            'Their password and their second factor are gone at once, and their sessions end.',
            'You get a link with which they choose a new password.',
          ]}
          act={async () => {
            setLink(await post<OperatorLinkRecord>(`/operators/${asked.whom.id}/reset`));
            await list.reload();
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked?.what === 'remove' && (
        <ConfirmDialog
          title={`Remove ${asked.whom.email}?`}
          danger
          confirm="Remove the operator"
          consequences={['Their sessions end at once, and they cannot sign in any more.']}
          act={async () => {
            await remove(`/operators/${asked.whom.id}`);
            toast('The operator is removed.');
            await list.reload();
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Page>
  );
}

function AddDialog({
  onAdded,
  onClose,
}: {
  readonly onAdded: (made: OperatorLinkRecord) => void;
  readonly onClose: () => void;
}) {
  const [email, setEmail] = useState('');
  const action = useAction(async () => {
    onAdded(await post<OperatorLinkRecord>('/operators', { email: email.trim() }));
  });
  return (
    <Dialog title="New operator" onClose={onClose}>
      <Form
        action={action}
        fields={['email']}
        submit="Make the link"
        cancel={onClose}
        onSubmit={() => void action.run()}
      >
        <TextField
          label="E-mail address"
          hint="They choose a password by a link that you pass on."
          type="email"
          required
          value={email}
          onInput={setEmail}
          error={fieldError(action, 'email')}
        />
      </Form>
    </Dialog>
  );
}
