// The playground: a conversation with one model or two beside each other, in either wire format, charged
// like any other request.

import { useMemo, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { CustomerModelRecord, ModelListRecord } from '../../../records/model.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { toast } from '../../ui/toast.tsx';
import { CodeDialog } from './code-dialog.tsx';
import { Composer } from './composer.tsx';
import { type DraftField, readDraft } from './draft.ts';
import { LaneView } from './lane.tsx';
import { openCalls, requestBody, type Settings, type Turn } from './request.ts';
import { SettingsCard } from './settings.tsx';
import { changeDraft, draft, LANES, type Lane, pictures, restoreLast, startNew } from './state.ts';

/** The limit of a request body. */
const BODY_BYTES_MAX = 2_000_000;

export function View() {
  const models = useResource<ModelListRecord>('/models');
  // Before anything reads the settings.
  useMemo(restoreLast, []);
  return (
    <Loaded resource={models} lines={8}>
      {({ data }) => <Playground models={data.filter(({ available }) => available)} />}
    </Loaded>
  );
}

function Playground({ models }: { readonly models: readonly CustomerModelRecord[] }) {
  const model = models.find(({ id }) => id === draft.value.model) ?? models[0];
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
  const other = models.find(({ id }) => id === draft.value.other);
  return <Table models={models} model={model} other={other} />;
}

/** A conversation and the model that answers in it. */
type Seat = {
  readonly lane: Lane;
  readonly model: CustomerModelRecord;
  readonly read: ReturnType<typeof readDraft>;
};

function Table({
  models,
  model,
  other,
}: {
  readonly models: readonly CustomerModelRecord[];
  readonly model: CustomerModelRecord;
  readonly other: CustomerModelRecord | undefined;
}) {
  const [showsCode, setShowsCode] = useState(false);
  const seats: readonly Seat[] = (other === undefined ? [model] : [model, other]).map(
    (each, index) => ({
      lane: LANES[index === 0 ? 0 : 1],
      model: each,
      read: readDraft(draft.value, each),
    }),
  );
  const [first] = seats;
  const isRunning = seats.some(({ lane }) => lane.running.value !== undefined);
  const isCalling = seats.some(({ lane }) => openCalls(lane.turns.value).length > 0);
  const { text } = draft.value;

  const send = (): void => {
    const checked = seats.map(({ lane, read }) => ({
      lane,
      settings: settingsFor(read, [...lane.turns.value, written()]),
    }));
    if (checked.some(({ settings }) => settings === undefined)) return;
    changeDraft({ text: '', model: model.id });
    for (const { lane, settings } of checked) {
      lane.say(text, pictures.value);
      if (settings) run(lane, settings);
    }
    pictures.value = [];
  };
  const edit = (lane: Lane, index: number): void => {
    const turns = lane.turns.value;
    const turn = turns[index];
    if (turn?.kind !== 'user') return;
    const place = turns.slice(0, index).filter(({ kind }) => kind === 'user').length;
    for (const seat of seats) seat.lane.rewind(userTurn(seat.lane.turns.value, place));
    changeDraft({ text: turn.text });
    pictures.value = (turn.pictures ?? []).filter(({ data }) => data !== '');
  };

  return (
    <Page
      title={t('Playground')}
      lead={t('Try a model in either format. Requests are charged as usual.')}
      actions={
        <>
          <Button onClick={startNew}>{t('New conversation')}</Button>
          <Button onClick={() => setShowsCode(true)}>{t('Show code')}</Button>
        </>
      }
    >
      <div class="playground">
        <div class="stack">
          <div class={seats.length > 1 ? 'lanes' : undefined}>
            {seats.map((seat) => (
              <LaneView
                key={seat.lane === LANES[0] ? 'one' : 'two'}
                lane={seat.lane}
                model={seat.model}
                isCompared={seats.length > 1}
                onRun={() => {
                  const settings = settingsFor(seat.read, seat.lane.turns.value);
                  if (settings) run(seat.lane, settings);
                }}
                onEdit={(index) => edit(seat.lane, index)}
              />
            ))}
          </div>
          {!isCalling && (
            <Composer
              text={text}
              pictures={pictures.value}
              takesPictures={seats.every((seat) => seat.model.features.vision)}
              isRunning={isRunning}
              onInput={(typed) => changeDraft({ text: typed })}
              onPictures={(change) => {
                pictures.value = change(pictures.value);
              }}
              onSend={send}
              onStop={() => {
                for (const { lane } of seats) lane.stop();
              }}
            />
          )}
        </div>
        <SettingsCard models={models} model={model} problems={problemsOf(seats)} />
      </div>
      {showsCode && first !== undefined && 'settings' in first.read && (
        <CodeDialog
          settings={first.read.settings}
          turns={turnsOfCode(first.lane.turns.value)}
          onClose={() => setShowsCode(false)}
        />
      )}
    </Page>
  );
}

function written(): Turn {
  return { kind: 'user', text: draft.value.text, pictures: pictures.value };
}

function run(lane: Lane, settings: Settings): void {
  void lane.run(settings.format, requestBody(settings, lane.turns.value));
}

/** Undefined, with the reason shown, if the request cannot be sent. */
function settingsFor(read: Seat['read'], turns: readonly Turn[]): Settings | undefined {
  if (!('settings' in read)) {
    toast(t('Some settings are not valid. Correct them first.'));
    return undefined;
  }
  const { length } = new TextEncoder().encode(JSON.stringify(requestBody(read.settings, turns)));
  if (length <= BODY_BYTES_MAX) return read.settings;
  toast(t('The conversation exceeds 2 MB. Start a new one, or leave out images.'));
  return undefined;
}

function problemsOf(seats: readonly Seat[]): Partial<Readonly<Record<DraftField, string>>> {
  const [one = {}, two = {}] = seats.map(({ read }) => ('problems' in read ? read.problems : {}));
  return { ...two, ...one };
}

/** The index of the user's turn with this number, or the end. */
function userTurn(turns: readonly Turn[], place: number): number {
  const indexes = turns.flatMap(({ kind }, index) => (kind === 'user' ? index : []));
  return indexes[place] ?? turns.length;
}

/** The turns of the next request, or of the last one if no new turn is written. */
function turnsOfCode(turns: readonly Turn[]): readonly Turn[] {
  const isWritten = draft.value.text.trim() !== '' || pictures.value.length > 0;
  if (isWritten) return [...turns, written()];
  const last = turns.findLastIndex(({ kind }) => kind !== 'assistant');
  return last < 0 ? [{ kind: 'user', text: 'Hello!' }] : turns.slice(0, last + 1);
}
