// The conversations that this browser keeps: opened, renamed, exported, deleted.

import { useState } from 'preact/hooks';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { downloadText } from '../../ui/download.ts';
import { TextField } from '../../ui/field.tsx';
import { Empty } from '../../ui/parts.tsx';
import { Time } from '../../ui/text.tsx';
import { markdownOf } from './export.ts';
import type { StoredConversation } from './library.ts';
import {
  isShown,
  library,
  libraryVersion,
  open,
  removeAllStored,
  removeStored,
  rename,
} from './state.ts';

export function LibraryDialog({ onClose }: { readonly onClose: () => void }) {
  // Reads again after each change.
  void libraryVersion.value;
  const conversations = library().conversations();
  const [asksAll, setAsksAll] = useState(false);
  return (
    <Dialog title={t('Conversations')} wide onClose={onClose}>
      <p class="soft">
        {t('Kept in this browser only, the last 50. Images and API keys are not kept.')}
      </p>
      {conversations.length === 0 ? (
        <Empty title={t('No conversations yet')}>
          {t('A conversation is kept when you send its first message.')}
        </Empty>
      ) : (
        <ul class="plain library">
          {conversations.map((each) => (
            <Row
              key={each.id}
              conversation={each}
              onOpen={() => {
                open(each);
                onClose();
              }}
            />
          ))}
        </ul>
      )}
      {conversations.length > 0 && (
        <div class="actions">
          <Button
            onClick={() =>
              downloadText('conversations.json', JSON.stringify(conversations, null, 2))
            }
          >
            {t('Export all')}
          </Button>
          <Button
            kind={asksAll ? 'danger' : 'quiet-danger'}
            onClick={() => {
              if (asksAll) removeAllStored();
              setAsksAll(!asksAll);
            }}
          >
            {asksAll ? t('Delete all: are you sure?') : t('Delete all')}
          </Button>
        </div>
      )}
    </Dialog>
  );
}

function Row({
  conversation,
  onOpen,
}: {
  readonly conversation: StoredConversation;
  readonly onOpen: () => void;
}) {
  const { id, at, lanes } = conversation;
  const title = conversation.title || t('Untitled');
  const [name, setName] = useState<string | undefined>(undefined);
  if (name !== undefined) {
    return (
      <li>
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            rename(id, name);
            setName(undefined);
          }}
        >
          <TextField label={t('Title')} maxLength={80} value={name} onInput={setName} />
          <Button type="submit" size="small">
            {t('Rename')}
          </Button>
        </form>
      </li>
    );
  }
  return (
    <li>
      <div>
        <button type="button" class="button quiet" onClick={onOpen}>
          {title}
        </button>
        <div class="soft small">
          {lanes.map(({ model }) => model).join(' · ')} ·{' '}
          <Time relative at={new Date(at).toISOString()} />
          {isShown(id) && ` · ${t('shown now')}`}
        </div>
      </div>
      <div class="row">
        <Button
          kind="quiet"
          size="small"
          aria-label={t('Rename {title}', { title })}
          onClick={() => setName(conversation.title)}
        >
          {t('Rename')}
        </Button>
        <Button
          kind="quiet"
          size="small"
          aria-label={t('Export {title}', { title })}
          onClick={() => downloadText('conversation.md', markdownOf(conversation))}
        >
          {t('Export')}
        </Button>
        <Button
          kind="quiet-danger"
          size="small"
          aria-label={t('Delete {title}', { title })}
          onClick={() => removeStored(id)}
        >
          {t('Delete')}
        </Button>
      </div>
    </li>
  );
}
