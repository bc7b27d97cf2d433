// The account's API keys: the list, the limits on creating them, and all actions.

import type { KeyListRecord, KeyRecord } from '../../../records/key.ts';
import {
  Collection,
  type Column,
  formatCount,
  Loaded,
  Nothing,
  Stat,
  StateBadge,
  Stats,
  Time,
  useResource,
} from '../../ui/index.ts';
import { KEY_ACTIONS, type ShownKey } from './actions.tsx';
import { CreateKeyDialog } from './create.tsx';
import { ShownKeyDialog } from './shown-key.tsx';

export function KeysPage() {
  const head = useResource<KeyListRecord>('/keys?limit=1');
  return (
    <Collection<KeyRecord, ShownKey>
      title="API keys"
      lead="All keys share one balance and the same limits. Use one key per machine or project, so you can revoke each on its own."
      path="/keys"
      empty={{
        title: 'No keys yet',
        text: 'Create one to call models from your programs and agents.',
      }}
      columns={COLUMNS}
      actions={KEY_ACTIONS}
      create={{ label: 'New key', dialog: (dialog) => <CreateKeyDialog {...dialog} /> }}
      shown={(key, onClose) => <ShownKeyDialog {...key} onClose={onClose} />}
      onChange={head.reload}
    >
      <Loaded resource={head} lines={2}>
        {(data) => <KeyStats head={data} />}
      </Loaded>
    </Collection>
  );
}

function KeyStats({ head }: { readonly head: KeyListRecord }) {
  const { active_count, active_limit, creations } = head;
  return (
    <Stats>
      <Stat
        label="Active keys"
        value={formatCount(active_count)}
        unit={`of ${formatCount(active_limit)}`}
        hint={
          active_count < active_limit
            ? 'Maximum of your plan'
            : 'Limit of your plan reached. Revoke a key to create another.'
        }
      />
      <Stat
        label="Created in the last hour"
        value={formatCount(creations.last_hour)}
        unit={`of ${formatCount(creations.limit)}`}
        hint={
          creations.next_at === null ? (
            'Includes rotations'
          ) : (
            <>
              You can create the next one <Time relative at={creations.next_at} />.
            </>
          )
        }
      />
    </Stats>
  );
}

const COLUMNS: readonly [Column<KeyRecord>, ...Column<KeyRecord>[]] = [
  {
    label: 'Name',
    wrap: true,
    show: ({ name, masked }) => (
      <>
        <div>{name ?? <span class="soft">No name</span>}</div>
        <code class="soft">{masked}</code>
      </>
    ),
  },
  { label: 'State', show: (key) => <KeyState record={key} /> },
  {
    label: 'Last used',
    show: ({ last_used_at }) =>
      last_used_at === null ? <span class="soft">Never</span> : <Time relative at={last_used_at} />,
  },
  {
    label: 'Expires',
    show: ({ expires_at, status }) =>
      expires_at === null || status === 'revoked' ? (
        <Nothing>Never</Nothing>
      ) : (
        <Time relative at={expires_at} />
      ),
  },
  { label: 'Created', show: ({ created_at }) => <Time at={created_at} detail="day" /> },
];

const SOON_MS = 7 * 86_400_000;

const REVOKED: Readonly<Record<NonNullable<KeyRecord['revoked_reason']>, string>> = {
  user: 'by you',
  rotated: 'rotated',
  operator: 'by the operator',
  leak_report: 'reported as leaked',
  account_closed: 'account closed',
};

function KeyState({ record }: { readonly record: KeyRecord }) {
  const { status, expires_at, revoked_at, revoked_reason } = record;
  const ends = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - Date.now();
  if (status === 'active' && ends < SOON_MS) return <StateBadge state="expiring" />;
  if (status === 'active') return <StateBadge state="active" />;
  return (
    <>
      <StateBadge state={status} tone="neutral" />
      {revoked_reason !== null && (
        <div class="soft small">
          {REVOKED[revoked_reason]}, <Time relative at={revoked_at} />
        </div>
      )}
    </>
  );
}
