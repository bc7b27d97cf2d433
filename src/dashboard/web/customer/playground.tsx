// The playground: a conversation with any model of the plan, in either wire format, charged like any
// other request. Streams the answer and shows the code for the same request.

import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { ConnectionRecord } from '../../records/key.ts';
import type { CustomerModelRecord, ModelListRecord } from '../../records/model.ts';
import {
  Button,
  Card,
  CodeTabs,
  Dialog,
  Empty,
  Loaded,
  Page,
  toast,
  useResource,
} from '../ui/index.ts';
import { codeFor, KEY_PLACEHOLDER, LANGUAGES } from './playground/code.ts';
import { Composer, ToolAnswers } from './playground/composer.tsx';
import { conversation, draft, readDraft } from './playground/draft.ts';
import { openCalls, requestBody, type Settings, type Turn } from './playground/request.ts';
import { SettingsCard } from './playground/settings.tsx';
import { ProblemAlert, RunningView, TurnView } from './playground/turns.tsx';

export function PlaygroundPage() {
  const models = useResource<ModelListRecord>('/models');
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
      <Page title="Playground">
        <Empty title="Your plan has no models" action={<Link href="/models">See all models</Link>}>
          Ask the operator for a plan with models.
        </Empty>
      </Page>
    );
  }
  return <Table models={models} model={model} />;
}

type Props = {
  readonly models: readonly CustomerModelRecord[];
  readonly model: CustomerModelRecord;
};

function Table({ models, model }: Props) {
  const [text, setText] = useState('');
  const [showsCode, setShowsCode] = useState(false);
  const { turns, running, problem } = conversation;
  const read = readDraft({ ...draft.value, model: model.id }, model.features);
  const calls = running.value === undefined ? openCalls(turns.value) : [];

  const run = (): void => {
    if ('problem' in read) {
      toast('The tools are invalid. Fix them first.');
    } else {
      const { settings } = read;
      void conversation.run(settings.format, requestBody(settings, turns.value));
    }
  };
  const send = (): void => {
    if ('settings' in read) {
      conversation.say(text);
      setText('');
    }
    run();
  };
  const rewind = (index: number, turn: Turn): void => {
    if (turn.kind === 'user') setText(turn.text);
    conversation.rewind(index);
  };
  useFollow();

  return (
    <Page
      title="Playground"
      lead="Try a model in either format. Requests are charged as usual. Conversations stay in this page."
      actions={
        <>
          <Button onClick={() => conversation.clear()}>New conversation</Button>
          <Button onClick={() => setShowsCode(true)}>Show code</Button>
        </>
      }
    >
      <div class="playground">
        <div class="stack">
          <Card title="Conversation">
            {turns.value.length === 0 && (
              <Empty title="No messages yet">Write a message below.</Empty>
            )}
            {turns.value.map((turn, index) => (
              <TurnView
                key={index}
                turn={turn}
                onRewind={
                  turn.kind === 'user' && running.value === undefined
                    ? () => rewind(index, turn)
                    : undefined
                }
              />
            ))}
            {running.value !== undefined && (
              <RunningView running={running.value} pricing={model.pricing} />
            )}
            {problem.value !== undefined && <ProblemAlert problem={problem.value} retry={run} />}
            <p class="sr-only" role="status">
              {running.value === undefined ? '' : 'The model is answering.'}
            </p>
            {calls.length > 0 ? (
              <ToolAnswers
                key={turns.value.length}
                calls={calls}
                onAnswer={(results) => {
                  for (const { callId, text: result } of results) {
                    conversation.answerCall(callId, result);
                  }
                  run();
                }}
              />
            ) : (
              <Composer
                text={text}
                onInput={setText}
                isRunning={running.value !== undefined}
                onSend={send}
                onStop={conversation.stop}
              />
            )}
          </Card>
        </div>
        <SettingsCard models={models} model={model} />
      </div>
      {showsCode && 'settings' in read && (
        <CodeDialog
          settings={read.settings}
          turns={toSend(turns.value, text)}
          onClose={() => setShowsCode(false)}
        />
      )}
    </Page>
  );
}

const NO_TURNS: Turn = { kind: 'user', text: 'Hello!' };

/** The turns of the next request, or of the last one if no new turn is written. */
function toSend(turns: readonly Turn[], text: string): readonly Turn[] {
  if (text.trim() !== '') return [...turns, { kind: 'user', text }];
  const last = turns.findLastIndex(({ kind }) => kind !== 'assistant');
  return last < 0 ? [NO_TURNS] : turns.slice(0, last + 1);
}

function CodeDialog({
  settings,
  turns,
  onClose,
}: {
  readonly settings: Settings;
  readonly turns: readonly Turn[];
  readonly onClose: () => void;
}) {
  const connection = useResource<ConnectionRecord>('/connection');
  const body = requestBody(settings, turns);
  return (
    <Dialog title="Request as code" wide onClose={onClose}>
      <p>
        Use one of your <Link href="/keys">API keys</Link> instead of <code>{KEY_PLACEHOLDER}</code>
        .
      </p>
      <Loaded resource={connection}>
        {({ base_url: baseUrl }) => (
          <CodeTabs
            label="Language"
            tabs={LANGUAGES.map(([id, label]) => ({
              ...{ id, label },
              code: codeFor(id, settings.format, body, baseUrl),
            }))}
          />
        )}
      </Loaded>
    </Dialog>
  );
}

const NEAR_THE_END_PIXELS = 160;

/** Keeps the end of the answer visible unless the user has scrolled up. */
function useFollow(): void {
  const { turns, running } = conversation;
  const page = document.documentElement;
  const isAtEnd = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_THE_END_PIXELS;
  useEffect(() => {
    if (isAtEnd && running.value !== undefined) page.scrollTop = page.scrollHeight;
  }, [running.value, turns.value]);
}
