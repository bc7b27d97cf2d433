// The playground: a conversation with one model or two beside each other, in any wire format, charged like
// any other request.

import { useMemo, useRef, useState } from 'preact/hooks';
import type { ConnectionRecord } from '../../../dashboard/records/key.ts';
import type { CustomerModelRecord, ModelListRecord } from '../../../dashboard/records/model.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { Link } from '../../ui/link.tsx';
import { Empty, Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { toast } from '../../ui/toast.tsx';
import { CodeDialog } from './code-dialog.tsx';
import { Composer } from './composer.tsx';
import { type Lane, LaneView } from './lane-view.tsx';
import { openCalls, requestBody, type Turn, turnsBefore } from './request.ts';
import { SettingsCard } from './settings-card.tsx';
import {
  changeSettings,
  conversations,
  message,
  NO_MESSAGE,
  restoreLast,
  settings,
  startNew,
} from './state.ts';

/** The limit of a request body. */
const BODY_BYTES_MAX = 2_000_000;

export function View() {
  const models = useResource<ModelListRecord>('/models');
  const connection = useResource<ConnectionRecord>('/connection');
  // Before anything reads the settings.
  useMemo(restoreLast, []);
  return (
    <Loaded resource={models} lines={8}>
      {({ data }) => (
        <Loaded resource={connection} lines={8}>
          {({ responses }) => (
            <Playground
              models={data.filter(({ available }) => available)}
              offersResponses={responses}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

function Playground({
  models,
  offersResponses,
}: {
  readonly models: readonly CustomerModelRecord[];
  readonly offersResponses: boolean;
}) {
  const [showsCode, setShowsCode] = useState(false);
  // The last conversation may be in a format that the operator has left out since.
  useMemo(() => {
    if (!offersResponses && settings.peek().format === 'responses') {
      changeSettings({ format: 'chat' });
    }
  }, [offersResponses]);
  const form = useRef<HTMLFormElement>(null);
  const find = (slug: string) => models.find(({ id }) => id === slug);
  const model = find(settings.value.model) ?? models[0];
  if (model === undefined) {
    return (
      <Page title={t('Playground')}>
        <Empty
          title={t('Your plan has no models')}
          action={<Link href="/models">{t('See all models')}</Link>}
        >
          {t('Ask the operator for a plan with models.')}
        </Empty>
      </Page>
    );
  }
  const lanes: readonly Lane[] = conversations.flatMap((conversation, index) => {
    const asked = index === 0 ? model : find(settings.value.other);
    return asked === undefined ? [] : { conversation, model: asked };
  });
  const isRunning = lanes.some(({ conversation }) => conversation.running.value !== undefined);
  const isCalling = lanes.some(
    ({ conversation }) => openCalls(conversation.turns.value).length > 0,
  );

  /** Sends the turns of each lane, unless one of them cannot be sent. */
  const run = (asked: readonly Lane[], turnsOf: (lane: Lane) => readonly Turn[]): boolean => {
    if (!isValid(form.current)) return false;
    const requests = asked.map((lane) => {
      const turns = turnsOf(lane);
      return { ...lane, turns, body: requestBody(settings.value, lane.model, turns) };
    });
    if (requests.some(({ body }) => isTooLong(body))) return false;
    for (const { conversation, turns, body } of requests) {
      void conversation.run(turns, settings.value.format, body);
    }
    return true;
  };
  const send = (): void => {
    changeSettings({ model: model.id });
    const isSent = run(lanes, ({ conversation }) => [...conversation.turns.value, message.value]);
    if (isSent) message.value = NO_MESSAGE;
  };
  const edit = (turns: readonly Turn[], index: number): void => {
    const turn = turns[index];
    if (turn?.kind !== 'user') return;
    message.value = { ...turn, pictures: turn.pictures.filter(({ data }) => data !== '') };
    const place = turns.slice(0, index).filter(({ kind }) => kind === 'user').length;
    for (const { conversation } of lanes) {
      conversation.load(turnsBefore(conversation.turns.value, place));
    }
  };

  return (
    <Page
      title={t('Playground')}
      lead={t('Try a model in any format. Requests are charged as usual.')}
      actions={
        <>
          <Button onClick={startNew}>{t('New conversation')}</Button>
          <Button onClick={() => setShowsCode(true)}>{t('Show code')}</Button>
        </>
      }
    >
      <form ref={form} onSubmit={(event) => event.preventDefault()}>
        <SettingsCard models={models} model={model} offersResponses={offersResponses} />
      </form>
      <div class={lanes.length > 1 ? 'conversation lanes' : 'conversation'}>
        {lanes.map((lane, index) => (
          <LaneView
            key={index}
            lane={lane}
            isCompared={lanes.length > 1}
            onRun={(turns) => run([lane], () => turns)}
            onEdit={(at) => edit(lane.conversation.turns.value, at)}
          />
        ))}
      </div>
      {!isCalling && (
        <Composer
          takesPictures={lanes.every((lane) => lane.model.features.vision)}
          isRunning={isRunning}
          onSend={send}
          onStop={() => {
            for (const { conversation } of lanes) conversation.stop();
          }}
        />
      )}
      {showsCode && (
        <CodeDialog
          format={settings.value.format}
          body={requestBody(settings.value, model, turnsOfCode())}
          onClose={() => setShowsCode(false)}
        />
      )}
    </Page>
  );
}

/** If the settings are not valid, the user sees where. */
function isValid(form: HTMLFormElement | null): boolean {
  const invalid = form?.querySelector<HTMLElement>(':invalid, [aria-invalid="true"]');
  if (!invalid) return true;
  toast(t('Some settings are not valid. Correct them first.'));
  for (const folded of form?.querySelectorAll('details') ?? []) {
    if (folded.contains(invalid)) folded.open = true;
  }
  invalid.focus();
  form?.reportValidity();
  return false;
}

function isTooLong(body: object): boolean {
  const isLong = new Blob([JSON.stringify(body)]).size > BODY_BYTES_MAX;
  if (isLong) toast(t('The conversation exceeds 2 MB. Start a new one, or leave out images.'));
  return isLong;
}

/** The turns of the next request, or of the last one if no new message is written. */
function turnsOfCode(): readonly Turn[] {
  const turns = conversations[0]?.turns.value ?? [];
  const { text, pictures } = message.value;
  if (text.trim() !== '' || pictures.length > 0) return [...turns, message.value];
  const last = turns.findLastIndex(({ kind }) => kind !== 'assistant');
  return last < 0 ? [{ ...NO_MESSAGE, text: 'Hello!' }] : turns.slice(0, last + 1);
}
